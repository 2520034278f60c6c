package ingest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
	"anamnesis/internal/store/layout"
)

// A StaleError says that everything was written and that the index does not know
// it yet. The next Sync heals it.
type StaleError struct{ Err error }

func (e *StaleError) Error() string { return e.Err.Error() }

// Unwrap returns what the index said.
func (e *StaleError) Unwrap() error { return e.Err }

// locked runs f with the right to write to s.
func locked(ctx context.Context, s *store.Store, f func(*store.Writer) error) error {
	w, err := s.BeginWrite(ctx)
	if err != nil {
		return err
	}
	defer w.End()
	return f(w)
}

// refresh is Reindex, with a StaleError.
func (g *Ingester) refresh(ctx context.Context, paths []string) error {
	if err := g.Reindex(ctx, paths); err != nil {
		return &StaleError{err}
	}
	return nil
}

// many is the number of changed files from which on a walk is quicker than to look at each.
const many = 2000

// Reindex brings the index into step with files that changed or are gone, given
// relative to the store's root. Files that are neither notes nor sidecars are
// passed over.
func (g *Ingester) Reindex(ctx context.Context, paths []string) error {
	if g.index == nil {
		return nil
	}
	_, _, walked, err := g.index.State(ctx)
	if err != nil || walked.IsZero() || len(paths) > many {
		_, err := g.index.Sync(ctx, index.SyncOptions{})
		return err
	}
	var notes []string
	for _, path := range paths {
		if of, ok := layout.NoteOf(path); ok {
			path = of
		}
		if _, rest, _ := strings.Cut(path, "/"); layout.IsNotePath(path) && layout.InTree(rest) != layout.Slot {
			notes = append(notes, path)
		}
	}
	if len(notes) == 0 {
		return nil
	}
	slices.Sort(notes)
	return g.index.Refresh(ctx, slices.Compact(notes)...)
}

// A Revision is a change of several notes that are read and written under one
// store lock (Ingester.Revise).
type Revision struct {
	w     *store.Writer
	paths []string
}

// Put writes a note that stands at ref, and whose form the caller answers for.
// Its former form goes to the history.
func (r *Revision) Put(n *note.Note, ref store.Ref) error {
	now, changed, err := r.w.Put(n, ref, store.Update)
	if changed {
		r.paths = append(r.paths, now.Path)
		if ref.Path != now.Path {
			r.paths = append(r.paths, ref.Path)
		}
	}
	return err
}

// Revise changes notes that stand: f reads them under the store lock, calls no
// model and no network, and puts what it changed. Then the index is updated, also of
// what was written before an error of f. Nothing is logged: the caller knows what
// it was. The error is that of f or of the lock, or a StaleError.
func (g *Ingester) Revise(ctx context.Context, f func(*Revision) error) error {
	var r Revision
	err := locked(ctx, g.store, func(w *store.Writer) error {
		r.w = w
		return f(&r)
	})
	if len(r.paths) == 0 {
		return err
	}
	if rerr := g.index.Refresh(ctx, r.paths...); err == nil && rerr != nil {
		err = &StaleError{rerr}
	}
	return err
}

// WriteSidecar puts entities beside a note, united with those that are there, and
// tells the index, which the next Sync heals if it cannot be shown.
func (g *Ingester) WriteSidecar(ctx context.Context, ref store.Ref, side *note.Sidecar) error {
	err := locked(ctx, g.store, func(w *store.Writer) error {
		if _, _, err := g.store.ReadSidecar(ref.Path); err != nil {
			return err
		}
		return w.WriteSidecar(ref.Path, note.FormatSidecar(side))
	})
	if err == nil {
		_ = g.index.Refresh(ctx, ref.Path)
	}
	return err
}

// DropDraft removes a held draft that its owner does not want.
func DropDraft(ctx context.Context, s *store.Store, id note.ID) error {
	if err := locked(ctx, s, func(w *store.Writer) error { return w.Release(id) }); err != nil {
		return fmt.Errorf("drop draft %s: %w", id, err)
	}
	return nil
}
