package reflection

import (
	"context"
	"fmt"
	"slices"

	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
)

// Release undoes a merge for one note: no note supersedes it any more, so it is
// found and shown again. It returns the notes that did, with their other
// supersessions as they were. A note that none supersedes is no error; one that
// does not exist is.
func (r *Reflector) Release(ctx context.Context, id note.ID) (released []note.ID, err error) {
	if _, err := r.Store.Find(id); err != nil {
		return nil, fmt.Errorf("release note %s: %w", id, err)
	}
	// The index knows one of the notes that supersede another, not all of them;
	// it is seldom asked for, so the files are read.
	var stale error
	err = r.revise(ctx, &stale, func(all *ingest.Revision) error {
		for ref := range r.Store.Walk() {
			n, _, ref, err := r.Store.Read(ref.Path)
			if err != nil || !slices.Contains(n.Supersedes, id) {
				continue
			}
			n.Supersedes = slices.DeleteFunc(n.Supersedes, func(s note.ID) bool { return s == id })
			n.UpdatedAt = note.At(r.Store.Now())
			if err := all.Put(n, ref); err != nil {
				return err
			}
			released = append(released, n.ID)
		}
		return nil
	})
	if err == nil && stale != nil {
		err = fmt.Errorf("it is free, but the index does not know it yet: %w", stale)
	}
	if err != nil {
		err = fmt.Errorf("release note %s: %w", id, err)
	}
	return released, err
}
