// Package text knows the form of what people write to an agent: where a sentence ends, whether
// it asks, and which blocks of a prompt were pasted and not typed.
//
// It decides by form only (lines, indentation, marks, punctuation), never by the meaning of a
// word, so that it works in every language. All functions are pure and safe for concurrent use,
// and none of them panics, whatever the input.
package text

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// IsQuestion reports whether a sentence asks.
func IsQuestion(s string) bool {
	s = strings.TrimRightFunc(s, func(r rune) bool {
		return r != '?' && r != '？' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '.'
	})
	return strings.HasSuffix(s, "?") || strings.HasSuffix(s, "？")
}

// Sentences cuts a text into sentences: at line ends, and behind . ! ? before white
// space, so that a file name stays whole, also where a quotation or a bracket ends with them and a
// capital letter follows. The marks of list items are cut away.
func Sentences(s string) (out []string) {
	for line := range strings.Lines(s) {
		line = strings.TrimLeft(strings.TrimSpace(line), "-*• ")
		begin := 0
		runes := []rune(line)
		for i, r := range runes {
			switch {
			case strings.ContainsRune("。！？", r):
			case strings.ContainsRune(".!?", r) && i+1 < len(runes) && unicode.IsSpace(runes[i+1]) && !abbreviation(runes[begin:i]):
			case i > begin && closes(runes[i-1:]):
			default:
				continue
			}
			out = append(out, strings.TrimSpace(string(runes[begin:i+1])))
			begin = i + 1
		}
		out = append(out, strings.TrimSpace(string(runes[begin:])))
	}
	return slices.DeleteFunc(out, func(s string) bool { return !strings.ContainsFunc(s, isWord) })
}

// closes reports whether runes begin with the end of a sentence, the end of a quotation or a bracket, and a capital letter behind
// white space.
func closes(runes []rune) bool {
	if len(runes) < 4 || !strings.ContainsRune(".!?", runes[0]) || !strings.ContainsRune("\"'”’»)", runes[1]) || !unicode.IsSpace(runes[2]) {
		return false
	}
	return unicode.IsUpper(runes[3])
}

// isWord reports whether r can stand in a word.
func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// abbreviation reports whether the last word is one that ends in a full stop
// without ending a sentence.
func abbreviation(before []rune) bool {
	words := strings.Fields(strings.ToLower(string(before)))
	if len(words) == 0 {
		return true // the number of a list
	}
	switch words[len(words)-1] {
	case "e.g", "i.e", "z.b", "d.h", "vs", "etc", "bzw", "ca", "no", "nr":
		return words[len(words)-1] != "no" || len(words) > 1
	}
	return false
}

// Head returns the first n characters of s.
func Head(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// Folded is a text as two copies of it are compared: in small letters, with one space between words.
func Folded(s string) string { return strings.Join(strings.Fields(strings.ToLower(s)), " ") }

// Cut makes one line of a text and cuts it to n characters, between words where that
// loses little.
func Cut(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	s = Head(s, n-1)
	if i := strings.LastIndexByte(s, ' '); i > len(s)*2/3 {
		s = s[:i]
	}
	return strings.TrimRight(s, " ,;:.-") + "…"
}
