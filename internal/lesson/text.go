package lesson

import (
	"regexp"
	"strings"
	"sync"

	"anamnesis/internal/agent"
	"anamnesis/internal/text"
)

// maxOwn is how many characters of a prompt are looked at.
const maxOwn = 4000

// Question reports whether a sentence asks.
func Question(s string) bool { return text.IsQuestion(s) }

// OwnWords leaves out of a prompt what was pasted or quoted, and what stands behind the
// first maxOwn characters.
func OwnWords(prompt string) string {
	turn := agent.Turn{Role: agent.User, Text: head(prompt, maxOwn)}
	return strings.Join(turn.Typed(), "\n")
}

// Sentences cuts a text into sentences.
func Sentences(s string) []string { return text.Sentences(s) }

// head returns the first n characters of s.
func head(s string, n int) string { return text.Head(s, n) }

// Cut makes one line of a text and cuts it to n characters.
func Cut(s string, n int) string { return text.Cut(s, n) }

// list makes words of a text when they are first asked for: every hook pays for what is
// made before main.
func list(text string) func() []string {
	return sync.OnceValue(func() []string { return strings.Fields(text) })
}

// form is an expression that is compiled when it is asked for: hooks that learn nothing
// do not pay for it.
func form(parts ...string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(strings.Join(parts, "")) })
}
