package store

import (
	"errors"
	"io/fs"
	"os"
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
// notes that stand too deep.
func LookUnseen(s *Store) (found []Unseen) {
	for _, tree := range []string{layout.Memory, layout.Local} {
		_ = fs.WalkDir(os.DirFS(s.root), tree, func(p string, d fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil
			case err != nil:
				found = append(found, Unseen{Shown(p), "it cannot be read (" + cause(err) + "); `chmod u+rwx` it", true})
				return fs.SkipDir
			case d.IsDir() && strings.HasPrefix(d.Name(), "."):
				return fs.SkipDir
			case d.IsDir() || !strings.HasSuffix(p, layout.NoteSuffix) || strings.HasPrefix(d.Name(), "."):
				return nil
			}
			if depth := strings.Count(p, "/"); depth > layout.MaxDepth {
				found = append(found, Unseen{Path: Shown(p), Why: "it stands too deep and is not read; move it up"})
			} else if Shown(p) != p {
				found = append(found, Unseen{Path: Shown(p), Why: "a character in its name keeps it from travelling; rename it"})
			}
			return nil
		})
	}
	return found
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
