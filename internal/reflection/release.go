package reflection

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// Release undoes a merge for one note: no note supersedes it any more, so it is
// found and shown again. It returns the notes that did, with their other
// supersessions as they were. A note that none supersedes is no error; one that
// does not exist is.
func (r *Reflector) Release(ctx context.Context, id note.ID) (released []note.ID, err error) {
	if _, err := r.locate(ctx, id); err != nil {
		return nil, fmt.Errorf("release note %s: %w", id, err)
	}
	unlock, err := r.store.Lock(ctx)
	if err != nil {
		return nil, fmt.Errorf("release note %s: %w", id, err)
	}
	defer unlock()
	// The index knows one of the notes that supersede another, not all of them;
	// it is seldom asked for, so the files are read.
	var paths []string
	for ref := range r.store.Walk() {
		n, _, ref, err := r.store.Read(ref.Path)
		if err != nil || !slices.Contains(n.Supersedes, id) {
			continue
		}
		n.Supersedes = slices.DeleteFunc(n.Supersedes, func(s note.ID) bool { return s == id })
		n.UpdatedAt = note.At(r.store.Now())
		ref, _, err = r.store.Put(n, ref, store.Update)
		if err != nil {
			return released, errors.Join(fmt.Errorf("release note %s: %w", id, err), r.index.Refresh(ctx, paths...))
		}
		released, paths = append(released, n.ID), append(paths, ref.Path)
	}
	if len(paths) == 0 {
		return nil, nil
	}
	if err := r.index.Refresh(ctx, paths...); err != nil {
		return released, fmt.Errorf("release note %s: it is free, but the index does not know it yet: %w", id, err)
	}
	return released, nil
}
