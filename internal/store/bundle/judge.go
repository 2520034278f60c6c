package bundle

import (
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"anamnesis/internal/note"
	"anamnesis/internal/store/layout"
	"anamnesis/internal/store/tombstone"
)

// note remembers a tombstone of the bundle.
func (b *unpacking) note(name string, data []byte) {
	tree, file := path.Split(name)
	t, ok := tombstone.Parse(data)
	if !ok || file != string(t.ID)+".json" {
		return
	}
	switch strings.TrimSuffix(tree, "/") {
	case layout.Memory + "/" + layout.Tombstones:
		b.portable = append(b.portable, t)
	case layout.Local + "/" + layout.Tombstones:
		b.local = append(b.local, t)
	}
}

// pending returns the tombstones in force once the bundle is there, of this store
// and of the bundle, that were not applied here.
func (b *unpacking) pending() (tombstone.Set, error) {
	portable, local, err := tombstone.ReadBoth(b.s)
	return tombstone.NewSet(slices.Concat(portable, b.portable), slices.Concat(local, b.local)).Pending(b.s), err
}

// judge finds the tombstones of the bundle that erase what stands here, and leaves
// them out unless they are to be obeyed.
func (b *unpacking) judge(obey bool) error {
	if len(b.portable)+len(b.local) == 0 {
		return nil
	}
	all, err := b.pending()
	if err != nil {
		return fmt.Errorf("import a bundle: %w", err)
	}
	fresh := make(map[string]bool) // HMACs
	for _, t := range slices.Concat(b.portable, b.local) {
		fresh[t.HMAC] = t.V == 1
	}
	all = all.Only(func(t tombstone.Tombstone) bool { return fresh[t.HMAC] })
	plan, err := tombstone.PlanErasure(b.s, all, nil)
	if err != nil {
		return fmt.Errorf("import a bundle: %w", err)
	}
	erases := make(map[string]bool)
	trees := []struct {
		scope  note.Scope
		stones *[]tombstone.Tombstone
	}{{note.Portable, &b.portable}, {note.Local, &b.local}}
	for _, tree := range trees {
		for _, t := range *tree.stones {
			found := plan.By(t, all, tree.scope)
			if t.V != 1 || len(found) == 0 {
				continue
			}
			for _, path := range found {
				erases[path] = true
			}
			b.u.Erasing = append(b.u.Erasing, tombstone.Path(tree.scope, t.ID))
		}
	}
	b.u.Erases = slices.Sorted(maps.Keys(erases))
	if obey {
		return nil
	}
	drop := func(path string) bool { return slices.Contains(b.u.Erasing, path) }
	maps.DeleteFunc(b.wanted, func(path, _ string) bool { return drop(path) })
	b.u.Written = slices.DeleteFunc(b.u.Written, drop)
	for _, tree := range trees {
		*tree.stones = slices.DeleteFunc(*tree.stones, func(t tombstone.Tombstone) bool { return drop(tombstone.Path(tree.scope, t.ID)) })
	}
	return nil
}

// exempt notes which notes of the bundle came together with a tombstone of what they say.
func (b *unpacking) exempt(r io.ReadSeeker) error {
	pending, err := b.pending()
	if err != nil || pending.Empty() {
		return err
	}
	all := make(tombstone.Exemptions)
	if err := b.again(r, func(name string, data []byte) error {
		if layout.IsNotePath(name) && layout.Of(name) != layout.Slot {
			all.Add(b.s, pending, name, data)
		}
		return nil
	}); err != nil {
		return err
	}
	return all.Save(b.w)
}
