package tombstone

import (
	"encoding/json"
	"errors"
	"slices"

	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// A Set holds the tombstones in force, as the notes of each tree meet them. What
// was forgotten portably does not come back to this machine's notes either; what
// was forgotten or revoked for machine-local notes says nothing about portable ones.
type Set struct{ portable, local []Tombstone }

// NewSet takes the tombstones of both trees, the revoked ones too.
func NewSet(portable, local []Tombstone) Set {
	return Set{InForce(portable), InForce(slices.Concat(portable, local))}
}

// setOf holds one tombstone, in the tree of that scope.
func setOf(t Tombstone, scope note.Scope) Set {
	if scope == note.Local {
		return NewSet(nil, []Tombstone{t})
	}
	return NewSet([]Tombstone{t}, nil)
}

// Load reads the tombstones of a store.
func Load(s *store.Store) (Set, error) {
	portable, local, err := ReadBoth(s)
	return NewSet(portable, local), err
}

// For reads the tombstones in force that judge the notes of a scope: those of
// memory/, and for machine-local notes those of local/ too.
func For(s *store.Store, scope note.Scope) ([]Tombstone, error) {
	set, err := Load(s)
	return set.For(scope), err
}

// Refusing is For with what is forgotten and not erased yet: what it recognises is not written again.
func Refusing(s *store.Store, scope note.Scope) ([]Tombstone, error) {
	stones, err := For(s, scope)
	marks, merr := Marks(s)
	return slices.Concat(stones, setOfMarks(marks).For(scope)), errors.Join(err, merr)
}

// For returns the tombstones that judge the notes of a tree.
func (g Set) For(scope note.Scope) []Tombstone {
	if scope == note.Local {
		return g.local
	}
	return g.portable
}

// Only returns the tombstones that pass.
func (g Set) Only(pass func(Tombstone) bool) Set {
	drop := func(t Tombstone) bool { return !pass(t) }
	return Set{slices.DeleteFunc(slices.Clone(g.portable), drop), slices.DeleteFunc(slices.Clone(g.local), drop)}
}

// Empty reports whether there is no tombstone.
func (g Set) Empty() bool { return len(g.local) == 0 } // it has those of memory/ too

// Pending returns the tombstones that this machine has not applied.
func (g Set) Pending(s *store.Store) Set {
	done := readApplied(s).Stones
	return g.Only(func(t Tombstone) bool { return done[t.ID] != t.HMAC })
}

// A Verdict says what tombstones want of a file.
type Verdict int

// The verdicts.
const (
	Stays    Verdict = iota
	Erase            // it says exactly what was forgotten
	Withhold         // it is the note that was forgotten, and says something else now
)

// Judge returns what the tombstones want of a file, and the id in it.
func Judge(stones []Tombstone, name string, data []byte) (note.ID, Verdict) {
	f := readFile(name, data)
	return f.id, f.judge(stones)
}

// A file is what is asked of a file to judge it. It is read once, however often it is asked.
type file struct {
	id   note.ID
	note *note.Note // nil when it is none
	said note.Fingerprint
}

func readFile(name string, data []byte) file {
	n, err := note.Parse(data)
	if err != nil {
		return file{id: store.StemID(name)}
	}
	return file{id: n.ID, note: n, said: n.Fingerprint()}
}

func (f *file) judge(stones []Tombstone) Verdict {
	v := Stays
	for _, t := range stones {
		if f.note != nil && (t.exactly(&f.said) || t.itself(f.id, &f.said)) {
			return Erase
		}
		if t.ID == f.id {
			v = Withhold
		}
	}
	return v
}

// judgeDraft is Judge for a draft, which says itself to which tree it wants.
func (g Set) judgeDraft(name string, data []byte) (note.ID, Verdict) {
	scope := note.Portable
	if n, err := note.Parse(data); err == nil {
		scope = n.Scope
	}
	return Judge(g.For(scope), name, data)
}

// appliedFile names the tombstones that this machine has applied. When it is
// deleted they are applied once more.
const appliedFile = "obeyed.json"

// applied is what appliedFile holds.
type applied struct {
	V      int                `json:"v"`
	Stones map[note.ID]string `json:"stones"` // id to HMAC
	Exempt Exemptions         `json:"spared,omitempty"`
}

func readApplied(s *store.Store) (o applied) {
	if data, err := s.ReadFile(appliedFile, 64<<20); err != nil || json.Unmarshal(data, &o) != nil {
		return applied{} // what cannot be read is done again
	}
	return o
}

func (o applied) write(s *store.Store) error {
	if o.V = 1; o.Stones == nil {
		o.Stones = make(map[note.ID]string)
	}
	data, err := json.Marshal(o)
	if err != nil {
		return err
	}
	return s.Replace(appliedFile, append(data, '\n'))
}
