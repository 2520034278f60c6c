package learn

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"anamnesis/internal/agent"
	"anamnesis/internal/text"
)

// An Order is a sentence by which a person orders to remember something.
type Order struct {
	Quote Quote
	Rule  string // what is to be remembered, word for word, without the order itself
	Doubt bool   // it is inside a text of several lines, which may have been pasted
}

// Bounds of what is remembered, in characters; one of a script without blanks counts as two.
const (
	minRule = 6
	maxRule = 200
)

// orderIn returns the order that a sentence is, if it is one. A question is none, and neither
// is a sentence that is too long to be one rule. These forms are the only ones that make a rule without a reader;
// docs/eval.md has what they came to on sessions of other people.
func orderIn(sentence string) (rule string, ok bool) {
	s := strings.TrimSpace(sentence)
	if text.IsQuestion(s) {
		return "", false
	}
	forms := orderForms()
	if at := forms.begin.FindStringSubmatchIndex(s); at != nil {
		end := at[1]
		for i := 2; i < len(at); i += 2 { // the clause begins within what was found
			if at[i] >= 0 {
				end = at[i]
			}
		}
		rule = strings.TrimLeft(strings.TrimSpace(s[end:]), "*_ ")
	} else if at := forms.end.FindStringIndex(s); at != nil {
		rule = strings.TrimSpace(s[:at[0]])
	}
	return upper(rule), isRule(rule)
}

// isRule reports whether a sentence has the length of one rule, is no code, and asks nothing.
func isRule(s string) bool {
	n := 0
	for _, r := range s {
		if n++; isDense(r) {
			n++
		}
	}
	return n >= minRule && utf8.RuneCountInString(s) <= maxRule && !text.IsQuestion(s) && !strings.ContainsAny(s[:1], "{[(=;")
}

// Orders returns what the user ordered to remember, in the order of the session.
func Orders(s *agent.Session, clean Clean) (all []Order) {
	said := SaidIn(s, clean)
	for i := range said {
		before := ""
		for _, sentence := range text.Sentences(said[i].Text) {
			if rule, ok := orderIn(sentence); ok {
				all = append(all, Order{QuoteOf(said[i], sentence), rule, inside(s, &said[i], sentence)})
			} else if isRule(before) && orderForms().before.MatchString(sentence) {
				all = append(all, Order{QuoteOf(said[i], before), upper(before), inside(s, &said[i], before)})
			}
			before = sentence
		}
	}
	return all
}

// fewLines is up to how many lines the last line needs no empty line before it.
const fewLines = 3

// inside reports whether a sentence is inside a turn of several lines: it is on neither its first line nor its last, which in
// a long turn is a paragraph. A person gives an order where they speak to the agent, and a page, a chat or
// an issue that was pasted without marks has its orders anywhere. A turn with a heading has none but on its first line.
func inside(s *agent.Session, said *Said, sentence string) bool {
	t := &s.Turns[said.Turn]
	var whole string // what the user gave, typed or pasted
	for _, a := range t.Authors() {
		if a.By != agent.Attached {
			whole += t.Text[a.From:a.To]
		}
	}
	var lines []string // those with words
	var apart []bool   // an empty line is before it
	empty, heading := false, false
	for line := range strings.Lines(whole) {
		if line = strings.TrimSpace(line); line == "" {
			empty = true
			continue
		}
		heading = heading || strings.HasPrefix(strings.TrimLeft(line, "#"), " ") || strings.HasPrefix(line, "```")
		lines, apart, empty = append(lines, line), append(apart, empty), false
	}
	last := len(lines) - 1
	if last < 0 {
		return false
	}
	return !holds(lines[0], sentence) && (heading || !holds(lines[last], sentence) || last >= fewLines && !apart[last])
}

// holds compares as a quote is found.
func holds(line, sentence string) bool { return strings.Contains(letters(line), letters(sentence)) }

// upper begins a sentence with a capital, unless its first word is a name of code.
func upper(s string) string {
	first, _, _ := strings.Cut(s, " ")
	foreign := strings.ContainsFunc(s, func(r rune) bool { return isDense(r) || unicode.Is(unicode.Hangul, r) }) // "npm을"
	if foreign || strings.ContainsAny(first, "_/.@-`=<>(){}0123456789") || strings.ToLower(first) != first {
		return s
	}
	r, n := utf8.DecodeRuneInString(s)
	return strings.ToUpper(string(r)) + s[n:]
}
