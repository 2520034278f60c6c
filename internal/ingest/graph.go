package ingest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
	"anamnesis/internal/store/layout"
	"anamnesis/internal/store/tombstone"
)

// forgottenIDs says which notes of a store were forgotten and not written again.
func forgottenIDs(s *store.Store) (func(note.ID) bool, error) {
	set, err := tombstone.Load(s)
	ids := make(map[note.ID]bool)
	for _, t := range set.For(note.Local) { // those of memory/ too
		ids[t.ID] = true
	}
	return func(id note.ID) bool { return ids[id] }, err
}

// LookAtGraph returns the files of entities that something is wrong with, and how many there
// are at all. It changes nothing.
func LookAtGraph(ctx context.Context, s *store.Store) (wrong []index.SidecarState, all int, err error) {
	forgotten, err := forgottenIDs(s)
	if err != nil {
		return nil, 0, fmt.Errorf("look at the files of entities: %w", err)
	}
	return index.SidecarStates(ctx, s, forgotten)
}

// RepairGraph mends files of entities: what stands there twice is united, one whose note
// moved is put beside it, one whose note is gone goes to the history of the note, one of a
// forgotten note goes for good, as forgetting it would have done. Former bytes are kept in
// the history. Without all, only what a person has no reason to mend by hand is done
// (index.SidecarState.Lossless). Each file is looked at again under the store lock, so a
// repair that is killed is done by the next, and one that finds nothing writes nothing.
func RepairGraph(ctx context.Context, g *Ingester, all bool) error {
	wrong, _, err := LookAtGraph(ctx, g.store)
	if err != nil || len(wrong) == 0 {
		return err
	}
	var paths []string
	err = locked(ctx, g.store, func(w *store.Writer) error {
		forgotten, err := forgottenIDs(g.store)
		if err != nil {
			return err
		}
		for _, was := range wrong {
			if err := ctx.Err(); err != nil {
				return err
			}
			now := index.LookAtSidecar(g.store, was.Path, forgotten)
			if !now.Wrong() || !all && !now.Lossless() {
				continue
			}
			changed, err := mendSidecar(w, now, forgotten)
			if err != nil {
				return fmt.Errorf("repair the entities in %s: %w", g.store.Path(was.Path), err)
			}
			paths = append(paths, changed...)
		}
		return nil
	})
	if len(paths) > 0 {
		if rerr := g.refresh(ctx, paths); err == nil {
			err = rerr
		}
	}
	return err
}

// mendSidecar mends one file and returns the paths that changed.
func mendSidecar(w *store.Writer, st index.SidecarState, forgotten func(note.ID) bool) ([]string, error) {
	data, err := w.Store().ReadFile(st.Path, store.MaxNoteSize)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case st.ID == "" && (err != nil || st.Orphan || st.Err != nil):
		return nil, nil //nolint:nilerr // no history would hold it; the doctor names it
	case err != nil:
		return nil, nil //nolint:nilerr // a link, or larger than any of ours: for a person to look at
	}
	changed := []string{st.Path}
	switch {
	case st.Orphan && forgotten(st.ID):
		return changed, w.Remove(st.Path)
	case st.Orphan && st.Note != "":
		if _, _, perr := note.ParseSidecar(data); perr == nil {
			if err := w.WriteSidecar(st.Note, data); err != nil {
				return nil, err
			}
			return append(changed, layout.SidecarOf(st.Note)), w.Remove(st.Path)
		}
	}
	err = w.KeepSidecar(st.ID, data)
	if err != nil {
		return nil, fmt.Errorf("keep its former state: %w", err)
	}
	if st.Orphan || st.Err != nil {
		err = w.Remove(st.Path)
	} else {
		err = w.Replace(st.Path, st.Clean)
	}
	return changed, err
}
