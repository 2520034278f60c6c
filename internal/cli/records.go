package cli

import (
	"context"
	"time"

	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// records reads the event log from a time on, oldest first.
func (m *memory) records(since time.Time, each func(store.Record, time.Time)) error {
	files, err := m.store.EventFiles()
	if err != nil {
		return err
	}
	for _, file := range files {
		if file < since.UTC().Format("2006-01")+".jsonl" {
			continue // a month that was over by then
		}
		_, err := m.store.Records(file, 0, func(r store.Record) {
			if at, err := time.Parse(time.RFC3339, r.At); err == nil && !at.Before(since) {
				each(r, at)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// A titles names notes by their ids; one that is gone has none.
type titles struct {
	m     *memory
	known map[note.ID]string
}

func (m *memory) titles() *titles { return &titles{m, map[note.ID]string{}} }

func (t *titles) of(ctx context.Context, id note.ID) string {
	title, ok := t.known[id]
	if !ok {
		if row, found, err := t.m.index.Lookup(ctx, id); err == nil && found {
			title = row.Title
		}
		t.known[id] = title
	}
	return title
}

// clock writes a time of the log as people read it.
func clock(at time.Time) string { return at.Local().Format("2006-01-02 15:04:05") }

// ago writes how long ago a time was, in one unit.
func ago(at, now time.Time) string {
	d := now.Sub(at)
	for _, u := range []struct {
		length time.Duration
		name   string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "m"}} {
		if d >= u.length {
			return plainInt(int(d/u.length)) + u.name + " ago"
		}
	}
	return "just now"
}
