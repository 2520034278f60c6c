// Package anchor ties a note to the code that it names, and tells when that code has
// moved on.
//
// A stamp is taken when a note is written: the file or the symbol that its words name,
// and a hash of the lines that define it. Later the same lines are looked up in the
// clone: they are the same, they changed, they stand in another file, or they are gone.
// White space does not count. What the words of a note do not name is not stamped: a
// file that was merely edited beside a rule says nothing of the rule.
//
// A clone is hostile: files are opened below its root only (os.Root), no link leads out
// of it, nothing is executed, and how much is read is bounded.
package anchor

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"path"
	"slices"
	"strings"
)

// A Stamp is one thing that a note names, as it was when the note was written. Its text
// form is FILE@HASH or FILE#NAME@HASH, which a note keeps in its field anchor_hashes.
type Stamp struct {
	File string // below the root of the clone, with slashes
	Name string // of a symbol, or of a target of a build file; "" for the file itself
	Hash string // of the lines that define it, 16 hexadecimal digits
}

// String returns the text form.
func (s Stamp) String() string {
	return s.About() + "@" + s.Hash
}

// About names what is stamped.
func (s Stamp) About() string {
	if s.Name == "" {
		return s.File
	}
	return s.File + "#" + s.Name
}

// Parse reads the text form. What is no stamp, or names a path that leads out of a
// clone, is refused.
func Parse(text string) (s Stamp, ok bool) {
	about, hash, _ := strings.Cut(reverse(text), "@") // a path may hold another @
	s.Hash, about = reverse(about), reverse(hash)
	if len(s.Hash) != hashSize || strings.Trim(s.Hash, "0123456789abcdef") != "" {
		return Stamp{}, false
	}
	s.File, s.Name, _ = strings.Cut(about, "#")
	if !inside(s.File) || strings.ContainsAny(s.Name, "\n\x00") || len(about) > maxAbout {
		return Stamp{}, false
	}
	return s, true
}

// ParseAll reads the stamps of a note, and leaves out what is none.
func ParseAll(texts []string) (all []Stamp) {
	for _, text := range texts[:min(len(texts), 2*maxStamps)] {
		if s, ok := Parse(text); ok {
			all = append(all, s)
		}
	}
	return all
}

// hashSize is how many digits of a SHA-256 are kept: enough to tell two states of a few
// lines apart, and too few to find out the lines.
const hashSize = 16

// maxAbout is how long a file and a name are at most, in bytes.
const maxAbout = 300

// inside reports whether a path stays below the root it is read from.
func inside(file string) bool {
	return file != "" && !path.IsAbs(file) && path.Clean(file) == file && file != ".." && !strings.HasPrefix(file, "../") &&
		!strings.ContainsAny(file, "\\\n\x00")
}

func reverse(s string) string {
	b := []byte(s)
	slices.Reverse(b)
	return string(b)
}

// A State says what became of something that a note names.
type State string

// The states, from the best.
const (
	Same    State = "same"
	Moved   State = "moved"   // the file is elsewhere in the clone, or the symbol in another file that the note names
	Changed State = "changed" // the lines that define it are others
	Gone    State = "gone"    // the file, or the symbol in it, is not there
	Unknown State = "unknown" // it could not be looked up: too large, not readable
)

// A Finding is a stamp and what became of it.
type Finding struct {
	Stamp
	State State
	Where string // of what moved: where it is now
}

// Worst sums up what became of all that a note names: Gone only when nothing of it is
// left, Changed when some of it is not as it was, Same when all is or nobody knows.
func Worst(all []Finding) State {
	gone, known, worst := 0, 0, Same
	for _, f := range all {
		switch f.State {
		case Unknown:
			continue
		case Gone:
			gone++
			worst = Changed
		case Changed:
			worst = Changed
		case Moved:
			if worst == Same {
				worst = Moved
			}
		}
		known++
	}
	if gone > 0 && gone == known {
		return Gone
	}
	return worst
}

// hash is that of the words of some lines.
func hash(lines []string) string {
	h := sha256.New()
	for _, l := range lines {
		if words := strings.Fields(l); len(words) > 0 {
			h.Write([]byte(strings.Join(words, " ") + "\n"))
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:hashSize]
}

// sorted returns stamps in the order of their names, each once.
func sorted(all []Stamp) []Stamp {
	slices.SortFunc(all, func(a, b Stamp) int {
		return cmp.Or(strings.Compare(a.File, b.File), strings.Compare(a.Name, b.Name), strings.Compare(a.Hash, b.Hash))
	})
	return slices.CompactFunc(all, func(a, b Stamp) bool { return a.About() == b.About() })
}
