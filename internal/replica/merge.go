package replica

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"anamnesis/internal/store/layout"
)

// A merging brings two commits together, path by path.
type merging struct {
	c         *cycle
	ctx       context.Context //nolint:containedctx // it lives as long as one call of cycle.merge
	r         Refs
	held      map[string]string // path → why
	data      map[string][]byte // content by the name of the blob; what is too large is missing
	how       Merge             // made when first needed
	forward   bool              // the result is theirs
	steps     []Step
	changes   []Change
	pinned    map[string]bool // paths whose file is not what is committed
	conflicts []Conflict
	kept      map[string]string // path in git's tree only → why
	agreed    bool              // a file that was held back is what the remote has
	mended    []string          // notes whose form on the remote is damaged
}

// merge makes one commit of ours and theirs, applies it and moves the branch.
// Where ours has nothing new and nothing of theirs has to be left out,
// the commit is theirs.
func (c *cycle) merge(ctx context.Context, r Refs, bases []string, snap Snapshot) (commit, again string, err error) {
	m := &merging{
		c: c, ctx: ctx, r: r, data: make(map[string][]byte),
		held: make(map[string]string), pinned: make(map[string]bool), kept: make(map[string]string),
	}
	for _, h := range snap.Held {
		m.held[h.Path] = h.Why
	}
	m.forward = len(bases) == 1 && bases[0] == r.Ours
	if err = m.decide(bases); err == nil {
		err = m.separate()
	}
	if err == nil {
		err = m.write()
	}
	if err != nil {
		return "", "", fmt.Errorf("merge with the remote: %w", err)
	}
	if stop, err := m.tooMany(); stop || err != nil {
		return "", "", err
	}
	if c.o.Settle != nil {
		for _, lost := range m.conflicts {
			if err := c.o.Settle(lost); err != nil {
				return "", "", fmt.Errorf("keep the other version of %s: %w; nothing was changed", lost.Path, err)
			}
		}
	}
	commit = r.Theirs
	if !m.forward {
		if commit, err = c.p.Record(ctx, r.Ours, r.Theirs, m.steps); err != nil {
			return "", "", fmt.Errorf("merge with the remote: %w; nothing was changed", err)
		}
	}
	again, err = m.show(commit)
	if again == "" && err == nil {
		c.out.Conflicts += len(m.conflicts)
		m.tell()
		if m.agreed {
			again = agreed
		}
	}
	return commit, again, err
}

// agreed says why a cycle begins again after a merge: the list of what was held back is not right any more.
const agreed = "the remote has what was held back"

// merged reports whether a merge that says why the cycle begins again, or nothing, is done.
func merged(again string) bool { return again == "" || again == agreed }

// show makes the merge visible: the files, the index, and only then the branch.
func (m *merging) show(commit string) (again string, err error) {
	c := m.c
	apply := c.o.Apply
	if apply == nil {
		apply = c.p.Apply
	}
	var late []string
	if len(m.changes) > 0 {
		if late, err = apply(m.changes); err != nil {
			return "", fmt.Errorf("write the files of the merge: %w; the next sync goes on from here", err)
		}
	}
	var written []string
	done := make(map[string]bool, len(m.changes))
	for _, ch := range m.changes {
		if slices.Contains(late, ch.Path) {
			continue
		}
		done[ch.Path] = true
		c.out.Changed = append(c.out.Changed, ch.Path)
		if !m.pinned[ch.Path] {
			written = append(written, ch.Path)
		}
	}
	c.out.Removed += removedNotes(m.changes, done)
	if len(late) > 0 {
		c.hidden = nil
		return fmt.Sprintf("%s was edited during the sync", strings.Join(late[:min(len(late), 3)], ", ")), nil
	}
	var rest []Step
	for _, s := range m.steps {
		switch {
		case s.Path == attributes && s.Data != nil:
			if err := c.p.SetAttributes(s.Data); err != nil {
				return "", fmt.Errorf("write %s: %w", attributes, err)
			}
			written = append(written, s.Path)
		case s.Hidden || m.pinned[s.Path] || c.hidden[s.Path] || s.Next.Mode == "100755":
			rest = append(rest, s)
		}
	}
	if err := c.p.Stage(m.ctx, written, rest); err != nil {
		return "", err
	}
	if err := c.p.Move(m.ctx, m.r.Ours, commit, m.r.Theirs); errors.Is(err, ErrMoved) {
		return "somebody committed during the sync", nil
	} else if err != nil {
		return "", err
	}
	return "", nil
}

// versions are the three of a path on which theirs may differ from ours.
type versions struct{ base, ours, theirs Entry }

// compare returns the paths on which theirs may differ from ours.
func (m *merging) compare(bases []string) (map[string]versions, error) {
	base, over, err := m.base(bases)
	if err != nil {
		return nil, err
	}
	pairs := [][2]string{{base, m.r.Theirs}}
	if !m.forward {
		pairs = append(pairs, [2]string{base, m.r.Ours})
	}
	diffs, err := m.c.p.Deltas(m.ctx, pairs...)
	if err != nil {
		return nil, err
	}
	all := make(map[string]versions, len(diffs[0]))
	for _, d := range diffs[0] {
		all[d.Path] = versions{d.Old, d.Old, d.New}
	}
	for path, e := range over {
		if v, ok := all[path]; ok {
			all[path] = versions{e.virtual, v.ours, v.theirs}
		} else {
			all[path] = versions{e.virtual, e.first, e.first}
		}
	}
	for _, diff := range diffs[1:] {
		for _, d := range diff {
			if v, ok := all[d.Path]; ok {
				all[d.Path] = versions{v.base, d.New, v.theirs}
			}
		}
	}
	maps.DeleteFunc(all, func(_ string, v versions) bool { return v.ours == v.theirs })
	return all, nil
}

