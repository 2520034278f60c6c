package note

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Statement returns what a note says: its title and its body.
func (n *Note) Statement() string { return n.Title + "\n" + n.Body }

// Normalize returns the words of a statement, for looking notes up and for saying
// how near two are: NFKC, lower case, every run of characters that are neither
// letters nor digits one space. A statement of nothing but symbols stays as it is.
// Equal words do not make two statements the same; Fingerprint.Same says what does.
func Normalize(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	gap := false
	s = norm.NFKC.String(s)
	for _, r := range s {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) {
			gap = b.Len() > 0
			continue
		}
		if gap {
			b.WriteByte(' ')
			gap = false
		}
		b.WriteRune(unicode.ToLower(r))
	}
	if b.Len() == 0 {
		return strings.TrimSpace(s)
	}
	return b.String()
}

// longBody is the number of words from which a body says enough without its title.
const longBody = 8

// SelfContained reports whether a body says enough without its title: two notes of
// that body say the same, whatever their titles are. It has at least eight words
// in which there is a letter or a digit.
func SelfContained(body string) bool {
	words := 0
	for w := range strings.FieldsSeq(body) {
		if strings.ContainsFunc(w, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			words++
		}
		if words == longBody {
			return true
		}
	}
	return false
}

// A Fingerprint is what a note says, in the forms in which two are compared.
type Fingerprint struct {
	Statement string // canonical
	Marks     string // of the statement (see Marks)
	Body      string // canonical; empty unless it is self-contained
	BodyMarks string // empty unless the body is self-contained
	Title     string // the words and marks of the title; empty unless the body is self-contained
	TitleBase string // those of them that are no marks, sorted; empty unless the body is self-contained

	Folded    string   // the statement, normalised
	Words     []string // of Folded
	BodyFold  string   // the end of Folded; empty unless the body is self-contained
	BodyWords []string // the last of Words; nil unless the body is self-contained

	Session bool // it is what a session did
}

// Fingerprint returns what n says, in the forms in which notes are compared.
func (n *Note) Fingerprint() Fingerprint {
	s := FingerprintOf(n.Statement())
	s.Session = n.Type == Episodic
	return s
}

// FingerprintOf returns what a statement says: the title up to the first line feed,
// then the body.
func FingerprintOf(statement string) Fingerprint {
	title, body, _ := strings.Cut(statement, "\n")
	var head, rest canonicaliser
	head.text(title)
	rest.text(body)
	s := Fingerprint{Statement: head.out.String(), Marks: head.marks.String() + rest.marks.String(), Folded: Normalize(statement)}
	if rest.out.Len() > 0 {
		s.Statement += "\n" + rest.out.String()
	}
	s.Words = strings.Fields(s.Folded)
	if !SelfContained(body) {
		return s
	}
	s.Body, s.BodyMarks = rest.out.String(), rest.marks.String()
	s.Title = head.prose.String() + "\n" + s.Marks[:head.marks.Len()]
	base := strings.Fields(head.prose.String())
	slices.Sort(base)
	s.TitleBase = strings.Join(base, " ")
	s.BodyFold, s.BodyWords = s.Folded, s.Words
	// A title of symbols alone leaves nothing in the statement.
	title = Normalize(title)
	if rest, ok := strings.CutPrefix(s.Folded, title+" "); ok && title != "" {
		s.BodyFold, s.BodyWords = rest, s.Words[strings.Count(title, " ")+1:]
	}
	return s
}

// Same reports whether two notes say the same: they have the same canonical
// statement, or the same self-contained body under titles that do not contradict
// each other. Everything that asks whether something is known already asks this:
// adding, forgetting, duplicates, tombstones, imports, merges.
func (s *Fingerprint) Same(other *Fingerprint) bool {
	return s.Statement == other.Statement ||
		s.Body != "" && s.Body == other.Body && !contradict(s.Title, s.TitleBase, other.Title, other.TitleBase)
}

// Key is the same of two statements that say the same, and of some others.
func (s *Fingerprint) Key() string { return cmp.Or(s.Body, "\x00"+s.Statement) }

// contradict reports whether two titles differ in their marks or their order alone:
// "Use C++ here" and "Use C# here", "Port 80" and "Port 8080". Each is given as in a Fingerprint.
func contradict(title, base, other, otherBase string) bool {
	return title != other && base == otherBase
}

// Near reports whether two notes may be taken for repetitions of each other, if
// they share enough words: no number, operator, sign, name or negation differs.
func (s *Fingerprint) Near(other *Fingerprint) bool { return s.Marks == other.Marks }
