package recall

import (
	"iter"
	"strings"
	"unicode"
)

// pathWords yields the words of a text that may be paths, patterns of paths or
// symbols, without line numbers. Scripts that write no spaces end a word.
func pathWords(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		start := -1
		for i, r := range text + " " {
			inside := r < 0x80 && (r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune(`_-./\*@:~+`, r)) ||
				r >= 0x80 && r != unicode.ReplacementChar && unicode.IsLetter(r) && !unicode.In(r, unspaced...)
			switch {
			case inside && start < 0:
				start = i
			case !inside && start >= 0:
				word := text[start:i]
				start = -1
				if len(word) > 256 {
					continue
				}
				if !yield(withoutLine(strings.TrimLeft(strings.ReplaceAll(word, `\`, "/"), ":-@+"))) {
					return
				}
			}
		}
	}
}

// unspaced are the scripts whose words are not set apart.
var unspaced = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

// withoutLine cuts a line and a column off a file: "pool.go:42:7".
func withoutLine(w string) string {
	for {
		i := strings.LastIndexByte(w, ':')
		if i <= 0 || strings.Trim(w[i+1:], "0123456789") != "" {
			return w
		}
		w = w[:i]
	}
}
