package app

import (
	"context"
	"errors"
	"path"
	"strings"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/recall"
	"anamnesis/internal/store/layout"
)

// traceOf looks at the notes at paths, whose text is about to go, or has gone and the
// index has not been updated. An index that cannot tell is no reason to keep them.
func traceOf(ctx context.Context, r *Rooms, paths ...string) recall.Trace {
	return traceIDs(ctx, r, idsOf(paths)...)
}

// idsOf returns the ids in the names of notes.
func idsOf(paths []string) (ids []note.ID) {
	for _, name := range paths {
		if id := IDOf(name); id != "" && layout.IsNotePath(name) {
			ids = append(ids, id)
		}
	}
	return ids
}

func traceIDs(ctx context.Context, r *Rooms, ids ...note.ID) recall.Trace {
	if r.Index == nil || len(ids) == 0 {
		return recall.Trace{}
	}
	t, err := r.Engine.Trace(ctx, ids...)
	if err != nil {
		r.Notify("the index cannot say what it holds of %s: %v; `anamnesis doctor reindex` rebuilds it", Plural(len(ids), "note"), err)
	}
	return t
}

// erase takes what was derived from notes out of the log, the corpora and the
// index. The notes themselves are gone, or written, whatever becomes of it: what
// could not be done is reported.
func erase(ctx context.Context, r *Rooms, t recall.Trace) {
	if t.Empty() || r.Store.ReadOnly() {
		return
	}
	err := r.Engine.Erase(ctx, t)
	if perr := r.Index.Purge(ctx, 0); errors.Is(perr, index.ErrBusy) {
		r.Notify("the files of the index still hold old text, because another process uses it; the next background run takes it out")
	} else {
		err = errors.Join(err, perr)
	}
	if err != nil {
		r.Notify("not everything that was derived from the text is gone: %v; `anamnesis doctor reindex` rebuilds the index", err)
	}
}

// forgotten returns those of the changed paths of a pull, relative to memory/, whose
// notes went together with a tombstone, as paths relative to the root.
func forgotten(r *Rooms, changed []string) (paths []string) {
	stones := false
	for _, name := range changed {
		stones = stones || layout.InTree(name) == layout.Tombstone
		if full := path.Join(layout.Memory, name); strings.HasSuffix(name, layout.NoteSuffix) && !r.Store.Has(full) {
			paths = append(paths, full)
		}
	}
	if !stones {
		return nil
	}
	return paths
}
