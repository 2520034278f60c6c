package recall

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"anamnesis/internal/note"
)

// leastRuleConfidence is how sure a rule is at least that is told before a tool runs.
const leastRuleConfidence = 0.5

// shortRule is the length, in characters, up to which a whole note is one statement.
const shortRule = 600

// ruleTags mark a note that is a rule, whatever its words are.
var ruleTags = []string{
	"anti-pattern", "bug-fix", "convention", "conventions", "correction", "feedback", "fix", "gotcha", "guideline", "pitfall",
	"policy", "rule", "rules", "standard", "warning",
}

// IsRule reports whether a note is a rule: a correction, a convention or a fix. It tells
// what to do, it lasts, and nobody doubts it. That a note merely speaks of a thing makes
// it none.
func IsRule(n *note.Note) bool {
	switch {
	case !n.Type.Durable() || n.Kind != "" || n.Quarantine || n.Speculative || n.Validated == "false":
		return false
	case n.Provenance.Confidence < leastRuleConfidence:
		return false
	case n.Type == note.Procedural || n.Rule != "" || n.Fix != "" || n.HowToApply != "":
		return true
	case slices.Contains(ruleTags, strings.ToLower(n.LearningType)) || slices.Contains(ruleTags, strings.ToLower(n.Category)):
		return true
	case slices.ContainsFunc(n.Tags, func(tag string) bool { return slices.Contains(ruleTags, strings.ToLower(tag)) }):
		return true
	}
	return directs(n.Title) || slices.ContainsFunc(sentences(n.Body), directs)
}

// statements returns what of a rule may name what it is about: its anchors, its title
// and its fields, the body of a short one, and of a longer one the sentences that tell
// what to do. A file that is spoken of in passing is not among them.
func statements(n *note.Note) []string {
	all := append(slices.Clone(n.Anchors), n.Title, n.Rule, n.Fix, n.HowToApply, n.KeyInsight)
	if utf8.RuneCountInString(n.Body) <= shortRule {
		return append(all, n.Body)
	}
	for _, s := range sentences(n.Body) {
		if directs(s) {
			all = append(all, s)
		}
	}
	return all
}

// sentences cuts a text at line ends and behind what ends a sentence.
func sentences(text string) (all []string) {
	for line := range strings.Lines(text) {
		begin, before := 0, rune(0)
		for i, r := range line {
			if unicode.IsSpace(r) && strings.ContainsRune(".!?:;", before) || strings.ContainsRune("。！？", before) {
				all = append(all, line[begin:i])
				begin = i
			}
			before = r
		}
		all = append(all, strings.TrimSpace(line[begin:]))
	}
	return all
}

// directs reports whether a sentence tells what to do or not to do.
func directs(sentence string) bool {
	folded := " " + strings.Map(func(r rune) rune {
		switch {
		case r == '’':
			return '\''
		case unicode.IsLetter(r) || unicode.IsMark(r) || r == '\'':
			return unicode.ToLower(r)
		}
		return ' '
	}, sentence) + " "
	folded = " " + strings.Join(strings.Fields(folded), " ") + " "
	d := directives()
	return slices.ContainsFunc(d.begins, func(p string) bool { return strings.HasPrefix(folded, p) }) ||
		slices.ContainsFunc(d.anywhere, func(p string) bool { return strings.Contains(folded, p) })
}

//go:embed directives.txt
var directivesText string

// directives are the phrases of directives.txt. Those of scripts with spaces stand
// between two.
var directives = sync.OnceValue(func() *directivePhrases {
	d := new(directivePhrases)
	to := &d.begins
	for line := range strings.Lines(directivesText) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#':
		case line == "[begins]":
			to = &d.begins
		case line == "[anywhere]":
			to = &d.anywhere
		default:
			first, _ := utf8.DecodeRuneInString(line)
			spaced := !unicode.In(first, unspaced...)
			if spaced {
				line = " " + line + " "
			} else if to == &d.begins {
				line = " " + line
			}
			*to = append(*to, line)
		}
	}
	return d
})

type directivePhrases struct{ begins, anywhere []string }
