package store

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"anamnesis/internal/note"

	"github.com/goccy/go-yaml"
)

// A fileKind says what a file under memory/ holds.
type fileKind int

const (
	noteFile fileKind = iota
	sidecarFile
	tombstoneFile
	slotFile
	aliasesFile
	textFile
)

var errUnknownPath = errors.New("a file of that name does not belong into memory/")

// classify says what a path relative to memory/ is for; ok is false for names
// that no store of ours has: absolute, with a step upwards, hidden, or elsewhere.
func classify(name string) (kind fileKind, ok bool) {
	switch name {
	case "projects.yaml":
		return aliasesFile, true
	case ".gitattributes":
		return textFile, true
	}
	odd := func(r rune) bool { return r < ' ' || r == 0x7f || r == '\\' }
	if !fs.ValidPath(name) || path.Clean(name) != name || !utf8.ValidString(name) || strings.ContainsFunc(name, odd) {
		return 0, false
	}
	parts := strings.Split(name, "/")
	if len(parts) < 2 || len(parts) > maxDepth || slices.ContainsFunc(parts, func(p string) bool { return p[0] == '.' }) {
		return 0, false
	}
	switch parts[0] {
	case "procedural", "semantic", "episodic":
		switch {
		case strings.HasSuffix(name, ".entities.yaml"):
			return sidecarFile, true
		case strings.HasSuffix(name, ".md"):
			return noteFile, true
		}
	case "tombstones":
		return tombstoneFile, len(parts) == 2 && strings.HasSuffix(name, ".json")
	case "slots":
		return slotFile, true
	}
	return 0, false
}

// stemID returns the id in the name of a file, empty when there is none.
func stemID(name string) note.ID {
	stem := path.Base(name)
	for _, ext := range []string{".md", ".entities.yaml", ".json"} {
		stem = strings.TrimSuffix(stem, ext)
	}
	id, err := note.ParseID(stem)
	if err != nil {
		return ""
	}
	return id
}

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
func (s *Store) Merger(theirs fs.FS) (func(path string, base, ours, theirs []byte) (merged, other []byte, err error), error) {
	own, err := s.tombstonesOf(note.Portable)
	if err != nil {
		return nil, err
	}
	here, tree := newForgotten(own), theirs
	both := sync.OnceValues(func() (forgotten, error) {
		others, err := tombstonesIn(theirs)
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
		if !f.has(stemID(path)) {
			if merged, other, done, err := s.merged3(tree, path, base, ours, theirs); done || err != nil {
				return merged, other, err
			}
		}
		return f.merge(path, base, ours, theirs)
	}, nil
}

// forgotten holds the tombstones of both sides, lifted ones too.
type forgotten struct {
	byID   map[note.ID]Tombstone
	stones []Tombstone // those that are not lifted
}

func newForgotten(all []Tombstone) forgotten {
	f := forgotten{byID: make(map[note.ID]Tombstone)}
	for _, t := range all {
		if old, ok := f.byID[t.ID]; !ok || t.supersedes(old) {
			f.byID[t.ID] = t
		}
	}
	f.stones = inForce(slices.Collect(maps.Values(f.byID)))
	return f
}

func (f forgotten) has(id note.ID) bool { return f.byID[id].V == 1 }

// recognises reports whether a tombstone knows the note that stands in data, or
// a near-copy of it.
func (f forgotten) recognises(data []byte) bool {
	n, err := note.Parse(data)
	if err != nil {
		return false
	}
	_, ok := Minding(f.stones, n)
	return ok
}

func (f forgotten) merge(name string, base, ours, theirs []byte) (merged, other []byte, err error) {
	kind, ok := classify(name)
	if !ok {
		return nil, nil, &fs.PathError{Op: "merge", Path: name, Err: errUnknownPath}
	}
	switch {
	case kind == tombstoneFile:
		return mergeTombstones(base, ours, theirs), nil, nil
	case same(ours, theirs), same(theirs, base):
		merged = ours
	case same(ours, base), ours == nil:
		merged = theirs
	case theirs == nil:
		merged = ours
	default:
		merged, other = mergeKind(kind, base, ours, theirs)
	}
	switch {
	case merged == nil || len(f.stones) == 0:
		return merged, other, nil
	case kind == sidecarFile && f.has(stemID(name)):
		return nil, nil, nil
	case kind == noteFile:
		merged, other = f.withhold(name, base, merged, other, base != nil && (ours == nil || theirs == nil))
	}
	return merged, other, nil
}

// withhold takes a merged note back that was forgotten. What somebody changed
// without knowing is not lost; what says just what was forgotten is.
func (f forgotten) withhold(name string, base, merged, other []byte, deleted bool) (stays, loses []byte) {
	edited := !same(merged, base)
	v := inPlace
	if f.has(stemID(name)) {
		_, v = judge(f.stones, name, merged)
	}
	if v == inPlace && deleted && edited && f.recognises(merged) {
		v = withheld
	}
	switch {
	case v == inPlace:
		return merged, other
	case v == goes || !edited:
		return nil, nil
	}
	return nil, merged
}

// same reports whether two files are equal; one that is not there differs from an empty one.
func same(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }

func mergeKind(kind fileKind, base, ours, theirs []byte) (merged, other []byte) {
	switch kind {
	case noteFile, slotFile:
		if m := note.Reconcile(base, ours, theirs); m.Asks() {
			return m.Data, m.Other
		} else {
			return m.Data, nil
		}
	case sidecarFile:
		m := note.ReconcileSidecars(base, ours, theirs)
		return m.Data, m.Other
	case aliasesFile:
		return mergeAliases(base, ours, theirs)
	}
	if digest(ours) < digest(theirs) {
		return theirs, ours
	}
	return ours, theirs
}

// mergeAliases merges two forms of projects.yaml as sets of aliases.
func mergeAliases(base, ours, theirs []byte) (merged, other []byte) {
	if digest(ours) < digest(theirs) {
		ours, theirs = theirs, ours
	}
	a, erra := readAliases(ours)
	b, errb := readAliases(theirs)
	switch {
	case errb != nil:
		return ours, theirs
	case erra != nil:
		return theirs, ours
	}
	was, _ := readAliases(base) // a base that cannot be read is none
	var all []Alias
	for _, x := range slices.Concat(a, b) {
		if !slices.Contains(was, x) || slices.Contains(a, x) && slices.Contains(b, x) {
			all = append(all, x)
		}
	}
	return formatAliases(all), nil
}

func readAliases(data []byte) ([]Alias, error) {
	var file struct {
		Aliases []Alias `yaml:"aliases"`
	}
	if err := yaml.Unmarshal(data, &file); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(file.Aliases, func(a Alias) bool { return a.From == "" || a.To == "" || a.From == a.To }), nil
}

// formatAliases writes aliases in the order of their names, each once.
func formatAliases(all []Alias) []byte {
	slices.SortFunc(all, func(a, b Alias) int {
		return strings.Compare(a.From+"\x00"+a.To, b.From+"\x00"+b.To)
	})
	out := []byte("aliases:\n")
	for _, a := range slices.Compact(all) {
		out = append(out, a.line()...)
	}
	return out
}
