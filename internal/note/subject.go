package note

import (
	"slices"
	"strings"
	"unicode"
)

// maxSubject is the length of a subject at most, in characters.
const maxSubject = 40

// subjectMark begins the tag of a subject. In a file such a tag means nothing.
const subjectMark = "about:"

// Subject returns a text as the subject of a note: in small letters, on one line, cut to its length, without signs that could
// make more of it than a name. Two notes with one subject are about the same matter.
func Subject(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) || strings.ContainsRune("-._/+#", r) {
			return unicode.ToLower(r)
		}
		return ' '
	}, Printable(text))
	return strings.TrimSpace(CutRunes(strings.Join(strings.Fields(text), " "), maxSubject))
}

// SubjectTag is the tag by which an index finds the notes about a subject.
func SubjectTag(about string) string { return subjectMark + Subject(about) }

// SubjectOf returns the subject that a tag of an index names; "" for any other tag.
func SubjectOf(tag string) string {
	if about, ok := strings.CutPrefix(tag, subjectMark); ok {
		return about
	}
	return ""
}

// PathsOf returns where a note holds: the patterns of its path triggers, sorted; none for all of its project.
func PathsOf(n *Note) (all []string) {
	for _, w := range n.When {
		if t, err := ParseTrigger(w); err == nil && t.Kind == OnPath {
			all = append(all, t.Pattern)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
