package reflection

import (
	"context"
	"errors"
	"fmt"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
)

// An Expired is a note whose time is over.
type Expired struct {
	ID      note.ID
	Title   string
	Project string
	At      time.Time // its forget_after
}

// Expired lists the notes whose forget_after has passed and that are not retired yet. A note
// without one, or with one that is no time, is permanent. Slots and handoffs are left out:
// they end in their own way.
func (r *Reflector) Expired(ctx context.Context) (all []Expired, err error) {
	now := r.Store.Now()
	rows, err := r.index.Select(ctx, index.Filter{
		Dead: true, Over: true, WithoutKinds: []note.Kind{note.Slot, note.Handoff}, Now: now,
	}, 0)
	if err != nil {
		return nil, fmt.Errorf("list the notes whose time is over: %w", err)
	}
	for i := range rows {
		if rows[i].Status != "" {
			continue
		}
		n, _, _, err := r.Store.Read(rows[i].Ref.Path)
		if err != nil || n.ID != rows[i].ID {
			continue // the index is behind; Sync will notice
		}
		if at, ok := over(n, now); ok {
			all = append(all, Expired{n.ID, n.Title, n.Project, at})
		}
	}
	return all, nil
}

// over returns when the time of a note that is not retired was over, if it is.
func over(n *note.Note, now time.Time) (time.Time, bool) {
	at, _ := n.ForgetAfter.Time()
	s, _ := n.State(note.Known{Now: now})
	return at, s == note.Expired && !n.Decided()
}

// Expire archives what Expired lists. It stays in the history and can be brought back. A
// file that cannot be read stops no other; a StaleError says that all is done.
func (r *Reflector) Expire(ctx context.Context) (done []Expired, err error) {
	all, err := r.Expired(ctx)
	if err != nil {
		return nil, err
	}
	var stale error
	for _, e := range all {
		// The reason is made of the note alone, so that two machines write the same.
		why := "its forget_after, " + e.At.UTC().Format("2006-01-02 15:04 UTC") + ", has passed"
		_, err := r.ingester.Archive(ctx, []note.ID{e.ID}, why)
		if behind := new(ingest.StaleError); errors.As(err, &behind) {
			stale, err = err, nil
		}
		if err != nil {
			return done, fmt.Errorf("archive note %s, whose time is over: %w", e.ID, err)
		}
		done = append(done, e)
	}
	return done, stale
}
