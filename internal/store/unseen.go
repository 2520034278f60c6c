package store

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"anamnesis/internal/layout"
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
// trees, which no walk enters. Both are in byte order.
func LookUnseen(s *Store) (found []Unseen, links []string) {
	for _, tree := range []string{layout.Memory, layout.Local} {
		if fi, err := os.Lstat(s.Path(tree)); err == nil && !fi.IsDir() {
			links = append(links, tree)
			continue
		}
		found, links = s.lookUnseen(tree, found, links)
	}
	slices.SortFunc(found, func(a, b Unseen) int { return strings.Compare(a.Path, b.Path) })
	slices.Sort(links)
	return found, links
}

// lookUnseen looks through one folder, whose entries are not sorted: there may be many.
func (s *Store) lookUnseen(dir string, found []Unseen, links []string) ([]Unseen, []string) {
	f, err := os.Open(s.Path(dir))
	var entries []fs.DirEntry
	if err == nil {
		entries, err = f.ReadDir(-1)
		_ = f.Close()
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		found = append(found, Unseen{Shown(dir), "it cannot be read (" + cause(err) + "); `chmod u+rwx` it", true})
	}
	for _, e := range entries {
		hidden, p := strings.HasPrefix(e.Name(), "."), dir+"/"+e.Name()
		switch {
		case e.IsDir():
			if !hidden {
				found, links = s.lookUnseen(p, found, links)
			}
			continue
		case !e.Type().IsRegular():
			links = append(links, p)
		}
		if hidden || !strings.HasSuffix(p, layout.NoteSuffix) {
			continue
		}
		if depth := strings.Count(p, "/"); depth > layout.MaxDepth {
			found = append(found, Unseen{Path: Shown(p), Why: "it stands too deep and is not read; move it up"})
		} else if Shown(e.Name()) != e.Name() || Shown(dir) != dir {
			found = append(found, Unseen{Path: Shown(p), Why: "a character in its name keeps it from travelling; rename it"})
		}
	}
	return found, links
}

func cause(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

// Shown returns a path as it may be printed: control characters, backslashes and
// bytes that are no text are written as %XX.
func Shown(p string) string {
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