// decide fills in the steps. m.forward stays true if the result is theirs.
func (m *merging) decide(bases []string) error {
	all, err := m.compare(bases)
	if err != nil {
		return err
	}
	paths := slices.Sorted(maps.Keys(all))
	var wanted []Entry
	for _, path := range paths {
		if v := all[path]; Known(path) {
			wanted = append(wanted, v.base, v.ours, v.theirs)
		}
	}
	if err := m.load(wanted); err != nil {
		return err
	}
	for _, path := range paths {
		v := all[path]
		s := Step{Path: path, Ours: v.ours, Next: v.ours}
		if Known(path) {
			if err := m.known(&s, v.base, v.theirs); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
		} else {
			s.Hidden, s.Next = true, foreign(path, v.base, v.ours, v.theirs)
			if why := unfit(path); why != "" && v.theirs != (Entry{}) {
				m.kept[path] = why
			}
		}
		m.forward = m.forward && s.Next == v.theirs
		if s.Next != v.ours {
			m.steps = append(m.steps, s)
		}
	}
	return nil
}

// foreign chooses a version of a file that is none of ours: what its owners
// did to it stays done, and of two edits one is taken, the same everywhere.
func foreign(path string, b, o, t Entry) Entry {
	switch {
	case !carried(path):
		return o
	case o == b:
		return t
	case t == b, t == Entry{}:
		return o
	case o == Entry{}, t.ID > o.ID, t.ID == o.ID && t.Mode > o.Mode:
		return t
	}
	return o
}

// known chooses or makes the version of a file of ours.
func (m *merging) known(s *Step, b, t Entry) error {
	bd, _ := m.content(b)
	od, oursPlain := m.content(s.Ours)
	td, theirsPlain := m.content(t)
	s.Old, s.Theirs = od, td
	if !theirsPlain {
		// Never instead of a file that is one; else it may stand in git's tree.
		m.kept[s.Path] = "it is no plain file there, or larger than 2 MiB"
		if od == nil && (oursPlain || s.Ours == b) {
			s.Next, s.Hidden = t, true
		}
		return nil
	}
	if !oursPlain {
		if s.Ours == b || td != nil {
			s.Next, s.Data = t, td
		}
		return nil
	}
	if m.mend(s.Path, bd, od, td) {
		return nil
	}
	data, other, err := m.three(s.Path, bd, od, td)
	if err == nil && s.Path == layout.FormatFile {
		data, err = m.writable(data)
	}
	if err != nil {
		return err
	}
	switch {
	case same(data, od):
	case same(data, td):
		s.Next, s.Data = t, td
	case data == nil:
		s.Next = Entry{}
	default:
		s.Next, s.Data = Entry{Mode: "100644"}, data
	}
	if other != nil {
		m.conflicts = append(m.conflicts, Conflict{
			Path: s.Path, Base: bd, Ours: od, Theirs: td, Merged: data, Other: other, OursAt: m.r.Ours, TheirsAt: m.r.Theirs,
		})
	}
	return nil
}

// writable refuses a merge that would ask for a newer program than this one, before anything of it is
// written; a person can take away what it asks for.
func (m *merging) writable(data []byte) ([]byte, error) {
	if data == nil {
		return nil, nil
	}
	err := layout.CheckFormat(data, m.c.o.Version)
	if err != nil && m.c.o.ResetFormat {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("the notes at %s: %w", HidePassword(m.c.o.Remote), err)
	}
	return data, nil
}

// three merges three contents.
func (m *merging) three(path string, base, ours, theirs []byte) (merged, other []byte, err error) {
	switch {
	case same(ours, theirs), same(theirs, base) && path != attributes:
		return ours, nil, nil
	case path == attributes:
		return mergeAttributes(ours, theirs), nil, nil
	case same(ours, base) && (ours != nil || path == layout.FormatFile):
		return theirs, nil, nil
	case path == layout.FormatFile:
		return layout.MergeFormat(ours, theirs), nil, nil
	}
	if m.how == nil {
		m.how = byBytes
		if m.c.o.Merger != nil {
			if m.how, err = m.c.o.Merger(newView(m.ctx, m.c.p, m.r.Theirs)); err != nil {
				return nil, nil, err
			}
		}
	}
	return m.how(path, base, ours, theirs)
}

func same(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }

// load reads what the entries hold.
func (m *merging) load(entries []Entry) error {
	var ids []string
	for _, e := range entries {
		if e.plain() && m.data[e.ID] == nil {
			ids = append(ids, e.ID)
		}
	}
	slices.Sort(ids)
	if ids = slices.Compact(ids); len(ids) == 0 {
		return nil
	}
	read, err := m.c.p.Blobs(m.ctx, ids)
	maps.Copy(m.data, read)
	return err
}

// content returns what load has read, nil for no file. It is false for what is
// no file that we would write.
func (m *merging) content(e Entry) ([]byte, bool) {
	if e == (Entry{}) {
		return nil, true
	}
	data, ok := m.data[e.ID]
	return data, ok && e.plain()
}
