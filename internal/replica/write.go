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
func (m *merging) separate(forward *bool) error {
	if !slices.ContainsFunc(m.steps, func(s step) bool { return s.ours == entry{} }) {
		return nil
	}
	files, err := m.c.p.list(m.ctx, m.r.ours)
	if err != nil {
		return err
	}
	final := make(map[string]entry, len(files)+len(m.steps))
	maps.Copy(final, files)
	for _, s := range m.steps {
		if s.next == (entry{}) {
			delete(final, s.path)
		} else {
			final[s.path] = s.next
		}
	}
	folders := make(map[string]bool)
	folded := make(map[string]string)
	for name := range final {
		for dir := path.Dir(name); dir != "." && !folders[dir]; dir = path.Dir(dir) {
			folders[dir] = true
		}
		if e, here := files[name]; here && e.plain() && Known(name) {
			folded[strings.ToLower(name)] = name
		}
	}
	var extra []step
	var gone []entry
	m.steps = slices.DeleteFunc(m.steps, func(s step) bool {
		if s.ours != (entry{}) || s.next == (entry{}) {
			return false
		}
		if folders[s.path] {
			*forward = false
			m.kept[s.path] = "a folder of that name is here"
			if s.data != nil {
				m.lost(s.path, nil, s.data)
			}
			return true
		}
		for dir := path.Dir(s.path); dir != "."; dir = path.Dir(dir) {
			file, ok := final[dir]
			if !ok {
				continue
			}
			*forward = false
			if !Known(s.path) {
				m.kept[s.path] = "a file stands where its folder would be"
				return true
			}
			if old, here := files[dir]; here && file == old {
				gone = append(gone, old)
				extra = append(extra, step{path: dir, ours: old, hidden: !Known(dir)})
			}
			delete(final, dir)
		}
		return false
	})
	if err := m.load(gone); err != nil {
		return err
	}
	for _, s := range extra {
		if s.old, _ = m.content(s.ours); s.old != nil && !s.hidden {
			m.lost(s.path, s.old, nil)
		}
		m.steps = append(m.steps, s)
	}
	for i := range m.steps {
		s := &m.steps[i]
		if s.hidden || s.next == (entry{}) {
			continue
		}
		low := strings.ToLower(s.path)
		if other, taken := folded[low]; taken && other != s.path {
			s.hidden = true
			m.kept[s.path] = fmt.Sprintf("its name differs from %s in case only", other)
		} else {
			folded[low] = s.path
		}
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
		Path: name, Ours: ours, Theirs: theirs, Other: other, OursAt: m.r.ours, TheirsAt: m.r.theirs,
	})
}

// write turns the steps into changes of the work tree.
func (m *merging) write() error {
	for i := range m.steps {
		s := &m.steps[i]
		if s.hidden || s.path == attributes {
			continue
		}
		regular, gone := m.c.p.stands(s.path)
		switch {
		case !writable(s.path):
			m.kept[s.path] = "this system has no such file names"
			s.hidden = true
			continue
		case !regular && !gone:
			m.kept[s.path] = "a link or a folder stands in its place"
			s.hidden = true
			continue
		}
		ch := Change{Path: s.path, Old: s.old, New: s.data}
		if s.old != nil && gone {
			// Deleted a moment ago, or never written here.
			if err := m.uncover(s, &ch); err != nil {
				return err
			}
			if s.hidden {
				continue
			}
		}
		if _, ok := m.held[s.path]; ok {
			if err := m.hold(s, &ch); err != nil {
				return fmt.Errorf("%s: %w", s.path, err)
			}
		}
		if !same(ch.Old, ch.New) {
			m.changes = append(m.changes, ch)
		}
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

// uncover deals with a change to a file that was in git's tree only: it stays
// there as long as the file is here that it cannot stand beside.
func (m *merging) uncover(s *step, ch *Change) (err error) {
	if m.c.hidden == nil {
		if m.c.hidden, err = m.c.p.hidden(m.ctx); err != nil {
			return err
		}
	}
	if !m.c.hidden[s.path] {
		return nil
	}
	ch.Old = nil
	if s.hidden = s.next == (entry{}); s.hidden {
		return nil
	}
	files, err := m.c.p.list(m.ctx, m.r.ours)
	for name := range files {
		if name != s.path && strings.EqualFold(name, s.path) && Known(name) && !m.c.hidden[name] {
			s.hidden = true
			m.kept[s.path] = fmt.Sprintf("its name differs from %s in case only", name)
		}
	}
	return err
}

// hold brings what comes into a file that was not committed. The commit gets
// theirs; the file gets both, so that a later commit loses nothing.
func (m *merging) hold(s *step, ch *Change) error {
	m.pinned[s.path] = true
	mine, err := m.c.p.read(s.path)
	if err != nil || mine == nil {
		return err
	}
	ch.Old = mine
	var other []byte
	if ch.New, other, err = m.three(s.path, s.old, mine, s.data); err != nil {
		return err
	}
	if other != nil {
		m.conflicts = append(m.conflicts, Conflict{
			Path: s.path, Base: s.old, Ours: mine, Theirs: s.data, Merged: ch.New, Other: other, TheirsAt: m.r.theirs,
		})
	}
	return nil
}

// tell says which paths are in git's tree and not beside the notes.
func (m *merging) tell() {
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
