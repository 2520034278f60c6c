package recall

import (
	"iter"
	"slices"
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

// commandMentions returns the commands that stand in code spans, in
// blocks of code and behind a prompt.
func commandMentions(text string) (all []runCommand) {
	add := func(line string) {
		for _, c := range commandsOf(line, 0) {
			if len(all) < 4*maxCommands {
				all = append(all, c)
			}
		}
	}
	fence := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		mark := line[:min(3, len(line))]
		switch {
		case fence != "" && mark == fence:
			fence = ""
		case fence != "":
			add(strings.TrimPrefix(line, "$ "))
		case mark == "```" || mark == "~~~":
			fence = mark
		case strings.HasPrefix(line, "$ "):
			add(line[2:])
		default:
			for {
				_, rest, ok := strings.Cut(line, "`")
				span, after, closed := strings.Cut(rest, "`")
				if !ok || !closed {
					break
				}
				add(strings.TrimPrefix(span, "$ "))
				line = after
			}
		}
	}
	return all
}

// proseNames reports whether a text holds a command outside of code. A program whose
// name is a word of English has to stand where a command would: first, or behind a
// word that calls one.
func proseNames(text, phrase string) bool {
	if phrase == "" {
		return false
	}
	program, _, _ := strings.Cut(phrase, " ")
	for at := 0; ; {
		i := strings.Index(text[at:], phrase)
		if i < 0 {
			return false
		}
		begin, end := at+i, at+i+len(phrase)
		at = end
		if begin > 0 && wordByte(text[begin-1]) || !wordEnds(text[end:]) {
			continue
		}
		if !slices.Contains(verbs, program) {
			return true
		}
		before := strings.TrimRight(text[:begin], " \t\"'*(")
		if before == "" || strings.HasSuffix(before, "\n") || strings.ContainsRune(".:;!?-`", rune(before[len(before)-1])) {
			return true
		}
		last := strings.ToLower(before[strings.LastIndexAny(before, " \t\n(\"'")+1:])
		if slices.Contains(callers, last) || last[len(last)-1] >= 0x80 {
			return true
		}
	}
}

// wordEnds reports whether a word ends before rest. A full stop ends one.
func wordEnds(rest string) bool {
	rest = strings.TrimPrefix(rest, ".")
	return rest == "" || !wordByte(rest[0])
}

func wordByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '-' || c == '.' || c == '/'
}
