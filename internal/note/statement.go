package note

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Statement returns what a note says: its title and its body.
func (n *Note) Statement() string { return n.Title + "\n" + n.Body }

// Normalize brings a statement into the form in which two of them are
// compared: NFKC, lower case, every run of characters that are neither letters
// nor digits one space. A statement of nothing but symbols stays as it is, so
// that two different ones differ.
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

// A Fingerprint is what a note says, in the form in which two are compared.
type Fingerprint struct {
	Statement string   // normalised
	Words     []string // of the statement
	Body      string   // normalised; empty unless it speaks alone
	BodyWords []string // the last of Words; nil unless the body speaks alone
	Session   bool     // it is what a session did
}

// Fingerprint returns what n says, in the form in which notes are compared.
func (n *Note) Fingerprint() Fingerprint {
	s := FingerprintOf(n.Statement())
	s.Session = n.Type == Episodic
	return s
}

// FingerprintOf returns what a statement says: the title up to the first line feed,
// then the body.
func FingerprintOf(statement string) Fingerprint {
	s := Fingerprint{Statement: Normalize(statement)}
	s.Words = strings.Fields(s.Statement)
	title, body, _ := strings.Cut(statement, "\n")
	if !SelfContained(body) {
		return s
	}
	s.Body, s.BodyWords = s.Statement, s.Words
	// A title of symbols alone leaves nothing in the statement.
	title = Normalize(title)
	if rest, ok := strings.CutPrefix(s.Statement, title+" "); ok && title != "" {
		s.Body, s.BodyWords = rest, s.Words[strings.Count(title, " ")+1:]
	}
	return s
}

// Same reports whether two notes say the same: in the same words, or in the same
// body where that speaks alone.
func (s *Fingerprint) Same(other *Fingerprint) bool {
	return s.Statement == other.Statement || s.Body != "" && s.Body == other.Body
}
