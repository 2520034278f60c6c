package ingest

import (
	"bytes"
	"io/fs"
	"maps"
	"slices"
	"sync"

	"anamnesis/internal/note"
	"anamnesis/internal/store"
	"anamnesis/internal/store/layout"
	"anamnesis/internal/store/project"
	"anamnesis/internal/store/tombstone"
)

// Merger returns the function that merges two versions of a file under memory/,
// given with slashes and relative to it. base is what both come from, and nil
// stands for a file that is not there. theirs is the tree on the other side: its
// tombstones hold, as those of this store do.
//
// The function returns the file that stays, nil for none, and what could not
// stay (nil when nothing was lost), which belongs into conflicts/ (AddConflict).
// It is commutative, and merging the result with either side again gives the
// result. Nobody's edit is dropped because the other side deleted the file,
// unless the note was forgotten: then the edit is what could not stay. A merge
// never deletes a tombstone. The function fails for paths that do not belong
// into memory/.
func (in *Incoming) Merger(theirs tombstone.Tree) (func(path string, base, ours, theirs []byte) (merged, other []byte, err error), error) {
	own, err := tombstone.Read(in.store, note.Portable)
	if err != nil {
		return nil, err
	}
	here, tree := newForgotten(own), theirs
	both := sync.OnceValues(func() (forgotten, error) {
		others, err := tombstone.ReadTree(theirs)
		return newForgotten(slices.Concat(own, others)), err
	})
	return func(path string, base, ours, theirs []byte) (merged, other []byte, err error) {
		if base == nil && ours == nil {
			// Most pulls bring files that only they have. When no tombstone of ours
			// minds, those of theirs need not be read: they do not mind their own.
			if merged, other, err = here.merge(path, base, ours, theirs); err != nil || same(merged, theirs) {
				return merged, other, err
			}
		}
		f, err := both()
		if err != nil {
			return nil, nil, err
		}
		if !f.has(store.StemID(path)) {
			if merged, other, done, err := in.mergeMoved(tree, path, base, ours, theirs); done || err != nil {
				return merged, other, err
			}
		}
		return f.merge(path, base, ours, theirs)
	}, nil
}

// forgotten holds the tombstones of both sides, revoked ones too.
type forgotten struct {
	byID   map[note.ID]tombstone.Tombstone
	stones []tombstone.Tombstone // those that are not revoked
}

func newForgotten(all []tombstone.Tombstone) forgotten {
	byID := tombstone.Latest(all)
	return forgotten{byID, tombstone.InForce(slices.Collect(maps.Values(byID)))}
}

func (f forgotten) has(id note.ID) bool { return f.byID[id].V == 1 }

// recognises reports whether a tombstone knows the note that stands in data, or
// a near-copy of it.
func (f forgotten) recognises(data []byte) bool {
	n, err := note.Parse(data)
	if err != nil {
		return false
	}
	_, ok := tombstone.Match(f.stones, n)
	return ok
}

func (f forgotten) merge(name string, base, ours, theirs []byte) (merged, other []byte, err error) {
	class := layout.InTree(name)
	switch {
	case class == layout.Unknown:
		return nil, nil, &fs.PathError{Op: "merge", Path: name, Err: store.ErrUnknownPath}
	case class == layout.Tombstone:
		return tombstone.Merge(base, ours, theirs), nil, nil
	case same(ours, theirs), same(theirs, base):
		merged = ours
	case same(ours, base), ours == nil:
		merged = theirs
	case theirs == nil:
		merged = ours
	default:
		merged, other = mergeClass(class, base, ours, theirs)
	}
	switch {
	case merged == nil || len(f.stones) == 0:
		return merged, other, nil
	case class == layout.Sidecar && f.has(store.StemID(name)):
		return nil, nil, nil
	case class == layout.Note:
		merged, other = f.withhold(name, base, merged, other, base != nil && (ours == nil || theirs == nil))
	}
	return merged, other, nil
}

// withhold takes a merged note back that was forgotten. What somebody changed
// without knowing is not lost; what says just what was forgotten is.
func (f forgotten) withhold(name string, base, merged, other []byte, deleted bool) (stays, loses []byte) {
	edited := !same(merged, base) && !vouchedAlone(merged, base)
	v := tombstone.Stays
	if f.has(store.StemID(name)) {
		_, v = tombstone.Judge(f.stones, name, merged)
	}
	if v == tombstone.Stays && deleted && edited && f.recognises(merged) {
		v = tombstone.Withhold
	}
	switch {
	case v == tombstone.Stays:
		return merged, other
	case v == tombstone.Erase || !edited:
		return nil, nil
	}
	return nil, merged
}

// vouchedAlone reports whether two forms of a note differ in nothing but who vouches for it.
func vouchedAlone(a, b []byte) bool {
	x, err := note.Parse(a)
	if err != nil {
		return false
	}
	y, err := note.Parse(b)
	if err != nil {
		return false
	}
	x.Vouched, x.Reviewed, x.Provenance.Source, x.UpdatedAt, x.Edits = y.Vouched, y.Reviewed, y.Provenance.Source, y.UpdatedAt, y.Edits
	return note.Equal(x, y)
}

// same reports whether two files are equal; one that is not there differs from an empty one.
func same(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }

func mergeClass(class layout.Class, base, ours, theirs []byte) (merged, other []byte) {
	switch class {
	case layout.Note, layout.Slot:
		if m := note.Reconcile(base, ours, theirs); m.Asks() {
			return m.Data, m.Other
		} else {
			return m.Data, nil
		}
	case layout.Sidecar:
		m := note.ReconcileSidecars(base, ours, theirs)
		return m.Data, m.Other
	case layout.Projects:
		return project.MergeAliases(base, ours, theirs)
	}
	if store.Digest(ours) < store.Digest(theirs) {
		return theirs, ours
	}
	return ours, theirs
}
