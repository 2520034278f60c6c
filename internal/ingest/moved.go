package ingest

import (
	"context"
	"strings"

	"anamnesis/internal/note"
	"anamnesis/internal/store"
	"anamnesis/internal/store/layout"
	"anamnesis/internal/store/tombstone"
)

// A note stands in the folder of its type, so a change of its type on one side
// and any other change on the other side look like a deletion here and an edit
// there. Taken path by path one of the two would be lost.

// mergeMoved merges a note that one side moved to another folder while the other
// changed it where it was. done is false when that is not what happened. The
// result stands at the old path, beside the moved form; ResolveDuplicateIDs makes one file of
// the two, and finds the moved form in the history, so that nothing of it has to
// be decided.
func (in *Incoming) mergeMoved(theirs tombstone.Tree, name string, base, ours, other []byte) (merged, lost []byte, done bool, err error) {
	id := store.StemID(name)
	if layout.InTree(name) != layout.Note || id == "" || base == nil {
		return nil, nil, false, nil
	}
	var moved []byte
	switch {
	case ours == nil && other != nil && !same(other, base):
		moved = elsewhere(id, name, func(path string) ([]byte, error) {
			return in.store.ReadFile(layout.Memory+"/"+path, store.MaxNoteSize)
		})
		ours = moved
	case other == nil && ours != nil && !same(ours, base):
		moved = elsewhere(id, name, theirs.Read)
		other = moved
	}
	if moved == nil {
		return nil, nil, false, nil
	}
	m := note.Reconcile(base, ours, other)
	if !in.store.ReadOnly() {
		keep := func(w *store.Writer) error { return w.KeepRevision(id, moved, store.Merged) }
		if err := locked(context.Background(), in.store, keep); err != nil {
			return nil, nil, false, err
		}
	}
	return m.Data, m.Other, true, nil
}

// elsewhere reads a note from the folder of another type; nil when it is in none.
func elsewhere(id note.ID, name string, read func(path string) ([]byte, error)) []byte {
	for _, t := range note.Types {
		path := strings.TrimPrefix(store.NotePath(note.Portable, t, id), layout.Memory+"/")
		if path == name {
			continue
		}
		data, err := read(path)
		if err != nil || len(data) > store.MaxNoteSize {
			continue
		}
		if n, err := note.Parse(data); err == nil && n.ID == id {
			return data
		}
	}
	return nil
}
