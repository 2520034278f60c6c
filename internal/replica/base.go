package replica

import "fmt"

// An overlay is a path on which the merge bases differ.
type overlay struct {
	virtual Entry // what the base is taken to have
	first   Entry // what the first base has
}

// base returns the commit to merge against, and where it is not what to merge
// against.
//
// Two histories that merged each other crosswise have several merge bases, and
// none of them will do alone: what the second one already deleted would look
// like an addition, and what only the first had like a deletion. As git's own
// merge does, the bases are merged with each other first, each against what it
// and the first have in common. A line is then in the base if, and only if,
// every side has had it and nobody had deleted it, so that one that is missing
// from a side was deleted there. All machines see the same bases in the same
// order, and get the same base. Versions that lose in it are not shown: each
// of them was shown when the base was made.
func (m *merging) base(bases []string) (string, map[string]overlay, error) {
	if len(bases) == 0 {
		return "", nil, nil
	}
	over := make(map[string]overlay)
	for _, next := range bases[1:] {
		below, err := m.c.p.Bases(m.ctx, bases[0], next)
		if err != nil {
			return "", nil, err
		}
		root := ""
		if len(below) > 0 {
			root = below[0] // of several the first by name: a base of bases decides little
		}
		diffs, err := m.c.p.Deltas(m.ctx, [2]string{bases[0], next}, [2]string{root, bases[0]})
		if err != nil {
			return "", nil, err
		}
		if err := m.fold(over, diffs[0], diffs[1]); err != nil {
			return "", nil, err
		}
	}
	return bases[0], over, nil
}

// fold merges one more base into the overlay. Beside is what it differs in from
// the first base, below what the first base differs in from what they share.
func (m *merging) fold(over map[string]overlay, beside, below []Delta) error {
	root := make(map[string]Entry, len(below))
	var wanted []Entry
	for _, d := range below {
		root[d.Path] = d.Old
	}
	next := make(map[string]Entry, len(beside))
	for _, d := range beside {
		if !Known(d.Path) {
			continue
		}
		next[d.Path] = d.New
		if _, ok := over[d.Path]; !ok {
			over[d.Path] = overlay{virtual: d.Old, first: d.Old}
		}
	}
	for path, o := range over {
		if _, ok := next[path]; !ok {
			next[path] = o.first
		}
		if _, ok := root[path]; !ok {
			root[path] = o.first
		}
		wanted = append(wanted, o.virtual, next[path], root[path])
	}
	if err := m.load(wanted); err != nil {
		return err
	}
	for path, o := range over {
		a, ok1 := m.content(o.virtual)
		b, ok2 := m.content(next[path])
		r, _ := m.content(root[path])
		if !ok1 || !ok2 {
			o.virtual = Entry{} // no base: both sides stay
			over[path] = o
			continue
		}
		data, _, err := m.three(path, r, a, b)
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", path, err)
		case data == nil:
			o.virtual = Entry{}
		case !same(data, a):
			o.virtual = Entry{Mode: "100644", ID: "virtual " + path}
			m.data[o.virtual.ID] = data
		}
		over[path] = o
	}
	return nil
}
