package recall

import (
	_ "embed"
	"slices"
	"strings"
	"unicode"

	"anamnesis/internal/index"
	"anamnesis/internal/text/smalltalk"
)

//go:embed concepts.txt
var conceptSource string

// Bounds of what concepts are looked for in and what they say.
const (
	maxConceptText = 600 // bytes
	maxAsked       = 12  // words
)

// A conceptText is a text in which concepts are looked for. Prompts and notes seldom
// share words: a question about a popup does not say "dialog", and one in Spanish shares none.
type conceptText struct {
	text  string // in lower case
	line  string // its words, with spaces around each
	words []string
	has   map[string]bool
}

// conceptsOf returns the words to ask with for a text: those of its English words, and
// those of words of other languages. The list is read as it stands: to make tables of it
// would cost a process that asks once more than it saves.
func conceptsOf(text string) (sense, translation []string) {
	text = strings.ToLower(cutWords(text, maxConceptText))
	t := conceptText{text: text, words: smalltalk.Words(text), has: make(map[string]bool)}
	t.line = " " + strings.Join(t.words, " ") + " "
	for _, w := range t.words {
		t.has[w] = true
	}
	foreign := !english(t.words)
	for line := range strings.Lines(conceptSource) {
		if line[0] == '#' {
			continue
		}
		ask, words, _ := strings.Cut(strings.TrimSpace(line), ":")
		here, there, _ := strings.Cut(words, ":")
		if t.holds(here) {
			sense = addWords(sense, ask)
		}
		if foreign && t.holds(there) {
			translation = addWords(translation, ask)
		}
	}
	return sense, translation
}

// holds reports whether one of a list of words stands in the text.
func (t *conceptText) holds(list string) bool {
	for word := range strings.FieldsSeq(list) {
		begin, cut := strings.CutSuffix(word, "*")
		switch {
		case cut:
			if strings.Contains(t.line, " "+begin) {
				return true
			}
		case t.has[word]:
			return true
		case strings.ContainsAny(word, "_-"):
			if strings.Contains(t.line, " "+strings.NewReplacer("_", " ", "-", " ").Replace(word)+" ") {
				return true
			}
		case word[0] >= 0xe3 && spaceless(word) && strings.Contains(t.text, word):
			return true
		}
	}
	return false
}

// spaceless reports whether a word is of a script without spaces.
func spaceless(word string) bool {
	return strings.ContainsFunc(word, func(r rune) bool { return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) })
}

// english reports whether many of the words are small English ones: "red" is a net to
// Spaniards alone.
func english(words []string) bool {
	small := 0
	for _, w := range words {
		if index.Stopword(w) {
			small++
		}
	}
	return small >= 2 && 4*small >= len(words)
}

// addWords adds the words of a list, each once, as far as there is room.
func addWords(to []string, list string) []string {
	for w := range strings.FieldsSeq(list) {
		if len(to) < maxAsked && !slices.Contains(to, w) {
			to = append(to, w)
		}
	}
	return to
}
