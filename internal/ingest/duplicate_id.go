package ingest

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"anamnesis/internal/note"
	"anamnesis/internal/store"
	"anamnesis/internal/store/layout"

	"github.com/oklog/ulid/v2"
)

// resolveDuplicateIDs makes one file of every note that stands in memory/ twice,
// as when two machines moved it to different folders, or one moved and one changed
// it. It returns the paths it changed, relative to the root.
//
// On every machine the same form stays: the one that was changed last, then one
// that a merge made, then the greater hash; and it stays in the folder of its
// type. The others go to the history, and to conflicts/ unless the history
// shows that they are only an older form.
func resolveDuplicateIDs(w *store.Writer) (paths []string, err error) {
	places := make(map[note.ID][]string)
	for ref := range w.Store().Walk() {
		if ref.Scope != note.Portable {
			continue
		}
		if id := idIn(w.Store(), ref.Path); id != "" {
			places[id] = append(places[id], ref.Path)
		}
	}
	for id, all := range places {
		if len(all) < 2 {
			continue
		}
		changed, err := resolveDuplicateID(w, id, all)
		paths = append(paths, changed...)
		if err != nil {
			return paths, fmt.Errorf("settle note %s, which stands in %s: %w", id, strings.Join(all, " and "), err)
		}
	}
	slices.Sort(paths)
	return paths, nil
}

// idIn returns the id of the note in a file. Names that we give are ids; a file that a
// person gave another name is read, because two machines may have renamed one note.
func idIn(s *store.Store, path string) note.ID {
	stem := store.StemID(path)
	if _, err := ulid.ParseStrict(string(stem)); err == nil {
		return stem
	}
	if n, _, _, err := s.Read(path); err == nil {
		return n.ID
	}
	return stem
}

// A copied note is one of several files of one note.
type copied struct {
	path string
	data []byte
	note *note.Note
}

// copies reads the files of one note, the form that stays first.
func copies(s *store.Store, id note.ID, places []string) (all []copied, err error) {
	for _, p := range places {
		data, err := s.ReadFile(p, store.MaxNoteSize)
		if err != nil {
			return nil, err
		}
		if n, err := note.Parse(data); err == nil && n.ID == id { // else not ours to judge; the index names it
			all = append(all, copied{p, data, n})
		}
	}
	slices.SortFunc(all, func(a, b copied) int {
		x, _ := a.note.UpdatedAt.Time()
		y, _ := b.note.UpdatedAt.Time()
		return cmp.Or(y.Compare(x), min(len(b.note.Edits), 1)-min(len(a.note.Edits), 1),
			// A note that stands in the folder of another type is what a merge made of
			// one that was moved (mergeMoved); it holds the moved form as well.
			misplaced(b)-misplaced(a),
			strings.Compare(store.Digest(b.data), store.Digest(a.data)), strings.Compare(a.path, b.path))
	})
	return all, nil
}

func resolveDuplicateID(w *store.Writer, id note.ID, places []string) (paths []string, err error) {
	all, err := copies(w.Store(), id, places)
	if err != nil || len(all) < 2 {
		return nil, err
	}
	first, place := all[0], store.NotePath(note.Portable, all[0].note.Type, id)
	if i := slices.IndexFunc(all, func(c copied) bool { return inFolder(c.path, first.note.Type) }); i >= 0 {
		place = all[i].path
	}
	for _, c := range all[1:] {
		if err := concede(w, id, place, first, c); err != nil {
			return nil, err
		}
	}
	if place != first.path {
		var err error
		if i := slices.IndexFunc(all, func(c copied) bool { return c.path == place }); i >= 0 {
			err = store.ReplaceNote(w, id, place, first.data, all[i].data)
		} else {
			err = w.Replace(place, first.data)
		}
		if err != nil {
			return nil, err
		}
		paths = append(paths, place)
	}
	for _, c := range all {
		if c.path == place {
			continue
		}
		// The first sidecar found is as good as any: it is made from the note.
		if !w.Store().Has(layout.SidecarOf(place)) {
			if err := w.MoveSidecar(c.path, place); err != nil {
				return paths, err
			}
		}
		err := w.Remove(layout.SidecarOf(c.path))
		if err == nil {
			err = store.RemoveNote(w, id, c.path, c.data)
		}
		if err != nil {
			return paths, err
		}
		paths = append(paths, c.path)
	}
	return paths, nil
}

func inFolder(path string, t note.Type) bool {
	return strings.HasPrefix(path, layout.Memory+"/"+string(t)+"/")
}

// misplaced is 1 for a note that stands in the folder of another type.
func misplaced(c copied) int {
	if inFolder(c.path, c.note.Type) {
		return 0
	}
	return 1
}

// concede keeps a form that does not stay.
func concede(w *store.Writer, id note.ID, place string, first, c copied) error {
	differs := func(n *note.Note) bool {
		fields := note.Differences(n, c.note)
		return slices.ContainsFunc(fields, func(f string) bool { return f != "type" })
	}
	known := !differs(first.note)
	revs, err := w.Store().History(id)
	for i := 0; i < len(revs) && !known; i++ {
		if old, err := w.Store().ReadRevision(id, revs[i]); err == nil {
			known = !differs(old)
		}
	}
	if err == nil && !known {
		_, _, err = w.AddConflict(strings.TrimPrefix(path.Clean(place), "memory/"), first.data, c.data)
	}
	if err != nil {
		return err
	}
	return w.KeepRevision(id, c.data, store.Merged)
}
