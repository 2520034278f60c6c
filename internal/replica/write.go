package replica

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// separate deals with paths of theirs that cannot stand beside what is here:
// names that differ in case only, and a file where a folder is.
func (m *merging) separate() error {
	if !slices.ContainsFunc(m.steps, func(s Step) bool { return s.Ours == Entry{} }) {
		return nil
	}
	files, err := m.c.p.List(m.ctx, m.r.Ours)
	if err != nil {
		return err
	}
	final := make(map[string]Entry, len(files)+len(m.steps))
	maps.Copy(final, files)
	for _, s := range m.steps {
		if s.Next == (Entry{}) {
			delete(final, s.Path)
		} else {
			final[s.Path] = s.Next
		}
	}
	folders := make(map[string]bool)
	folded := make(map[string]string) // names in lower case
	for name := range final {
		for dir := path.Dir(name); dir != "." && !folders[dir]; dir = path.Dir(dir) {
			folders[dir] = true
		}
		if e, here := files[name]; here && e.plain() && Known(name) {
			folded[strings.ToLower(name)] = name
		}
	}
	if err := m.makeRoom(files, final, folders); err != nil {
		return err
	}
	for i := range m.steps {
		s := &m.steps[i]
		if s.Hidden || s.Next == (Entry{}) {
			continue
		}
		low := strings.ToLower(s.Path)
		if other, taken := folded[low]; taken && other != s.Path {
			s.Hidden = true
			m.kept[s.Path] = fmt.Sprintf("its name differs from %s in case only", other)
		} else {
			folded[low] = s.Path
		}
	}
	return nil
}

// makeRoom leaves files of theirs out where a folder is, and takes files away
// where theirs need a folder. Files are those of ours, final those after the merge.
func (m *merging) makeRoom(files, final map[string]Entry, folders map[string]bool) error {
	var extra []Step
	var gone []Entry
	m.steps = slices.DeleteFunc(m.steps, func(s Step) bool {
		if s.Ours != (Entry{}) || s.Next == (Entry{}) {
			return false
		}
		if folders[s.Path] {
			m.forward = false
			m.kept[s.Path] = "a folder of that name is here"
			if s.Data != nil {
				m.lost(s.Path, nil, s.Data)
			}
			return true
		}
		for dir := path.Dir(s.Path); dir != "."; dir = path.Dir(dir) {
			file, ok := final[dir]
			if !ok {
				continue
			}
			m.forward = false
			if !Known(s.Path) {
				m.kept[s.Path] = "a file stands where its folder would be"
				return true
			}
			if old, here := files[dir]; here && file == old {
				gone = append(gone, old)
				extra = append(extra, Step{Path: dir, Ours: old, Hidden: !Known(dir)})
			}
			delete(final, dir)
		}
		return false
	})
	if err := m.load(gone); err != nil {
		return err
	}
	for _, s := range extra {
		if s.Old, _ = m.content(s.Ours); s.Old != nil && !s.Hidden {
			m.lost(s.Path, s.Old, nil)
		}
		m.steps = append(m.steps, s)
	}
	return nil
}

// lost hands a file to the user that has no place any more.
func (m *merging) lost(name string, ours, theirs []byte) {
	other := ours
	if other == nil {
		other = theirs
	}
	m.conflicts = append(m.conflicts, Conflict{
		Path: name, Ours: ours, Theirs: theirs, Other: other, OursAt: m.r.Ours, TheirsAt: m.r.Theirs,
	})
}

// write turns the steps into changes of the work tree.
func (m *merging) write() error {
	for i := range m.steps {
		s := &m.steps[i]
		if s.Hidden || s.Path == attributes {
			continue
		}
		regular, gone := m.c.p.Stands(s.Path)
		switch {
		case !writable(s.Path):
			m.kept[s.Path] = "this system has no such file names"
			s.Hidden = true
			continue
		case !regular && !gone:
			m.kept[s.Path] = "a link or a folder stands in its place"
			s.Hidden = true
			continue
		}
		ch := Change{Path: s.Path, Old: s.Old, New: s.Data}
		if s.Old != nil && gone {
			// Deleted a moment ago, or never written here.
			if err := m.uncover(s, &ch); err != nil {
				return err
			}
			if s.Hidden {
				continue
			}
		}
		if _, ok := m.held[s.Path]; ok {
			if err := m.hold(s, &ch); err != nil {
				return fmt.Errorf("%s: %w", s.Path, err)
			}
		}
		ch.Theirs, ch.Merged = s.Theirs, !same(ch.New, s.Theirs)
		m.change(ch)
	}
	// Deletions first: a file may have to make room for a folder.
	slices.SortStableFunc(m.changes, func(a, b Change) int {
		switch {
		case (a.New == nil) == (b.New == nil):
			return 0
		case a.New == nil:
			return -1
		}
		return 1
	})
	return nil
}

// change adds a change of the work tree that is one, and a file that was held back and is what the remote has.
func (m *merging) change(ch Change) {
	is := m.pinned[ch.Path] && ch.New != nil && !ch.Merged
	m.agreed = m.agreed || is
	if is || !same(ch.Old, ch.New) {
		m.changes = append(m.changes, ch)
	}
}

// uncover deals with a change to a file that was in git's tree only: it stays
// there as long as the file is here that it cannot stand beside.
func (m *merging) uncover(s *Step, ch *Change) (err error) {
	if m.c.hidden == nil {
		if m.c.hidden, err = m.c.p.Hidden(m.ctx); err != nil {
			return err
		}
	}
	if !m.c.hidden[s.Path] {
		return nil
	}
	ch.Old = nil
	if s.Hidden = s.Next == (Entry{}); s.Hidden {
		return nil
	}
	files, err := m.c.p.List(m.ctx, m.r.Ours)
	for name := range files {
		if name != s.Path && strings.EqualFold(name, s.Path) && Known(name) && !m.c.hidden[name] {
			s.Hidden = true
			m.kept[s.Path] = fmt.Sprintf("its name differs from %s in case only", name)
		}
	}
	return err
}

// hold brings what comes into a file that was not committed. The commit gets
// theirs; the file gets both, so that a later commit loses nothing.
func (m *merging) hold(s *Step, ch *Change) error {
	m.pinned[s.Path] = true
	mine, err := m.c.p.Read(s.Path)
	if err != nil || mine == nil {
		return err
	}
	ch.Old = mine
	var other []byte
	if ch.New, other, err = m.three(s.Path, s.Old, mine, s.Data); err != nil {
		return err
	}
	if other != nil {
		m.conflicts = append(m.conflicts, Conflict{
			Path: s.Path, Base: s.Old, Ours: mine, Theirs: s.Data, Merged: ch.New, Other: other, TheirsAt: m.r.Theirs,
		})
	}
	return nil
}

// tell says which paths are in git's tree and not beside the notes.
func (m *merging) tell() {
	if len(m.mended) > 0 {
		m.c.say("the remote had %s that cannot be read any more (%s); what is here stays, and goes back",
			notes(len(m.mended)), some(m.mended, shownGone))
	}
	if len(m.kept) == 0 {
		return
	}
	names := slices.Sorted(maps.Keys(m.kept))
	const most = 3
	more := ""
	if len(names) > most {
		more = fmt.Sprintf(", and %d more", len(names)-most)
		names = names[:most]
	}
	for i, name := range names {
		names[i] = fmt.Sprintf("%q (%s)", name, m.kept[name])
	}
	m.c.say("not written here: %s%s", strings.Join(names, ", "), more)
}
