package recall

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode"

	"anamnesis/internal/index"
	"anamnesis/internal/smalltalk"
)

//go:embed concepts.txt
var conceptSource string

// concepts know what words of a prompt are about. Prompts and notes seldom share words:
// who asks for a popup does not say "dialog", and who writes Spanish shares none.
type concepts struct {
	english, foreign map[string][]int // by word or phrase: lines of asks
	begins           []beginning      // words that stand for all that begin so
	scripts          []beginning      // of scripts without spaces: they stand anywhere
	asks             [][]string
	most             int // words of the longest phrase
}

type beginning struct {
	text string
	ask  int
}

// loadConcepts reads the list when somebody asks for the first time.
var loadConcepts = sync.OnceValue(func() *concepts {
	c := &concepts{english: make(map[string][]int), foreign: make(map[string][]int), most: 1}
	for line := range strings.Lines(conceptSource) {
		fields := strings.Split(strings.TrimSpace(line), ":")
		if len(fields) != 3 || strings.HasPrefix(line, "#") {
			continue
		}
		ask := len(c.asks)
		c.asks = append(c.asks, strings.Fields(fields[0]))
		for _, w := range strings.Fields(fields[1]) {
			c.add(c.english, w, ask)
		}
		for _, w := range strings.Fields(fields[2]) {
			c.addForeign(w, ask)
		}
	}
	return c
})

func (c *concepts) add(to map[string][]int, word string, ask int) {
	phrase := strings.Join(smalltalk.Words(strings.ReplaceAll(word, "_", " ")), " ")
	to[phrase] = append(to[phrase], ask)
	c.most = max(c.most, strings.Count(phrase, " ")+1)
}

func (c *concepts) addForeign(word string, ask int) {
	switch begin, cut := strings.CutSuffix(word, "*"); {
	case cut:
		c.begins = append(c.begins, beginning{begin, ask})
	case spaceless(word):
		c.scripts = append(c.scripts, beginning{word, ask})
	default:
		c.add(c.foreign, word, ask)
	}
}

// spaceless reports whether a word is of a script without spaces.
func spaceless(word string) bool {
	return strings.ContainsFunc(word, func(r rune) bool { return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) })
}

// Bounds of what concepts are looked for in and what they say.
const (
	maxConceptText = 600 // bytes
	maxAsked       = 12  // words
)

// of returns the words to ask with for a text: those of its English words, and those of
// words of other languages.
func (c *concepts) of(text string) (sense, translation []string) {
	text = strings.ToLower(cutWords(text, maxConceptText))
	words := smalltalk.Words(text)
	var here, there []int
	for at := range words {
		for n := min(c.most, len(words)-at); n > 0; n-- {
			phrase := strings.Join(words[at:at+n], " ")
			here, there = append(here, c.english[phrase]...), append(there, c.foreign[phrase]...)
		}
		for _, b := range c.begins {
			if strings.HasPrefix(words[at], b.text) {
				there = append(there, b.ask)
			}
		}
	}
	for _, s := range c.scripts {
		if strings.Contains(text, s.text) {
			there = append(there, s.ask)
		}
	}
	if english(words) {
		there = nil
	}
	return c.words(here), c.words(there)
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

// words returns the words of lines, each once.
func (c *concepts) words(lines []int) (all []string) {
	for _, line := range lines {
		for _, w := range c.asks[line] {
			if !slices.Contains(all, w) && len(all) < maxAsked {
				all = append(all, w)
			}
		}
	}
	return all
}
