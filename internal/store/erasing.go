package store

import (
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"anamnesis/internal/note"
)

// note remembers a tombstone of the bundle.
func (b *unpacking) note(name string, data []byte) {
	tree, file := path.Split(name)
	t, ok := readTombstone(data)
	if !ok || file != string(t.ID)+".json" {
		return
	}
	switch tree {
	case "memory/tombstones/":
		b.portable = append(b.portable, t)
	case "local/tombstones/":
		b.local = append(b.local, t)
	}
}

// graves returns the tombstones in force once the bundle is there, of this store
// and of the bundle, that were not carried out here.
func (b *unpacking) graves() (graves, error) {
	portable, err := b.store.tombstonesOf(note.Portable)
	if err != nil {
		return graves{}, err
	}
	local, err := b.store.tombstonesOf(note.Local)
	return b.store.arriving(newGraves(slices.Concat(portable, b.portable), slices.Concat(local, b.local))), err
}

// bury finds the tombstones of the bundle that erase what stands here, and leaves
// them out unless they are to be obeyed.
func (b *unpacking) bury(obey bool) error {
	if len(b.portable)+len(b.local) == 0 {
		return nil
	}
	all, err := b.graves()
	if err != nil {
		return fmt.Errorf("import a bundle: %w", err)
	}
	fresh := make(map[string]bool) // HMACs
	for _, t := range slices.Concat(b.portable, b.local) {
		fresh[t.HMAC] = t.V == 1
	}
	all = all.only(func(t Tombstone) bool { return fresh[t.HMAC] })
	d, err := b.store.doom(all, nil)
	if err != nil {
		return fmt.Errorf("import a bundle: %w", err)
	}
	erases := make(map[string]bool)
	for _, scope := range []note.Scope{note.Portable, note.Local} {
		of := b.portable
		if scope == note.Local {
			of = b.local
		}
		for _, t := range of {
			found := b.store.erasedBy(d, all, t, scope)
			if t.V != 1 || len(found) == 0 {
				continue
			}
			for _, path := range found {
				erases[path] = true
			}
			b.u.Erasing = append(b.u.Erasing, tombstonePath(scope, t.ID))
		}
	}
	b.u.Erases = slices.Sorted(maps.Keys(erases))
	if obey {
		return nil
	}
	drop := func(path string) bool { return slices.Contains(b.u.Erasing, path) }
	maps.DeleteFunc(b.wanted, func(path, _ string) bool { return drop(path) })
	b.u.Written = slices.DeleteFunc(b.u.Written, drop)
	for _, of := range []struct {
		stones *[]Tombstone
		scope  note.Scope
	}{{&b.portable, note.Portable}, {&b.local, note.Local}} {
		*of.stones = slices.DeleteFunc(*of.stones, func(t Tombstone) bool { return drop(tombstonePath(of.scope, t.ID)) })
	}
	return nil
}

// erasedBy returns what one tombstone of a tree, among all, takes of a doom.
func (s *Store) erasedBy(d doom, all graves, t Tombstone, scope note.Scope) (paths []string) {
	one := all.only(func(other Tombstone) bool { return other.ID == t.ID && other.HMAC == t.HMAC })
	if scope == note.Local {
		one.portable = nil
	}
	for _, n := range d.notes {
		if _, v := judge(one.of(n.ref.Scope), n.ref.Path, n.data); v == goes || v == withheld && n.ref.Scope == note.Portable {
			paths = append(paths, n.ref.Path)
		}
	}
	for _, name := range d.held {
		if data, _, err := s.readRegular("spool/held/"+name, MaxNoteSize); err == nil {
			if _, v := one.judgeDraft(name, data); v != inPlace {
				paths = append(paths, "spool/held/"+name)
			}
		}
	}
	for _, c := range d.conflicts {
		if c.NoteID == t.ID || s.saysForgotten(c, one) {
			paths = append(paths, conflictPath(c.ID, ".md"))
		}
	}
	if revs, err := s.History(t.ID); d.ids[t.ID] && (err != nil || len(revs) > 0) {
		paths = append(paths, historyDir(t.ID))
	}
	return paths
}

// spare notes which notes of the bundle came together with a tombstone of what they say.
func (b *unpacking) spare(r io.ReadSeeker) error {
	fresh, err := b.graves()
	if err != nil || len(fresh.local) == 0 {
		return err
	}
	all := make(sparing)
	if err := b.again(r, func(name string, data []byte) error {
		if isNotePath(name) && !strings.HasPrefix(name, "memory/slots/") {
			b.store.spares(all, fresh, arrival{name, data})
		}
		return nil
	}); err != nil {
		return err
	}
	return b.store.spare(all)
}
