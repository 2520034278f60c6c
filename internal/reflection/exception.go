package reflection

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
)

// lostQualifiers lists what the notes of a group say that the text which is to stand
// for them does not: exceptions, conditions and prohibitions, bounds, numbers and
// versions, identifiers and paths, names; and where it says the opposite, or says
// it less firmly. A group with any is not merged, unless a person has confirmed it:
// the general rule alone would be wrong in the excepted case.
//
// It compares words, not meanings. A clause may be opened by another word of the same
// kind ("when", "whenever") and may use a long form for a short one ("DB",
// "database"). What it cannot decide it lists, which keeps both notes.
func lostQualifiers(survivor *note.Note, superseded []*note.Note) []string {
	var missing []string
	into := analyse(survivor.Statement())
	for _, n := range superseded {
		from := analyse(n.Statement())
		lost := append(into.reversed(from), into.weakened(from)...)
		for _, q := range from.qualifiers {
			if !into.contains(q, from) {
				lost = append(lost, q.text)
			}
		}
		for _, text := range lost {
			if !slices.Contains(missing, text) {
				missing = append(missing, text)
			}
		}
	}
	return missing
}

// A qualifier is a part of a text that narrows what the text says.
type qualifier struct {
	text    string   // as it is shown
	tokens  []string // all of these must be in the other text
	kind    kind     // of a clause; 0 is a number, an identifier or a name
	piece   []string // of a clause: the words of the text between two marks that it is in
	several bool     // of a clause: it holds "and" or "or"
}

// An analysis is a text as qualifiers are looked up in it.
type analysis struct {
	words      map[string]bool // as the index analyses it, short forms written out
	exact      map[string]bool // numbers, identifiers and names, in lower case
	qualifiers []qualifier
	sentences  []utterance
	lowered    string
}

func analyse(text string) analysis {
	text = strings.ReplaceAll(text, "’", "'")
	r := analysis{words: make(map[string]bool), exact: make(map[string]bool), qualifiers: qualifiers(text)}
	long := writtenOut(text)
	r.lowered = strings.ToLower(long)
	for _, w := range index.Words(long) {
		r.words[w] = true
	}
	for _, q := range r.qualifiers {
		into := r.exact
		if q.kind != 0 {
			into = r.words // a part of a text may be cut into other words than the whole
		}
		for _, t := range q.tokens {
			into[t] = true
		}
	}
	r.sentences = utterances(long)
	return r
}

// contains reports whether the text says what q says; from is the text of q.
func (r analysis) contains(q qualifier, from analysis) bool {
	if q.kind == 0 {
		return !slices.ContainsFunc(q.tokens, func(t string) bool { return !r.exact[t] && !r.containsWord(t) })
	}
	return slices.ContainsFunc(r.qualifiers, func(c qualifier) bool { return c.says(q, from) })
}

// containsWord finds a name or an identifier that stands in the text in another
// way: at the beginning of a sentence, between quotes. A number is found among
// the numbers only, or 3 would be found in 30.
func (r analysis) containsWord(t string) bool {
	if strings.ContainsFunc(t, unicode.IsDigit) {
		return false
	}
	for at := 0; ; {
		i := strings.Index(r.lowered[at:], t)
		if i < 0 {
			return false
		}
		start, end := at+i, at+i+len(t)
		if !letter(r.lowered, start-1) && !letter(r.lowered, end) {
			return true
		}
		at = end
	}
}

func letter(s string, i int) bool {
	return i >= 0 && i < len(s) && (s[i] >= 'a' && s[i] <= 'z' || s[i] >= '0' && s[i] <= '9' || s[i] >= 0x80)
}

// units are words behind a number that belong to it.
const units = `ms|milliseconds?|s|secs?|seconds?|mins?|minutes?|h|hours?|days?|weeks?|months?|years?|times|percent|[kmgt]i?b|bytes?`

// unit brings the spellings of a unit together.
func unit(word string) string {
	word = strings.ToLower(word)
	for _, u := range [...]string{"milli", "sec", "min", "hour", "day", "week", "month", "year", "byte"} {
		if strings.HasPrefix(word, u) {
			word = u
		}
	}
	switch word {
	case "milli":
		return "ms"
	case "sec":
		return "s"
	case "hour":
		return "h"
	case "percent":
		return "%"
	}
	return word
}

// qualifiers lists what narrows a text.
func qualifiers(text string) []qualifier {
	all := numbers(text)
	for _, id := range index.Identifiers(text, len(text)) {
		all = append(all, qualifier{text: id, tokens: []string{strings.ToLower(id)}})
	}
	for _, m := range forms().code.FindAllStringSubmatch(text, -1) {
		all = append(all, qualifier{text: m[1], tokens: []string{strings.ToLower(m[1])}})
	}
	for _, name := range names(text) {
		all = append(all, qualifier{text: name, tokens: []string{strings.ToLower(writtenOut(name))}})
	}
	return append(all, clauses(writtenOut(text))...)
}

// numbers lists the numbers of a text with their signs and units, and what bounds them.
func numbers(text string) (all []qualifier) {
	for _, m := range forms().number.FindAllStringSubmatchIndex(text, -1) {
		part := func(i int) string {
			if m[i] < 0 {
				return ""
			}
			return text[m[i]:m[i+1]]
		}
		sign := ""
		if at := m[0]; at > 0 && text[at-1] == '-' && (at == 1 || strings.IndexByte(" \t\n(=<>:[,", text[at-2]) >= 0) {
			sign = "-"
		}
		token := sign + part(2) + unit(part(4)) + strings.ToLower(part(6))
		all = append(all, qualifier{text: sign + strings.TrimSpace(part(0)), tokens: []string{token}})
	}
	bound := func(whole, word, number string) {
		all = append(all, qualifier{text: whole, tokens: []string{boundOf(word) + " " + number}})
	}
	for _, m := range forms().bound.FindAllStringSubmatch(text, -1) {
		bound(m[0], m[1], m[2])
	}
	for _, m := range forms().boundAfter.FindAllStringSubmatch(text, -1) {
		bound(m[0], m[2], m[1])
	}
	return all
}

// boundOf brings the ways to write a bound together.
func boundOf(word string) string {
	switch strings.ToLower(word) {
	case "at least", "no less than", "no fewer than", "or more", "≥":
		return ">="
	case "at most", "no more than", "up to", "or less", "or fewer", "≤":
		return "<="
	case "more than", "over", "above":
		return ">"
	case "less than", "fewer than", "under", "below":
		return "<"
	case "exactly":
		return "=="
	case "≠":
		return "!="
	}
	return word
}

// names lists the words that begin with a capital letter within a sentence.
func names(text string) []string {
	var all []string
	for _, m := range regexp.MustCompile(`[\p{Ll}\d,;)] +["'(]?(\p{Lu}[\p{L}\d]+)`).FindAllStringSubmatch(text, -1) {
		all = append(all, m[1])
	}
	return all
}
