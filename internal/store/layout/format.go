package layout

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// FormatFile, in the tree that travels, says what a program needs for the files of that tree:
//
//	{"format": 1, "writer": "0.2.0", "machine": "studio", "at": "2026-11-27T10:00:00Z"}
//
// format is the version of the form in which the files are kept. A program that knows only a lower
// one neither reads nor writes them. writer is the lowest version of the program that may write;
// an older one reads on. machine and at say who raised it, and when. A store without the file
// has the form 1 and may be written by every version, and this program writes no such file. A
// number is raised only when an older program would do harm; a key or a file that is new
// is no reason, because what is unknown is kept.
const (
	FormatFile = "format.json"
	format     = 1
)

// writer is the version whose rules for writing this source follows: the highest one that a
// FormatFile may ask for. A program that was built of a checkout has no version, and is
// judged by this one. A change that raises the writer of stores raises it here, too.
var writer = version{numbers: [3]int{0, 1, 0}}

// MaxFormat is the most bytes that FormatFile has.
const MaxFormat = 4 << 10

// errNewer means that a store was written in a form that this program does not know.
var errNewer = errors.New("a newer anamnesis wrote it")

// ErrOutdated means that this program is too old to write a store. It may read it.
var ErrOutdated = errors.New("this anamnesis is too old to write the store")

// wayBack ends what is said about a FormatFile: a program that is too old cannot know whether the
// version exists, and anybody who can write to the remote can name one.
const wayBack = "; if none of your machines has such a version, remove the file, here and at the remote, with " +
	"`anamnesis sync --reset-format`"

type formatFile struct {
	Format  int    `json:"format"`
	Writer  string `json:"writer"`
	Machine string `json:"machine"`
	At      string `json:"at"`
}

// CheckFormat returns why a program of a version ("" or "(devel)" for one without) must not write
// the tree of a FormatFile of that content: ErrOutdated when it may read them, another error
// when it must not read them either.
func CheckFormat(content []byte, program string) error {
	var f formatFile
	if err := json.Unmarshal(content, &f); err != nil || f.Format < 1 {
		return fmt.Errorf("%w, or %s is damaged (it holds no {\"format\": NUMBER}): install the newest version, and only if that "+
			"refuses it too, remove the file; nothing was changed%s", errNewer, FormatFile, wayBack)
	}
	if f.Format > format {
		return fmt.Errorf("%w (its files have format %d, this program knows %d): install the version that your other "+
			"machines or agents use; nothing was changed%s", errNewer, f.Format, format, wayBack)
	}
	if f.Writer == "" {
		return nil
	}
	needed, err := parseVersion(f.Writer)
	if err == nil {
		own := writer
		if v, ok := release(program); ok && own.before(v) {
			own = v
		}
		if !own.before(needed) {
			return nil
		}
	}
	return fmt.Errorf("%w: %s says that version %s or newer may write%s, and this is %s; reading works, and nothing was "+
		"changed; `anamnesis upgrade` looks for a newer version%s", ErrOutdated, Memory+"/"+FormatFile, shown(f.Writer), f.raised(),
		called(program), wayBack)
}

// raised says which machine raised the version, as far as the file does.
func (f formatFile) raised() string {
	if f.Machine == "" {
		return " (it does not say which machine asked for that)"
	}
	at := ""
	if f.At != "" {
		at = " on " + shown(f.At)
	}
	return fmt.Sprintf(" (machine %s asked for that%s)", shown(f.Machine), at)
}

// shown is a text of the file as a message has it: anybody can have written it.
func shown(s string) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) {
			return -1
		}
		return r
	}, s)
	if r := []rune(s); len(r) > 40 {
		s = string(r[:40]) + "…"
	}
	return s
}

func called(program string) string {
	if v, ok := release(program); ok {
		return v.String()
	}
	return fmt.Sprintf("a development build that writes as %s does", writer)
}

// MergeFormat returns the stricter of two FormatFiles. Of two that ask for the same the greater bytes
// stay, so that all machines choose alike.
func MergeFormat(a, b []byte) []byte {
	var x, y formatFile
	xerr, yerr := json.Unmarshal(a, &x), json.Unmarshal(b, &y)
	xv, _ := parseVersion(x.Writer)
	yv, _ := parseVersion(y.Writer)
	switch {
	case a == nil || xerr != nil && b != nil:
		return b
	case b == nil || yerr != nil:
		return a
	case x.Format != y.Format:
		if x.Format > y.Format {
			return a
		}
		return b
	case xv.before(yv), !yv.before(xv) && string(a) < string(b):
		return b
	}
	return a
}

// release returns the version of a released program. Go gives builds between releases, and of changed
// files, versions too (v0.2.1-0.20261127101500-0123456789ab, v0.2.0+dirty); they are none.
func release(program string) (version, bool) {
	v, err := parseVersion(program)
	at, commit, between := cutLast(v.pre, "-")
	between = between && len(commit) == 12 && len(at) >= 14 && strings.Trim(at[len(at)-14:], "0123456789") == ""
	return v, err == nil && !between && !strings.Contains(program, "+")
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// A version is three numbers, and what comes before a release (rc.1).
type version struct {
	numbers [3]int
	pre     string
}

func (v version) String() string {
	s := fmt.Sprintf("%d.%d.%d", v.numbers[0], v.numbers[1], v.numbers[2])
	if v.pre != "" {
		s += "-" + v.pre
	}
	return s
}

func parseVersion(s string) (v version, err error) {
	s, _, _ = strings.Cut(strings.TrimPrefix(s, "v"), "+")
	s, v.pre, _ = strings.Cut(s, "-")
	parts := strings.Split(s, ".")
	if len(parts) != len(v.numbers) {
		return v, errors.New("a version has three numbers")
	}
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 10, 31)
		if err != nil {
			return version{}, errors.New("a version has three numbers")
		}
		v.numbers[i] = int(n)
	}
	return v, nil
}

// before reports whether v is older. What comes before a release is older than the release; of two
// such forms of one release none is.
func (v version) before(w version) bool {
	for i, n := range v.numbers {
		if n != w.numbers[i] {
			return n < w.numbers[i]
		}
	}
	return v.pre != "" && w.pre == ""
}
