package app

import (
	"context"
	"errors"
	"strings"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// A Change is a change of many notes that one command takes back.
type Change struct {
	r     *Rooms
	run   *store.Run
	began time.Time
	ended time.Time // before anything was synced: what comes from elsewhere is not taken back
}

// BeginChange begins a change at this moment.
func BeginChange(r *Rooms) *Change { return &Change{r: r, began: r.Store.Now()} }

// BeginRun begins a change that is taken back by its id: what is written with the
// context that it returns, and nothing else.
func BeginRun(ctx context.Context, r *Rooms, what string) (context.Context, *Change) {
	c := BeginChange(r)
	c.run = store.NewRun(r.Store, what)
	return store.WithRun(ctx, c.run), c
}

// End ends the stretch of time that Undo takes back.
func (c *Change) End() { c.ended = c.r.Store.Now() }

// Undo returns the command that gives every note the form it had before.
func (c *Change) Undo() string {
	if c.run != nil {
		if !c.run.Wrote() {
			return ""
		}
		return "anamnesis undo " + string(c.run.ID) + " --apply"
	}
	const form = "2006-01-02T15:04:05.000Z"
	return "anamnesis restore --since " + c.began.UTC().Format(form) + " --until " + c.ended.UTC().Format(form) + " --apply"
}

// Finish ends the change, and commits or syncs it.
func (c *Change) Finish(ctx context.Context, noSync bool) (SyncResult, error) {
	c.End()
	return Sync(ctx, c.r, SyncOptions{Remote: !noSync})
}

// Deciding returns a context in which what is written is a decision of the journal, which `anamnesis undo` takes back.
func Deciding(ctx context.Context, r *Rooms, what string) context.Context {
	by := r.Host.Face
	if r.Host.By == ingest.Agent {
		by = r.Host.By.String()
	}
	return store.Deciding(ctx, r.Store, by, what)
}

// StaleIndex tells people that notes are written and the index could not be updated.
// Every other error is returned.
func StaleIndex(r *Rooms, err error) error {
	stale := new(ingest.StaleError)
	if !errors.As(err, &stale) {
		return err
	}
	r.Notify("the notes are safe, but not in the index yet: %v; `anamnesis doctor reindex` mends that", stale)
	return nil
}

// A StatusDone is what became of one note of an archive or unarchive.
type StatusDone struct {
	ID      note.ID `json:"id"`
	Path    string  `json:"path"`
	Changed bool    `json:"changed"`

	Row index.Row `json:"-"` // as it was
}

// ArchiveAnswer says what was archived or brought back, and how to undo that.
type ArchiveAnswer struct {
	*StatusDone              // the only one, as it was when one note was all
	Notes       []StatusDone `json:"notes"`

	Undo string `json:"-"`
}

// ArchiveOptions say which notes leave recall, or come back.
type ArchiveOptions struct {
	Names  []string // of notes, or
	Import string   // the run of an import that made them
	Reason string   // of an archive
	Back   bool     // unarchive
}

// manyNames is how many notes a command of an undo names at most.
const manyNames = 10

// Archive takes notes out of recall, or with Back brings archived ones back. A
// note that is out of recall for another reason keeps that.
func Archive(ctx context.Context, r *Rooms, o ArchiveOptions) (a ArchiveAnswer, err error) {
	rows, err := FindNamed(ctx, r, o.Names, o.Import)
	if err != nil {
		return a, err
	}
	skip := func(row index.Row) bool { return !o.Back && row.Status != "" } // its reason would be lost
	var ids []note.ID
	for _, row := range rows {
		if !skip(row) {
			ids = append(ids, row.ID)
		}
	}
	c := BeginChange(r)
	var changes []ingest.StatusChange
	if o.Back {
		ctx = Deciding(ctx, r, "unarchive")
		changes, err = r.Ingester.Unarchive(ctx, ids)
	} else {
		ctx = Deciding(ctx, r, "archive")
		changes, err = r.Ingester.Archive(ctx, ids, strings.TrimSpace(o.Reason))
	}
	c.End()
	if err = StaleIndex(r, err); err != nil {
		return a, err
	}
	var changed []string
	for _, row := range rows {
		done := StatusDone{ID: row.ID, Path: r.Store.Path(row.Ref.Path), Row: row}
		if !skip(row) {
			done.Path, done.Changed = r.Store.Path(changes[0].Ref.Path), changes[0].Changed
			changes = changes[1:]
		}
		if done.Changed {
			changed = append(changed, string(row.ID))
		}
		a.Notes = append(a.Notes, done)
	}
	if len(a.Notes) == 1 {
		a.StatusDone = &a.Notes[0]
	}
	switch {
	case o.Back:
	case len(changed) > manyNames:
		a.Undo = c.Undo()
	case len(changed) > 0:
		a.Undo = "anamnesis archive undo " + strings.Join(changed, " ")
	}
	return a, nil
}
