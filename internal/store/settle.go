package store

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"anamnesis/internal/note"
)

// Settle makes one file of every note that stands in memory/ twice, as when two
// machines moved it to different folders, or one moved and one changed it. It
// returns the paths it changed, relative to the root. The caller holds the
// store lock.
//
// On every machine the same form stays: the one that was changed last, then one
// that a merge made, then the greater hash; and it stays in the folder of its
// type. The others go to the history, and to conflicts/ unless the history
// shows that they are only an older form.
func (s *Store) Settle() (paths []string, err error) {
	places := make(map[note.ID][]string)
	for ref := range s.Walk() {
		if id := stemID(ref.Path); ref.Scope == note.Portable && id != "" {
			places[id] = append(places[id], ref.Path)
		}
	}
	for id, all := range places {
		if len(all) < 2 {
			continue
		}
		changed, err := s.settle(id, all)
		paths = append(paths, changed...)
		if err != nil {
			return paths, fmt.Errorf("settle note %s, which stands in %s: %w", id, strings.Join(all, " and "), err)
		}
	}
	slices.Sort(paths)
	return paths, nil
}

// A copied note is one of several files of one note.
type copied struct {
	path string
	data []byte
	note *note.Note // nil when the file is none
}

func (s *Store) settle(id note.ID, places []string) (paths []string, err error) {
	var all []copied
	for _, p := range places {
		data, _, err := s.readRegular(p, MaxNoteSize)
		if err != nil {
			return nil, err
		}
		n, err := note.Parse(data)
		if err != nil || n.ID != id {
			continue // not ours to judge; the index names it
		}
		all = append(all, copied{p, data, n})
	}
	if len(all) < 2 {
		return nil, nil
	}
	slices.SortFunc(all, func(a, b copied) int {
		x, _ := a.note.UpdatedAt.Time()
		y, _ := b.note.UpdatedAt.Time()
		return cmp.Or(y.Compare(x), min(len(b.note.Edits), 1)-min(len(a.note.Edits), 1),
			// A note that stands in the folder of another type is what a merge made of
			// one that was moved (merged3); it holds the moved form as well.
			misplaced(b)-misplaced(a),
			strings.Compare(digest(b.data), digest(a.data)), strings.Compare(a.path, b.path))
	})
	first, place := all[0], ""
	for _, c := range all {
		if place == "" && strings.HasPrefix(c.path, "memory/"+string(first.note.Type)+"/") {
			place = c.path
		}
	}
	if place == "" {
		place = NotePath(note.Portable, first.note.Type, id)
	}
	for _, c := range all[1:] {
		if err := s.concede(id, place, first, c); err != nil {
			return nil, err
		}
	}
	if place != first.path {
		if err := s.replace(place, first.data, true); err != nil {
			return nil, err
		}
		paths = append(paths, place)
	}
	for _, c := range all {
		if c.path == place {
			continue
		}
		// The first sidecar found is as good as any: it is made from the note.
		if _, err := s.lstat(sidecarPath(place)); err != nil {
			err = s.leave(c.path, place)
			if err != nil {
				return paths, err
			}
		}
		for _, name := range []string{sidecarPath(c.path), c.path} {
			if err := s.remove(name); err != nil {
				return paths, err
			}
		}
		paths = append(paths, c.path)
	}
	return paths, nil
}

// misplaced is 1 for a note that stands in the folder of another type.
func misplaced(c copied) int {
	if strings.HasPrefix(c.path, "memory/"+string(c.note.Type)+"/") {
		return 0
	}
	return 1
}

// concede keeps a form that does not stay.
func (s *Store) concede(id note.ID, place string, first, c copied) error {
	differs := func(n *note.Note) bool {
		fields := note.Differences(n, c.note)
		return slices.ContainsFunc(fields, func(f string) bool { return f != "type" })
	}
	known := !differs(first.note)
	revs, err := s.History(id)
	for i := 0; i < len(revs) && !known; i++ {
		if old, err := s.form(id, revs[i]); err == nil {
			known = !differs(old)
		}
	}
	if err == nil && !known {
		_, _, err = s.AddConflict(strings.TrimPrefix(path.Clean(place), "memory/"), first.data, c.data)
	}
	if err != nil {
		return err
	}
	return s.remember(id, c.data, Merged)
}
