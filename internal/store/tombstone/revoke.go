package tombstone

import (
	"fmt"
	"slices"

	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// revocations are revoked tombstones that carry the fingerprint of a statement:
// its owner wrote it again, knowing that it was forgotten. Each takes the
// statement out of the reach of every tombstone that is not later, on every
// machine and in whatever order the two arrive. What nearly says the statement
// stays forgotten.
type revocations []Tombstone

// cover reports whether what a note says was written again after the tombstone t.
func (r revocations) cover(t Tombstone, s *note.Fingerprint) bool {
	return slices.ContainsFunc(r, func(revoked Tombstone) bool { return !t.laterThan(revoked) && revoked.fitsAsMeant(s) })
}

// InForce returns the tombstones among all that were not revoked. They know the
// statements that were written again since.
func InForce(all []Tombstone) []Tombstone {
	known := new(revocations)
	for _, t := range all {
		if t.V == 2 && t.HMAC != "" {
			*known = append(*known, t)
		}
	}
	stones := slices.DeleteFunc(slices.Clone(all), func(t Tombstone) bool { return t.V != 1 })
	if len(*known) > 0 {
		for i := range stones {
			stones[i].revoked = known
		}
	}
	return stones
}

// Revoke takes back that a note was forgotten, because its owner writes it again.
// The tombstones of its id and of its very statement are replaced by revoked ones,
// and one under the id of the note keeps the statement out of the reach of those
// that another machine has still to send. A machine-local note revokes what is
// machine-local alone, and a tombstone of local/ does not match a portable one.
// Without a tombstone that matches n nothing happens.
//
// It returns the paths that it changed, relative to the root. It comes before the
// note is written: a note that stands below a tombstone may be erased.
func Revoke(w *store.Writer, n *note.Note) (paths []string, err error) {
	s, said := w.Store(), n.Fingerprint()
	own := New(n.ID, n.Statement(), s.Now())
	own.V = 2
	matched := false
	type placed struct {
		scope note.Scope
		id    note.ID
	}
	var exact []placed // tombstones that are revoked
	portable, local, err := ReadBoth(s)
	if err != nil {
		return nil, fmt.Errorf("revoke tombstones: %w", err)
	}
	for i, t := range slices.Concat(portable, local) {
		scope := note.Portable
		if i >= len(portable) {
			scope = note.Local
		}
		if t.ID != n.ID && !t.Recognises(said) {
			continue
		}
		if !own.laterThan(t) {
			own.At = after(t.At, s.Now())
		}
		matched = matched || t.V == 1 && (scope == note.Portable || n.Scope == note.Local)
		if t.V == 1 && (t.ID == n.ID || t.fitsAsMeant(&said)) && (scope == note.Local || n.Scope != note.Local) {
			exact = append(exact, placed{scope, t.ID})
		}
	}
	if !matched {
		return nil, nil
	}
	// Its own file first: the statement is out of reach from then on, whatever stops us.
	if err := Write(w, n.Scope, own); err != nil {
		return nil, err
	}
	paths = []string{Path(n.Scope, n.ID)}
	for _, p := range exact {
		path := Path(p.scope, p.id)
		if path == paths[0] {
			continue
		}
		if err := Write(w, p.scope, Tombstone{V: 2, ID: p.id, At: own.At}); err != nil {
			return paths, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// afterRevocations returns the time of a tombstone for a statement that is
// forgotten now: later than every time it was written again.
func afterRevocations(s *store.Store, at string, said *note.Fingerprint) (string, error) {
	portable, local, err := ReadBoth(s)
	for _, t := range slices.Concat(portable, local) {
		if t.V == 2 && t.fitsAsMeant(said) && !(Tombstone{At: at}).laterThan(t) {
			at = after(t.At, s.Now())
		}
	}
	return at, err
}
