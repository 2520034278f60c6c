package replica

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Loss says what a change takes away of a note.
type Loss int

// The losses, each worse than the one before.
const (
	NoLoss     Loss = iota
	Rewritten       // it says something else; of many notes at once that is no edit
	Shrunk          // most of its text is gone
	Unreadable      // it was a note, and is none any more
)

// An Overwrite is a file that is not what was committed.
type Overwrite struct {
	Path     string
	Was, Now []byte
}

// Spoiled returns those of some changes of the tree that must not be committed,
// because nobody may have meant them: what lost most of its text or is no note any
// more, and notes that say something else when they are more than Options.MaxDelete
// of all. AllowDelete lets them pass.
func (o Options) Spoiled(changes []Overwrite, notes int) (held []WithheldFile) {
	if o.Loss == nil || o.AllowDelete {
		return nil
	}
	var rewritten []WithheldFile
	for _, ch := range changes {
		switch loss, why := o.Loss(ch.Path, ch.Was, ch.Now, true); loss {
		case Rewritten:
			rewritten = append(rewritten, WithheldFile{Path: ch.Path, Why: why})
		case Shrunk, Unreadable:
			held = append(held, WithheldFile{Path: ch.Path, Why: why})
		case NoLoss:
		}
	}
	if o.tooMuch(len(rewritten), notes) {
		held = append(held, rewritten...)
	}
	slices.SortFunc(held, func(a, b WithheldFile) int { return strings.Compare(a.Path, b.Path) })
	return held
}

// few is how many notes may be lost unasked.
const few = 1

// tooMuch reports whether so many of some notes are not lost unasked.
func (o Options) tooMuch(lost, notes int) bool {
	return o.MaxDelete > 0 && lost > few && float64(lost) > o.MaxDelete*float64(notes)
}

// LossWhy begins the reason why a note that lost its text does not travel.
const LossWhy = "not as it was committed: "

// spoiled is Options.Spoiled for files of the tree that git calls modified.
func (g *git) spoiled(ctx context.Context, modified []string) ([]WithheldFile, error) {
	modified = slices.DeleteFunc(modified, func(name string) bool { return !isNote(name) })
	if g.o.Loss == nil || len(modified) == 0 {
		return nil, nil
	}
	files, err := g.List(ctx, "HEAD")
	if err != nil {
		return nil, fmt.Errorf("look at what was committed: %w", err)
	}
	var ids []string
	notes := 0
	for name, e := range files {
		if isNote(name) {
			notes++
		}
		if slices.Contains(modified, name) && e.plain() {
			ids = append(ids, e.ID)
		}
	}
	slices.Sort(ids)
	was, err := g.Blobs(ctx, slices.Compact(ids))
	if err != nil {
		return nil, fmt.Errorf("look at what was committed: %w", err)
	}
	var changes []Overwrite
	for _, name := range modified {
		at := filepath.Join(g.dir, filepath.FromSlash(name))
		before, ok := was[files[name].ID]
		if info, err := os.Lstat(at); !ok || err != nil || info.Size() > MaxFile {
			continue // hold says what is to be said about it
		}
		now, err := os.ReadFile(at)
		if err == nil {
			changes = append(changes, Overwrite{name, before, now})
		}
	}
	return g.o.Spoiled(changes, notes), nil
}

// mend reports whether what the remote has of a note is damaged while ours, which
// it was before, is not: ours stays, and goes back.
func (m *merging) mend(path string, base, ours, theirs []byte) bool {
	if m.c.o.Loss == nil || !isNote(path) || ours == nil || theirs == nil || !same(ours, base) || same(ours, theirs) {
		return false
	}
	if loss, _ := m.c.o.Loss(path, ours, theirs, false); loss != Unreadable {
		return false
	}
	m.mended = append(m.mended, path)
	return true
}

// overwritten returns the changes that take the text of a note away.
func (m *merging) overwritten() (all []Change) {
	if m.c.o.Loss == nil {
		return nil
	}
	for _, ch := range m.changes {
		if ch.Old != nil && ch.New != nil && isNote(ch.Path) {
			if loss, _ := m.c.o.Loss(ch.Path, ch.Old, ch.New, false); loss != NoLoss {
				all = append(all, ch)
			}
		}
	}
	return all
}

// erasures returns the files that tombstones would erase when the changes are made,
// those left out that go anyway.
func (m *merging) erasures(gone []Change) (all []Change, err error) {
	stone := func(ch Change) bool { return ch.New != nil && strings.HasPrefix(ch.Path, "tombstones/") }
	if m.c.o.Erases == nil || !slices.ContainsFunc(m.changes, stone) {
		return nil, nil
	}
	if all, err = m.c.o.Erases(m.changes); err != nil {
		return nil, fmt.Errorf("look for what tombstones name: %w", err)
	}
	return slices.DeleteFunc(all, func(ch Change) bool {
		return slices.ContainsFunc(gone, func(other Change) bool { return other.Path == ch.Path })
	}), nil
}
