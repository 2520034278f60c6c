package replica

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"anamnesis/internal/store/layout"
)

// tooMany stops a merge that would delete or overwrite too much, alone or by
// the tombstones that come with it.
//
// What was forgotten is meant to go, and what only moved is not lost, so a few
// of those never stop anything. Many do: a tombstone can be a mistake too.
func (m *merging) tooMany() (bool, error) {
	const many = 5 // files that may go for whatever reason
	limit := m.c.o.MaxDelete
	if limit <= 0 || m.c.o.AllowDelete {
		return false, nil
	}
	var gone, lost []Change
	for _, ch := range m.changes {
		if ch.New == nil {
			gone = append(gone, ch)
			if isNote(ch.Path) && m.isLost(ch.Path) {
				lost = append(lost, ch)
			}
		}
	}
	erased, err := m.erasures(gone)
	if err != nil {
		return false, err
	}
	deleted := len(gone)
	gone = append(gone, erased...)
	over := m.overwritten()
	lost = append(lost, over...)
	if len(gone) <= many && len(lost) == 0 {
		return false, nil
	}
	files, err := m.c.p.List(m.ctx, m.r.Ours)
	if err != nil {
		return false, err
	}
	total, notes := 0, 0
	for name := range files {
		if Known(name) && name != attributes {
			total++
		}
		if isNote(name) {
			notes++
		}
	}
	tooLost := func() bool { return m.c.o.tooMuch(len(lost), notes) }
	if tooLost() {
		if lost, err = m.unsaid(lost, files); err != nil {
			return false, err
		}
	}
	tooGone := len(gone) > many && float64(len(gone)) > limit*float64(total)
	if !tooLost() && !tooGone && !m.emptied(files, gone) {
		return false, nil
	}
	m.c.out.Held, m.c.out.Deletes, m.c.out.Result = true, len(gone)+len(over), Held
	by, err := m.deleters(gone[:deleted])
	if err != nil {
		return true, err
	}
	var would []string
	if len(gone) > 0 {
		would = append(would, fmt.Sprintf("delete %d of %d files here%s", len(gone), total, by))
	}
	if len(erased) > 0 {
		would = append(would, fmt.Sprintf("with tombstones for %d of them", len(erased)))
	}
	if len(over) > 0 {
		would = append(would, fmt.Sprintf("take the text out of %d of %d notes", len(over), notes))
	}
	m.c.say("the remote would %s: %s; nothing was changed; look at what it did (%s), and allow the deletion if it is meant",
		strings.Join(would, ", "), m.examples(append(gone, over...)), m.c.p.Look())
	return true, nil
}

// isLost reports whether a note that goes is neither forgotten nor moved.
func (m *merging) isLost(name string) bool {
	return m.unexplained(name) && !isMoved(m.changes, name)
}

// isMoved reports whether changes write a file of the same name elsewhere.
func isMoved(changes []Change, name string) bool {
	return slices.ContainsFunc(changes, func(ch Change) bool { return ch.New != nil && path.Base(ch.Path) == path.Base(name) })
}

// maxCompared bounds how many notes that go are compared with those that stay.
const maxCompared = 1000

