package store

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"anamnesis/internal/note"
)

// lifts are lifted tombstones that carry the fingerprint of a statement: its
// owner wrote it again, knowing that it was forgotten. Each takes the statement
// out of the reach of every tombstone that is not later, on every machine and in
// whatever order the two arrive. What nearly says the statement stays forgotten.
type lifts []Tombstone

// spare reports whether what a note says was written again after the tombstone t.
func (l lifts) spare(t Tombstone, s *note.Saying) bool {
	return slices.ContainsFunc(l, func(lift Tombstone) bool { return !t.laterThan(lift) && lift.fits(s) })
}

// laterThan compares the times of two decisions.
func (t Tombstone) laterThan(other Tombstone) bool {
	x, _ := time.Parse(time.RFC3339, t.At)
	y, _ := time.Parse(time.RFC3339, other.At)
	return x.After(y)
}

// inForce returns the tombstones among all that were not lifted. They know the
// statements that were written again since.
func inForce(all []Tombstone) []Tombstone {
	known := new(lifts)
	for _, t := range all {
		if t.V == 2 && t.HMAC != "" {
			*known = append(*known, t)
		}
	}
	stones := slices.DeleteFunc(slices.Clone(all), func(t Tombstone) bool { return t.V != 1 })
	if len(*known) > 0 {
		for i := range stones {
			stones[i].lifts = known
		}
	}
	return stones
}

// Lift takes back that a note was forgotten, because its owner writes it again.
// The tombstones of its id and of its very statement are replaced by lifted ones,
// and one under the id of the note keeps the statement out of the reach of those
// that another machine has still to send. A machine-local note lifts what is
// machine-local alone, and a tombstone of local/ does not mind a portable one.
// Without a tombstone that minds n nothing happens.
//
// It returns the paths that it changed, relative to the root. It comes before
// the note is written: a note that stands below a tombstone may be erased. The
// caller holds the store lock.
func (s *Store) Lift(n *note.Note) (paths []string, err error) {
	said := n.Saying()
	lift := NewTombstone(n.ID, n.Statement(), s.now())
	lift.V = 2
	mindful := false
	var exact []string // files of tombstones that are lifted
	for _, scope := range []note.Scope{note.Portable, note.Local} {
		stones, err := s.tombstonesOf(scope)
		if err != nil {
			return nil, fmt.Errorf("lift tombstones: %w", err)
		}
		for _, t := range stones {
			if t.ID != n.ID && !t.Recognises(said) {
				continue
			}
			if !lift.laterThan(t) {
				lift.At = after(t.At, s.now())
			}
			mindful = mindful || t.V == 1 && (scope == note.Portable || n.Scope == note.Local)
			if t.V == 1 && (t.ID == n.ID || t.fits(&said)) && (scope == note.Local || n.Scope != note.Local) {
				exact = append(exact, tombstonePath(scope, t.ID))
			}
		}
	}
	if !mindful {
		return nil, nil
	}
	// Its own file first: the statement is spared from then on, whatever stops us.
	own := tombstonePath(n.Scope, n.ID)
	if err := s.bury(own, lift); err != nil {
		return nil, err
	}
	paths = []string{own}
	for _, path := range exact {
		if path == own {
			continue
		}
		if err := s.bury(path, Tombstone{V: 2, ID: stemID(path), At: lift.At}); err != nil {
			return paths, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

func tombstonePath(scope note.Scope, id note.ID) string {
	return treeName(scope) + "/tombstones/" + string(id) + ".json"
}

// Bury writes a tombstone into the tree of the note that was forgotten.
func (s *Store) Bury(scope note.Scope, t Tombstone) error {
	return s.bury(tombstonePath(scope, t.ID), t)
}

func (s *Store) bury(path string, t Tombstone) error {
	data, err := json.Marshal(t)
	if err == nil {
		err = s.replace(path, append(data, '\n'), true)
	}
	if err != nil {
		return fmt.Errorf("write tombstone %s: %w", t.ID, err)
	}
	return nil
}

// afterLifts returns the time of a tombstone for a statement that is forgotten
// now: later than every time it was written again.
func (s *Store) afterLifts(at string, said *note.Saying) (string, error) {
	for _, scope := range []note.Scope{note.Portable, note.Local} {
		stones, err := s.tombstonesOf(scope)
		if err != nil {
			return at, err
		}
		for _, t := range stones {
			if t.V == 2 && t.fits(said) && !(Tombstone{At: at}).laterThan(t) {
				at = after(t.At, s.now())
			}
		}
	}
	return at, nil
}
