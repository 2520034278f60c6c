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

// shortRule is how long, in characters, the body of a note may be that is a rule as a whole.
const shortRule = 600

// maxRuleBody is how many bytes of a body are looked at.
const maxRuleBody = 32 << 10

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
	case n.Rule != "" || n.Fix != "" || n.HowToApply != "" || len(n.Anchors) > 0:
		return true
	case tagged(n):
		return true
	}
	return directs(n.Title) || slices.ContainsFunc(sentences(cutWords(n.Body, maxRuleBody)), directs)
}

// A statement is a part of a rule that may name what the rule is about.
type statement struct {
	text     string
	commands bool // the commands in it, too
}

// statements returns what of a rule may name what it is about: its anchors, its fields
// and the sentences that tell what to do. What is spoken of in passing is not among
// them, and neither is a command of a sentence that lays nothing down: of a how-to it is
// a step, and who is about to run it needs no telling. A title that only says what the
// note is about counts where the note is short, as rules are.
func statements(n *note.Note) (all []statement) {
	for _, text := range append(slices.Clone(n.Anchors), n.Rule, n.Fix, n.HowToApply) {
		all = append(all, statement{text, true})
	}
	marked := n.Rule != "" || n.Fix != "" || tagged(n)
	directed, laid := directs(n.Title) || marked, laysDown(n.Title) || marked
	short := utf8.RuneCountInString(n.Body) <= shortRule
	for _, s := range sentences(cutWords(n.Body, maxRuleBody)) {
		down := laysDown(s)
		if down || directs(s) || marked && short {
			all = append(all, statement{s, down || marked && short})
			directed, laid = directed || short, laid || short && down
		}
	}
	if directed {
		all = append(all, statement{n.Title, laid}, statement{n.KeyInsight, laysDown(n.KeyInsight)})
	}
	return all
}

// tagged reports whether a note is marked as a rule, whatever its words are.
func tagged(n *note.Note) bool {
	return slices.Contains(ruleTags, strings.ToLower(n.LearningType)) || slices.Contains(ruleTags, strings.ToLower(n.Category)) ||
		slices.ContainsFunc(n.Tags, func(tag string) bool { return slices.Contains(ruleTags, strings.ToLower(tag)) })
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
	folded := foldSentence(sentence)
	return directives().norm(folded) || slices.ContainsFunc(directives().begins, func(p string) bool { return strings.HasPrefix(folded, p) })
}

// laysDown reports whether a sentence lays down what is to be done, always or on a
// condition. "Run make all." is a step; "Always run make all." is more.
func laysDown(sentence string) bool { return directives().norm(foldSentence(sentence)) }

// foldSentence returns the words of a sentence in small letters, with a blank around.
func foldSentence(sentence string) string {
	folded := strings.Map(func(r rune) rune {
		switch {
		case r == '’':
			return '\''
		case unicode.IsLetter(r) || unicode.IsMark(r) || r == '\'':
			return unicode.ToLower(r)
		}
		return ' '
	}, sentence)
	return " " + strings.Join(strings.Fields(folded), " ") + " "
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
		case line == "[begins a rule]":
			to = &d.rules
		case line == "[anywhere]":
			to = &d.anywhere
		default:
			first, _ := utf8.DecodeRuneInString(line)
			spaced := !unicode.In(first, unspaced...)
			if spaced {
				line = " " + line + " "
			} else if to != &d.anywhere {
				line = " " + line
			}
			*to = append(*to, line)
		}
	}
	return d
})

type directivePhrases struct{ begins, rules, anywhere []string }

// norm reports whether the words of a sentence lay something down.
func (d *directivePhrases) norm(folded string) bool {
	return slices.ContainsFunc(d.rules, func(p string) bool { return strings.HasPrefix(folded, p) }) ||
		slices.ContainsFunc(d.anywhere, func(p string) bool { return strings.Contains(folded, p) })
}