// unsaid returns those notes that go of which none that stays says the same: a
// copy that somebody removed is no loss.
func (m *merging) unsaid(lost []Change, files map[string]Entry) ([]Change, error) {
	if m.c.o.Says == nil || len(lost) > maxCompared {
		return lost, nil
	}
	changed := make(map[string][]byte, len(m.changes))
	for _, ch := range m.changes {
		changed[ch.Path] = ch.New
	}
	var ids []string
	for name, e := range files {
		if _, ok := changed[name]; !ok && isNote(name) {
			ids = append(ids, e.ID)
		}
	}
	blobs, err := m.c.p.Blobs(m.ctx, ids)
	if err != nil {
		return nil, err
	}
	said := make(map[string]bool)
	for _, files := range []map[string][]byte{blobs, changed} {
		for _, data := range files {
			for _, s := range m.c.o.Says(data) {
				said[s] = true
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(lost), func(ch Change) bool {
		return slices.ContainsFunc(m.c.o.Says(ch.Old), func(s string) bool { return said[s] })
	}), nil
}

// unexplained reports whether a path that goes is a note which nobody forgot.
func (m *merging) unexplained(name string) bool {
	stone := layout.TombstoneOf(layout.Stem(name))
	return isNote(name) && !slices.ContainsFunc(m.steps, func(s Step) bool { return s.Path == stone && s.Next != (Entry{}) })
}

// emptied reports whether no note is left of those here, and not all were forgotten.
func (m *merging) emptied(files map[string]Entry, gone []Change) bool {
	if !slices.ContainsFunc(gone, func(ch Change) bool { return m.unexplained(ch.Path) }) {
		return false
	}
	going := make(map[string]bool, len(gone))
	for _, ch := range gone {
		going[ch.Path] = true
	}
	for name := range files {
		if isNote(name) && !going[name] {
			return false
		}
	}
	return !slices.ContainsFunc(m.changes, func(ch Change) bool { return ch.New != nil && isNote(ch.Path) })
}

// isNote reports whether a known path is that of a note.
func isNote(name string) bool {
	return strings.HasSuffix(name, ".md") && !strings.HasPrefix(name, "slots/")
}

// How many machines, and how many files, a message names.
const (
	shownGone   = 3
	shownTitles = 10
)

// deleters says who deleted, those who deleted most first.
func (m *merging) deleters(gone []Change) (string, error) {
	paths := make([]string, len(gone))
	for i, ch := range gone {
		paths[i] = ch.Path
	}
	by, err := m.c.p.Deleters(m.ctx, m.r.Ours, m.r.Theirs, paths)
	if err != nil || len(by) == 0 {
		return "", err
	}
	count := make(map[string]int)
	for _, who := range by {
		count[who]++
	}
	names := slices.SortedFunc(maps.Keys(count), func(a, b string) int { return cmp.Or(count[b]-count[a], strings.Compare(a, b)) })
	return " (deleted by " + some(names, shownGone) + ")", nil
}

// examples names the first files that would go, notes before what belongs to them.
func (m *merging) examples(gone []Change) string {
	gone = slices.Clone(gone)
	slices.SortStableFunc(gone, func(a, b Change) int {
		switch {
		case isNote(a.Path) == isNote(b.Path):
			return strings.Compare(a.Path, b.Path)
		case isNote(a.Path):
			return -1
		}
		return 1
	})
	names := make([]string, len(gone))
	for i, ch := range gone {
		if names[i] = ch.Path; i < shownTitles && m.c.o.Title != nil && isNote(ch.Path) {
			names[i] = cmp.Or(m.c.o.Title(ch.Old), ch.Path)
		}
	}
	return some(names, shownTitles)
}

// some names the first of a list, and counts the others. The names are of
// strangers: they are quoted, and cut.
func some(names []string, most int) string {
	const longestName = 60
	var list []string
	for _, name := range names[:min(len(names), most)] {
		if r := []rune(name); len(r) > longestName {
			name = string(r[:longestName-1]) + "…"
		}
		list = append(list, fmt.Sprintf("%q", name))
	}
	text := strings.Join(list, ", ")
	if left := len(names) - len(list); left > 0 {
		text += fmt.Sprintf(" and %d more", left)
	}
	return text
}

// removedNotes counts the notes among changes that are gone and not moved.
func removedNotes(changes []Change, written map[string]bool) int {
	n := 0
	for _, ch := range changes {
		if ch.New == nil && written[ch.Path] && isNote(ch.Path) && !isMoved(changes, ch.Path) {
			n++
		}
	}
	return n
}

func (g *git) Deleters(ctx context.Context, ours, theirs string, gone []string) (map[string]string, error) {
	args := []string{
		"log", "-z", "--no-show-signature", "--no-renames", "--no-ext-diff", "--diff-filter=D", "--name-only", "--format=%x01%ae%x00%an",
		"--end-of-options", theirs,
	}
	if ours != "" {
		args = append(args, "^"+ours)
	}
	out, err := g.git(ctx, "", append(args, "--")...)
	if err != nil {
		return nil, fmt.Errorf("find out who deleted: %w", err)
	}
	wanted := make(map[string]bool, len(gone))
	for _, name := range gone {
		wanted[name] = true
	}
	by := make(map[string]string, len(gone))
	for row := range strings.SplitSeq(out, "\x01") { // the newest first
		f := strings.Split(row, "\x00")
		if len(f) < 2 {
			continue
		}
		who := cmp.Or(machineOf(f[0]), printable(f[1]))
		for _, name := range f[2:] {
			if name = strings.TrimLeft(name, "\n"); wanted[name] && by[name] == "" {
				by[name] = who
			}
		}
	}
	return by, nil
}

// Look is the command that shows what the remote did.
func (g *git) Look() string {
	dir := g.dir
	if strings.ContainsAny(dir, " '") {
		dir = `"` + dir + `"`
	}
	return "git -C " + dir + " log --stat main.." + theirRef
}
