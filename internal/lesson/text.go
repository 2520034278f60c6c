package lesson

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"anamnesis/internal/smalltalk"
)

// maxOwn is how many characters of a prompt are looked at: a longer one was pasted,
// and only its beginning is the user's own.
const maxOwn = 4000

// Question reports whether a sentence asks.
func Question(s string) bool {
	s = strings.TrimRightFunc(s, func(r rune) bool {
		return r != '?' && r != '？' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '.'
	})
	return strings.HasSuffix(s, "?") || strings.HasSuffix(s, "？")
}

// OwnWords leaves out of a prompt what was pasted: code in fences, quotes, lines of
// a shell, a table or a log, and everything behind the first maxOwn characters.
func OwnWords(prompt string) string {
	prompt = head(prompt, maxOwn)
	var out strings.Builder
	fence := false
	for line := range strings.Lines(prompt) {
		text := strings.TrimSpace(line)
		if strings.HasPrefix(text, "```") || strings.HasPrefix(text, "~~~") {
			fence = !fence
			continue
		}
		indented := strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t")
		if fence || indented || text == "" || strings.ContainsRune(">|$#%+@<{}[]", rune(text[0])) || logged(text) {
			out.WriteByte('\n')
			continue
		}
		out.WriteString(text)
		out.WriteByte('\n')
	}
	return strings.TrimSpace(out.String())
}

// logged reports whether a line begins as that of a log or a stack does: a word or
// two and a colon, the first of them a level or an error ("npm error: …").
func logged(line string) bool {
	before, _, ok := strings.Cut(line, ":")
	if !ok || len(before) > 40 {
		return false
	}
	before = strings.ToLower(before)
	for _, word := range []string{"error", "exception", "warning", "warn", "fatal", "panic", "traceback", "debug", "info"} {
		if strings.HasSuffix(before, word) {
			return true
		}
	}
	return false
}

// Sentences cuts a text into sentences: at line ends, and behind . ! ? before white
// space, so that a file name stays whole.
func Sentences(text string) (out []string) {
	for line := range strings.Lines(text) {
		line = strings.TrimLeft(strings.TrimSpace(line), "-*• ")
		begin := 0
		runes := []rune(line)
		for i, r := range runes {
			switch {
			case strings.ContainsRune("。！？", r):
			case strings.ContainsRune(".!?", r) && i+1 < len(runes) && unicode.IsSpace(runes[i+1]) && !abbreviation(runes[begin:i]):
			default:
				continue
			}
			out = append(out, strings.TrimSpace(string(runes[begin:i+1])))
			begin = i + 1
		}
		out = append(out, strings.TrimSpace(string(runes[begin:])))
	}
	return slices.DeleteFunc(out, func(s string) bool { return len(smalltalk.Words(s)) == 0 })
}

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

// head returns the first n characters of s.
func head(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// Cut makes one line of a text and cuts it to n characters, between words where that
// loses little.
func Cut(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	s = head(s, n-1)
	if i := strings.LastIndexByte(s, ' '); i > len(s)*2/3 {
		s = s[:i]
	}
	return strings.TrimRight(s, " ,;:.-") + "…"
}

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
