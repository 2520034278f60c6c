// Package lifecycle runs the program that the user wants to be run when something
// happens to the notes: one was created or changed, a skill was refreshed, notes were
// consolidated.
//
// The events are read from the event log, so nothing waits for a program: a background
// run reads what was logged since the last event that was handled, and runs the program
// of each, one after the other. An event is handled at least once: after a crash the last
// one may come again, with the same id.
//
// A program is started directly, never by a shell. What happened stands in its
// environment and, as JSON, on its standard input: a title that a stranger wrote is an
// argument of nothing. It is the leader of a group (of a job on Windows), and what it has
// started ends when it does, or when its time is over.
package lifecycle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// Options are the settings of what is run.
type Options struct {
	Program string        // and its arguments, with blanks between them; "" runs none
	Time    time.Duration // that one run may take; 0 means usualTime
}

// usualTime is how long a program may take: enough to send what it was shown, and the
// background run waits for it.
const usualTime = 10 * time.Second

// An eventName says what happened.
type eventName string

// The events.
const (
	created      eventName = "learning.created"
	updated      eventName = "learning.updated"
	skill        eventName = "skill.refreshed"
	consolidated eventName = "consolidation.completed"
)

// A change is what a program is shown, on its standard input.
type change struct {
	SchemaVersion int        `json:"schema_version"`
	ID            note.ID    `json:"id"` // of the record; the same when an event comes again
	At            string     `json:"at"`
	Event         eventName  `json:"event"`
	Project       string     `json:"project,omitempty"`
	Session       string     `json:"session,omitempty"`
	Notes         []affected `json:"notes"`
}

// An affected note is what an event is about.
type affected struct {
	ID    note.ID   `json:"id"`
	Title string    `json:"title,omitempty"`
	Kind  note.Kind `json:"kind,omitempty"`
	Path  string    `json:"path,omitempty"` // absolute; "" when the note is gone
}

// eventOf makes an event of a record; ok is false for what is none.
func eventOf(s *store.Store, r store.Record) (e change, ok bool) {
	e = change{SchemaVersion: 1, ID: r.ID, At: r.At, Project: r.Project, Session: r.Session, Notes: []affected{}}
	switch {
	case r.Kind == store.Written && r.Text == "created":
		e.Event = created
	case r.Kind == store.Written && r.Text == "updated":
		e.Event = updated
	case r.Kind == store.Reflected:
		e.Event = consolidated
	default:
		return e, false
	}
	for _, id := range r.Notes {
		a := affected{ID: id}
		if ref, err := s.Find(id); err == nil {
			if n, _, at, err := s.Read(ref.Path); err == nil {
				a.Title, a.Kind, a.Path = n.Title, n.Kind, s.Path(at.Path)
			}
		}
		if a.Kind == note.Skill {
			e.Event = skill
		}
		e.Notes = append(e.Notes, a)
	}
	return e, true
}

// budget is how long one Run goes on with further events; the next one takes the rest.
const budget = time.Minute

// Run runs the program for each thing that was logged since the last Run, in its order,
// and returns how often it ran. That it fails once is in the error, and stops nothing. It is
// called by one process at a time.
func Run(ctx context.Context, s *store.Store, o Options, environ []string) (ran int, err error) {
	program := strings.Fields(o.Program)
	if len(program) == 0 || s.ReadOnly() {
		return 0, nil
	}
	began := time.Now()
	todo, err := pending(s)
	if err != nil {
		return 0, fmt.Errorf("look for events to run programs for: %w", err)
	}
	var errs []error
	for _, p := range todo {
		if ctx.Err() != nil || time.Since(began) > budget {
			break
		}
		e, ok := eventOf(s, p.record)
		if !ok {
			continue
		}
		rec := store.Record{Kind: store.Notified, Text: p.at(), Notes: []note.ID{p.record.ID}}
		if err := start(ctx, program, e, s.Home(), environ, cmp.Or(o.Time, usualTime)); err != nil {
			err = fmt.Errorf("run %s for %s: %w", program[0], e.Event, err)
			rec.Error, errs = err.Error(), append(errs, err)
		}
		ran++
		if err := s.Events().Log(rec); err != nil {
			return ran, errors.Join(append(errs, err)...)
		}
	}
	return ran, errors.Join(errs...)
}

// A place is a record and where it ends in the event log.
type place struct {
	record store.Record
	file   string
	n      int // the record's number in the file, from 1
}

// at is the text of a place in a record of kind Notified.
func (p *place) at() string { return p.file + ":" + strconv.Itoa(p.n) }

// pending returns the records that no Run has handled. Before the first Run that are
// those since the background run before this one, which has logged itself by now: who has
// just chosen a program does not want to hear of last year.
func pending(s *store.Store) (todo []place, err error) {
	files, err := s.Events().Files()
	if err != nil {
		return nil, err
	}
	files = files[max(0, len(files)-2):] // what is older than a month is no news
	var seen []place
	done, drained, before := "", 0, 0
	for _, f := range files {
		n := 0
		_, err := s.Events().Records(f, 0, func(r store.Record) {
			n++
			switch r.Kind {
			case store.Notified:
				done = r.Text
			case store.Drained:
				before, drained = drained, len(seen)
			case store.Written, store.Reflected:
				seen = append(seen, place{r, f, n})
			}
		})
		if err != nil {
			return nil, err
		}
	}
	from := before
	if done != "" {
		file, number, _ := strings.Cut(done, ":")
		last, err := strconv.Atoi(number)
		if err != nil {
			return nil, fmt.Errorf("the record %q of the last program that was run is damaged", done)
		}
		for from = len(seen); from > 0 && (seen[from-1].file > file || seen[from-1].file == file && seen[from-1].n > last); from-- {
		}
	}
	return seen[from:], nil
}
