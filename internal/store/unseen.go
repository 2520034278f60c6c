package store

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"anamnesis/internal/store/layout"
)

// An Unseen is something in the trees that holds notes, or may, and that Anamnesis
// does not read or send.
type Unseen struct {
	Path   string // relative to the root, with what cannot be printed quoted
	Why    string // and what to do
	Folder bool   // nobody knows what stands in it
}

// LookUnseen looks for folders that cannot be read, notes whose names cannot travel, and
// notes that stand too deep. links are the symbolic links and other special files in the
// trees, which no walk enters, and sidecars the files of entities that notes may have
// beside them. All are in byte order.
func LookUnseen(s *Store) (found []Unseen, links, sidecars []string) {
	l := unseenLook{s: s}
	for _, tree := range []string{layout.Memory, layout.Local} {
		if fi, err := os.Lstat(s.Path(tree)); err == nil && !fi.IsDir() {
			l.links = append(l.links, tree)
			continue
		}
		l.look(tree)
	}
	slices.SortFunc(l.found, func(a, b Unseen) int { return strings.Compare(a.Path, b.Path) })
	slices.Sort(l.links)
	slices.Sort(l.sidecars)
	return l.found, l.links, l.sidecars
}

// An unseenLook is one run of LookUnseen.
type unseenLook struct {
	s               *Store
	found           []Unseen
	links, sidecars []string
}

// look looks through one folder, whose entries are not sorted: there may be many.
func (l *unseenLook) look(dir string) {
	s := l.s
	f, err := os.Open(s.Path(dir))
	var entries []fs.DirEntry
	if err == nil {
		entries, err = f.ReadDir(-1)
		_ = f.Close()
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		l.found = append(l.found, Unseen{shown(dir), "it cannot be read (" + cause(err) + "); `chmod u+rwx` it", true})
	}
	for _, e := range entries {
		hidden, p := strings.HasPrefix(e.Name(), "."), dir+"/"+e.Name()
		switch {
		case e.IsDir():
			if !hidden {
				l.look(p)
			}
			continue
		case !e.Type().IsRegular():
			l.links = append(l.links, p)
		case strings.HasSuffix(p, layout.SidecarSuffix) && layout.Of(p) == layout.Sidecar:
			l.sidecars = append(l.sidecars, p)
		}
		if hidden || !strings.HasSuffix(p, layout.NoteSuffix) {
			continue
		}
		if depth := strings.Count(p, "/"); depth > layout.MaxDepth {
			l.found = append(l.found, Unseen{Path: shown(p), Why: "it stands too deep and is not read; move it up"})
		} else if shown(e.Name()) != e.Name() || shown(dir) != dir {
			l.found = append(l.found, Unseen{Path: shown(p), Why: "a character in its name keeps it from travelling; rename it"})
		}
	}
}

func cause(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

// shown returns a path as it may be printed: control characters, backslashes and
// bytes that are no text are written as %XX.
func shown(p string) string {
	if plain(p) {
		return p
	}
	var b strings.Builder
	for i := 0; i < len(p); {
		r, n := utf8.DecodeRuneInString(p[i:])
		if r == utf8.RuneError && n <= 1 || r == '\\' || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			for _, c := range []byte(p[i : i+n]) {
				const hex = "0123456789ABCDEF"
				b.WriteString("%" + string(hex[c>>4]) + string(hex[c&15]))
			}
		} else {
			b.WriteString(p[i : i+n])
		}
		i += n
	}
	return b.String()
}

// plain reports whether a path is printed as it is, without looking for what is rare.
func plain(p string) bool {
	for i := range len(p) {
		if p[i] < ' ' || p[i] >= 0x7f || p[i] == '\\' {
			return false
		}
	}
	return true
}
