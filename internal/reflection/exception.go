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
// for them does not: exceptions and conditions, numbers and versions,
// identifiers and paths, names. A group with any is not merged, whatever the
// model says: the general rule alone would be wrong in the excepted case.
//
// It compares words, not meanings, and errs on the side of keeping both notes.
func lostQualifiers(survivor *note.Note, superseded []*note.Note) []string {
	var missing []string
	into := analyse(survivor.Statement())
	for _, n := range superseded {
		for _, q := range qualifiers(n.Statement()) {
			if !into.contains(q) && !slices.Contains(missing, q.text) {
				missing = append(missing, q.text)
			}
		}
	}
	return missing
}

// A qualifier is a part of a text that narrows what the text says.
type qualifier struct {
	text   string   // as it is shown
	tokens []string // all of these must be in the other text
	clause bool     // it is an exception or a condition, and the other text must have one too
}

// An analysis is a text as qualifiers are looked up in it.
type analysis struct {
	words       map[string]bool // as the index analyses it
	exact       map[string]bool // numbers, identifiers and names, in lower case
	conditional bool            // it holds an exception or a condition
	lowered     string
}

func analyse(text string) analysis {
	r := analysis{words: make(map[string]bool), exact: make(map[string]bool), lowered: strings.ToLower(text)}
	for _, w := range index.Words(text) {
		r.words[w] = true
	}
	for _, q := range qualifiers(text) {
		into := r.exact
		if q.clause {
			into, r.conditional = r.words, true // a part of a text may be cut into other words than the whole
		}
		for _, t := range q.tokens {
			into[t] = true
		}
	}
	return r
}

func (r analysis) contains(q qualifier) bool {
	if !q.clause {
		return !slices.ContainsFunc(q.tokens, func(t string) bool { return !r.exact[t] && !r.containsWord(t) })
	}
	return r.conditional && !slices.ContainsFunc(q.tokens, func(t string) bool { return !r.words[t] })
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

// The words that open an exception or a condition. What follows, up to the next
// mark or the next such word, is what is excepted.
const conditions = `except(?: for| on| in| when)?|unless|excluding|apart from|other than|aside from|but not|never|only|not|no|cannot|` +
	`don'?t|doesn'?t|mustn'?t|won'?t|shouldn'?t|without|instead of|rather than|if|when|while|until|during|as long as`

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
	text = strings.ReplaceAll(text, "’", "'")
	var all []qualifier
	for _, m := range regexp.MustCompile(`(?i)(\d+(?:[.:,/_-]\d+)*)(?:\s?(`+units+`)\b|(%|[a-z]{1,3}\b)?)`).FindAllStringSubmatch(text, -1) {
		token := m[1] + unit(m[2]) + strings.ToLower(m[3])
		all = append(all, qualifier{text: strings.TrimSpace(m[0]), tokens: []string{token}})
	}
	for _, id := range index.Identifiers(text, len(text)) {
		all = append(all, qualifier{text: id, tokens: []string{strings.ToLower(id)}})
	}
	for _, name := range names(text) {
		all = append(all, qualifier{text: name, tokens: []string{strings.ToLower(name)}})
	}
	clause := regexp.MustCompile(`(?i)\b(?:` + conditions + `)\b`)
	for _, sentence := range regexp.MustCompile(`[.!?;:,()\n]+(?:\s|$)|\n`).Split(text, -1) {
		found := clause.FindAllStringIndex(sentence, -1)
		for i, at := range found {
			end := len(sentence)
			if i+1 < len(found) {
				end = found[i+1][0]
			}
			q := qualifier{text: strings.TrimSpace(sentence[at[0]:end]), clause: true}
			for _, w := range index.Words(sentence[at[1]:end]) {
				if !index.Stopword(w) {
					q.tokens = append(q.tokens, w)
				}
			}
			if len(q.tokens) > 0 {
				all = append(all, q)
			}
		}
	}
	return all
}

// names lists the words that begin with a capital letter within a sentence.
func names(text string) []string {
	var all []string
	for _, m := range regexp.MustCompile(`[\p{Ll}\d,;)] +["'(]?(\p{Lu}[\p{L}\d]+)`).FindAllStringSubmatch(text, -1) {
		all = append(all, m[1])
	}
	return all
}
