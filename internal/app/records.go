package app

import (
	"context"
	"time"

	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// records reads the event log from a time on, oldest first.
func Records(r *Rooms, since time.Time, each func(store.Record, time.Time)) error {
	files, err := r.Store.EventFiles()
	if err != nil {
		return err
	}
	for _, file := range files {
		if file < since.UTC().Format("2006-01")+".jsonl" {
			continue // a month that was over by then
		}
		_, err := r.Store.Records(file, 0, func(r store.Record) {
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

// A Titles names notes by their ids; one that is gone has none.
type Titles struct {
	r     *Rooms
	known map[note.ID]string
}

func NewTitles(r *Rooms) *Titles { return &Titles{r, map[note.ID]string{}} }

func (t *Titles) Of(ctx context.Context, id note.ID) string {
	title, ok := t.known[id]
	if !ok {
		if row, found, err := t.r.Index.Lookup(ctx, id); err == nil && found {
			title = row.Title
		}
		t.known[id] = title
	}
	return title
}
