package store

import (
	"slices"

	"anamnesis/internal/note"
)

// Graves are the tombstones in force, as the notes of each tree meet them. What
// was forgotten portably does not come back to this machine's notes either; what
// was forgotten or lifted for machine-local notes says nothing about portable ones.
type graves struct{ portable, local []Tombstone }

// newGraves takes the tombstones of both trees, the lifted ones too.
func newGraves(portable, local []Tombstone) graves {
	return graves{inForce(portable), inForce(slices.Concat(portable, local))}
}

// graveOf is one tombstone, in the tree of that scope.
func graveOf(t Tombstone, scope note.Scope) graves {
	if scope == note.Local {
		return newGraves(nil, []Tombstone{t})
	}
	return newGraves([]Tombstone{t}, nil)
}

// of returns the tombstones that judge the notes of a tree.
func (g graves) of(scope note.Scope) []Tombstone {
	if scope == note.Local {
		return g.local
	}
	return g.portable
}

// only returns the graves of the tombstones that pass.
func (g graves) only(pass func(Tombstone) bool) graves {
	pick := func(all []Tombstone) (some []Tombstone) {
		for _, t := range all {
			if pass(t) {
				some = append(some, t)
			}
		}
		return some
	}
	return graves{pick(g.portable), pick(g.local)}
}

// judgeDraft is judge for a draft, which says itself to which tree it wants.
func (g graves) judgeDraft(name string, data []byte) (note.ID, verdict) {
	scope := note.Portable
	if n, err := note.Parse(data); err == nil {
		scope = n.Scope
	}
	return judge(g.of(scope), name, data)
}

func (s *Store) graves() (graves, error) {
	portable, err := s.tombstonesOf(note.Portable)
	if err != nil {
		return graves{}, err
	}
	local, err := s.tombstonesOf(note.Local)
	return newGraves(portable, local), err
}

// Tombstones reads the tombstones of both trees, without the lifted ones, as a
// machine-local note meets them. A file that is none is skipped: a tombstone that
// cannot be read protects nothing, and status says so.
func (s *Store) Tombstones() ([]Tombstone, error) { return s.TombstonesFor(note.Local) }

// TombstonesFor reads the tombstones that judge the notes of a scope: those of
// memory/, and for machine-local notes those of local/ too. What was lifted in
// local/ is lifted for machine-local notes alone.
func (s *Store) TombstonesFor(scope note.Scope) ([]Tombstone, error) {
	g, err := s.graves()
	return g.of(scope), err
}
