package ingest

import (
	"context"

	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// archived is the status of a note that its owner took out of recall.

// A StatusChange says what became of a note that was to be archived, or brought back.
type StatusChange struct {
	ID      note.ID
	Ref     store.Ref
	Changed bool // false when the note was so already
}

// Archive takes notes out of recall, under one store lock, and tells the index.
// reason may be empty. At the first error it stops and returns what is done; a
// StaleError says that all is.
func (g *Ingester) Archive(ctx context.Context, ids []note.ID, reason string) ([]StatusChange, error) {
	return g.mark(ctx, ids, func(n *note.Note) { n.Archive(reason) }, false)
}

// Unarchive brings archived notes back, as Archive does. Notes with another
// status stay as they are.
func (g *Ingester) Unarchive(ctx context.Context, ids []note.ID) ([]StatusChange, error) {
	return g.mark(ctx, ids, (*note.Note).Reopen, true)
}

// mark changes the notes of which one asks IsArchived and gets that answer.
func (g *Ingester) mark(ctx context.Context, ids []note.ID, change func(*note.Note), archived bool) (done []StatusChange, err error) {
	var paths []string
	err = locked(ctx, g.store, func(w *store.Writer) error {
		for _, id := range ids {
			n, ref, err := store.Get(g.store, id)
			if err != nil {
				return err
			}
			c := StatusChange{ID: id, Ref: ref}
			if n.IsArchived() == archived {
				change(n)
				n.UpdatedAt = note.At(g.store.Now())
				if c.Ref, c.Changed, err = w.Put(n, ref, store.Archived); err != nil {
					return err
				}
			}
			done, paths = append(done, c), append(paths, c.Ref.Path)
		}
		return nil
	})
	if rerr := g.refresh(ctx, paths); err == nil {
		err = rerr
	}
	return done, err
}
