// Package smalltalk knows the texts of a conversation that carry no subject:
// thanks, greetings, "go on", "stop", in the languages that developers write in.
// Such a text asks nothing of a memory, and nothing of it is worth a note.
//
// The phrases are data (phrases.txt). A text is small talk when phrases cover it
// from its first word to its last; one word more and it has a subject.
package smalltalk

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

//go:embed phrases.txt
var source string

//go:embed carriers.txt
var carrierSource string

// A Kind is what a text of small talk does.
type Kind int

// The kinds. Of a text with phrases of several kinds the last here counts.
const (
	None    Kind = iota // the text has a subject
	Closing             // thanks, praise, a greeting: nothing follows from it
	GoAhead             // an acknowledgement: work goes on as it was proposed
	Stop                // a refusal or a halt, without saying what of
)

// maxTokens is the length of the longest text that is looked at: words, and
// characters of scripts without spaces.
const maxTokens = 40

// Of returns the kind of a text. A text without a letter or a digit (an emoji, an
// exclamation mark) is Closing; an empty one has no subject either.
func Of(text string) Kind {
	if len(text) > 16*maxTokens { // no phrase has longer words
		return None
	}
	tokens := Words(text)
	if len(tokens) > maxTokens || slices.ContainsFunc(tokens, strange) {
		return None
	}
	t := load()
	kind := Closing
	for at := 0; at < len(tokens); {
		n, k := t.longest(tokens[at:])
		if n == 0 {
			return None
		}
		if at == 0 || k > kind {
			kind = k
		}
		at += n
	}
	return kind
}

// Subject reports whether a text has its own subject: a word that is neither
// part of a phrase nor a carrier, such as a pronoun or "again". "yes, do that one
// too" has none. Of is stricter: it knows what a text does, and this one only that it
// asks nothing of a memory. What is longer than people type in passing has a subject,
// and so has what holds signs of code or of paths.
func Subject(text string) bool {
	if len(text) > 16*maxTokens || strings.ContainsAny(text, "`$/\\_#@=<>{}[]|~^*&%+") {
		return true
	}
	tokens := Words(text)
	if len(tokens) > maxTokens || slices.ContainsFunc(tokens, strange) {
		return true
	}
	phrases, carriers := load(), loadCarriers()
	asks := strings.ContainsAny(text, "?？") || slices.ContainsFunc(tokens, func(t string) bool { return questionWords[t] })
	deeds := false // the word before was one
	for at := 0; at < len(tokens); {
		n, _ := phrases.longest(tokens[at:])
		m, kind := carriers.longest(tokens[at:])
		is := kind == deed && m > n
		if is && (asks || deeds) { // "redo log" is the name of a thing
			return true
		}
		if deeds, n = is, max(n, m); n == 0 && (number(tokens[at]) || len(tokens) == 1 && len(tokens[0]) == 1) {
			n = 1
		}
		if n == 0 {
			return true
		}
		at += n
	}
	return false
}

// strange reports whether a token stands in no list, not even as a part of a word. Most
// texts have one, and to see that costs less than to make the tables.
func strange(token string) bool {
	return len(token) > 1 && !number(token) && !strings.Contains(source, token) && !strings.Contains(carrierSource, token)
}

// questionWords make a question of a text that could be an order without them.
var questionWords = map[string]bool{
	"how": true, "what": true, "which": true, "who": true, "why": true, "when": true, "where": true,
	"wie": true, "was": true, "wer": true, "wo": true, "wann": true, "warum": true, "comment": true, "pourquoi": true, "quand": true,
	"où": true, "cómo": true, "qué": true, "cuándo": true, "dónde": true, "como": true, "quando": true, "onde": true, "come": true,
	"dove": true, "jak": true, "gdzie": true, "kiedy": true, "как": true, "где": true, "когда": true, "почему": true,
}

// number reports whether a token is digits alone, as options are called.
func number(token string) bool { return strings.Trim(token, "0123456789") == "" }

// The kinds of carriers.
const (
	carrier Kind = iota + 1
	deed
)

// loadCarriers reads the carriers when somebody asks for the first time.
var loadCarriers = sync.OnceValue(func() *table {
	t := &table{phrases: make(map[string]Kind, 4000)}
	for i, lines := range Sections(carrierSource, "words", "deeds") {
		for _, line := range lines {
			words := strings.Fields(line)
			if strings.HasPrefix(line, `"`) {
				words = strings.Split(strings.Trim(line, `"`), `" "`)
			}
			for _, word := range words {
				t.add(word, carrier+Kind(i))
			}
		}
	}
	return t
})

// A table holds the phrases, each as its tokens with spaces between.
type table struct {
	phrases map[string]Kind
	most    int // tokens of the longest
}

// add adds a phrase; of one that is there already the first kind stands.
func (t *table) add(phrase string, kind Kind) {
	tokens := Words(phrase)
	t.most = max(t.most, len(tokens))
	if key := strings.Join(tokens, " "); t.phrases[key] == None {
		t.phrases[key] = kind
	}
}

// longest returns how many tokens the longest phrase at their beginning has.
func (t *table) longest(tokens []string) (n int, kind Kind) {
	for n := min(t.most, len(tokens)); n > 0; n-- {
		if k, ok := t.phrases[strings.Join(tokens[:n], " ")]; ok {
			return n, k
		}
	}
	return 0, None
}

// load reads the phrases when somebody asks for the first time; a process that
// does not ask pays nothing.
var load = sync.OnceValue(func() *table {
	t := &table{phrases: make(map[string]Kind, 4000)}
	for i, lines := range Sections(source, "closing", "go-ahead", "stop") {
		for _, line := range lines {
			t.add(line, Closing+Kind(i))
		}
	}
	return t
})

// Sections returns the lines of a list of phrases by section, in the order of names.
// A section begins at its name between brackets; empty lines and comments are left
// out. The lists are part of the program: a section without a name here is a panic.
func Sections(list string, names ...string) [][]string {
	out := make([][]string, len(names))
	at := -1
	for line := range strings.Lines(list) {
		switch line = strings.TrimSpace(line); {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			at = slices.Index(names, strings.Trim(line, "[]"))
			if at < 0 {
				panic("a list of phrases has an unknown section " + line)
			}
		default:
			out[at] = append(out[at], line)
		}
	}
	return out
}

// Words splits a text as phrases are compared: into words in lower case. What is no
// letter, digit or mark stands between words; a character of a script without
// spaces is a word.
func Words(text string) []string {
	var tokens []string
	var word strings.Builder
	end := func() {
		if word.Len() > 0 {
			tokens = append(tokens, word.String())
			word.Reset()
		}
	}
	for _, r := range text {
		switch {
		case r < utf8.RuneSelf: // most of them
			switch {
			case 'A' <= r && r <= 'Z':
				word.WriteByte(byte(r) + 'a' - 'A')
			case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
				word.WriteByte(byte(r))
			default:
				end()
			}
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) || r == 'ー':
			end()
			tokens = append(tokens, string(r))
		case unicode.In(r, unicode.Variation_Selector): // of an emoji
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r):
			word.WriteRune(unicode.ToLower(r))
		default:
			end()
		}
	}
	end()
	return tokens
}
