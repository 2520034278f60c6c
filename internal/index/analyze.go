package index

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxToken is the longest word that is indexed, in bytes. What is longer is a
// hash or an encoded file, and nobody types it into a search.
const maxToken = 64

// An analyzer turns text into tokens. Documents and questions go through the
// same one, so that all backends agree; a backend sees tokens only. Tokens
// hold lower-case ASCII letters, digits, '_' and non-ASCII characters, and
// nothing else.
//
//   - Words are folded (case, width, accents) and stemmed when they are plain English letters.
//   - Identifiers, paths, versions and flags are kept whole, joined by '_', and split:
//     "payments.proto" is payments_proto, payments, proto; "recalcTax" is recalctax, recalc, tax.
//   - Scripts without spaces become bigrams; documents also get their single Han characters.
type analyzer struct {
	document bool
	stem     *stemmer
	emit     func(token string)
	words    []string // of the chunk at hand
	buf      []byte
}

func (a *analyzer) analyze(text string) {
	for i := 0; i < len(text); {
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(text[i:])
		}
		if !wordRune(r) {
			i += size
			continue
		}
		end, plain := chunkEnd(text, i)
		chunk := text[i:end]
		i = end
		if !plain {
			chunk = fold(chunk)
		}
		a.chunk(chunk)
	}
}

// chunkEnd returns where the run of words and joiners that begins at i ends.
// A joiner belongs to the chunk when a word follows it at once. plain says
// that the chunk is ASCII.
func chunkEnd(text string, i int) (end int, plain bool) {
	plain = true
	end = i
	for j := i; j < len(text); {
		c := text[j]
		switch {
		case c < utf8.RuneSelf && asciiWord[c]:
			j++
			end = j
		case c < utf8.RuneSelf && joiner(c):
			if j != end {
				return end, plain // two joiners in a row
			}
			j++
		case c < utf8.RuneSelf:
			if (c == '+' || c == '#') && j == end && j == i+1 { // c++, c#
				for j < min(len(text), i+3) && (text[j] == '+' || text[j] == '#') {
					j++
				}
				return j, plain
			}
			return end, plain
		default:
			r, size := utf8.DecodeRuneInString(text[j:])
			if !wordRune(r) && r != '’' {
				return end, plain
			}
			plain = false
			j += size
			if r != '’' {
				end = j
			}
		}
	}
	return end, plain
}

func (a *analyzer) chunk(chunk string) {
	if len(chunk) <= 3 && len(chunk) > 1 && (chunk[1] == '+' || chunk[1] == '#') {
		a.emit(strings.ToLower(chunk[:1]) + strings.NewReplacer("+", "plus", "#", "sharp").Replace(chunk[1:]))
		return
	}
	a.words = a.words[:0]
	start := 0
	segment := 0 // where the path segment at hand begins, in words
	for i := 0; i <= len(chunk); i++ {
		if i < len(chunk) && !joiner(chunk[i]) {
			continue
		}
		if word := chunk[start:i]; word != "" && !(len(a.words) > 0 && start > 0 && chunk[start-1] == '\'' && len(word) <= 2) {
			a.words = append(a.words, word)
			a.word(word)
		}
		if i < len(chunk) && (chunk[i] == '/' || chunk[i] == '\\') || i == len(chunk) {
			if n := len(a.words) - segment; n > 1 && n < len(a.words) {
				a.compound(a.words[segment:])
			}
			segment = len(a.words)
		}
		start = i + 1
	}
	if len(a.words) > 1 {
		a.compound(a.words)
		if w := a.words[0]; len(w) > 1 && (w[0] == 'v' || w[0] == 'V') && isDigit(w[1]) { // v1.2.3 is 1.2.3 too
			a.words[0] = w[1:]
			a.compound(a.words)
		}
	}
}

// compound emits words as one token.
func (a *analyzer) compound(words []string) {
	a.buf = a.buf[:0]
	for i, w := range words {
		if i > 0 {
			a.buf = append(a.buf, '_')
		}
		a.buf = append(a.buf, w...)
		if len(a.buf) > maxToken {
			return
		}
	}
	a.emit(strings.ToLower(string(a.buf)))
}

// word emits one run of letters and digits.
func (a *analyzer) word(w string) {
	ascii := true
	for i := 0; i < len(w); i++ {
		if w[i] >= utf8.RuneSelf {
			ascii = false
			break
		}
	}
	if !ascii {
		a.foreign(w)
		return
	}
	if len(w) > maxToken {
		return
	}
	if parts := camel(w); parts > 1 {
		a.emit(a.stem.stem(strings.ToLower(w))) // a question may spell it in lower case
		for w != "" {
			n := camelPart(w)
			a.emit(a.stem.stem(strings.ToLower(w[:n])))
			w = w[n:]
		}
		return
	}
	a.emit(a.stem.stem(strings.ToLower(w)))
}

// foreign emits a word that holds non-ASCII characters.
func (a *analyzer) foreign(w string) {
	var run []rune
	start := -1
	flush := func(end int) {
		if start >= 0 && end-start <= maxToken {
			a.emit(strings.ToLower(w[start:end]))
		}
		start = -1
	}
	bigrams := func() {
		for i := range run {
			if i+1 < len(run) {
				a.emit(string(run[i : i+2]))
			}
			if len(run) == 1 || a.document && unicode.Is(unicode.Han, run[i]) {
				a.emit(string(run[i : i+1]))
			}
		}
		run = run[:0]
	}
	for i, r := range w {
		if spaceless(r) {
			flush(i)
			run = append(run, r)
			continue
		}
		bigrams()
		if start < 0 {
			start = i
		}
	}
	bigrams()
	flush(len(w))
}

// camel counts the parts of an identifier such as recalcTax or HTTPServer.
func camel(w string) int {
	parts := 1
	for n := camelPart(w); n < len(w); n += camelPart(w[n:]) {
		parts++
	}
	return parts
}

// camelPart returns the length of the first part of w.
func camelPart(w string) int {
	if n := len(w) - 1; n > 1 && w[n] == 's' && isUpper(w[n-1]) { // JDKs
		for n > 0 && (isUpper(w[n-1]) || isDigit(w[n-1])) {
			n--
		}
		if n == 0 {
			return len(w)
		}
	}
	for i := 1; i < len(w); i++ {
		if !isUpper(w[i]) {
			continue
		}
		if !isUpper(w[i-1]) && !isDigit(w[i-1]) || i+1 < len(w) && isLower(w[i+1]) {
			return i
		}
	}
	return len(w)
}

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }
func isLower(c byte) bool { return c >= 'a' && c <= 'z' }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// asciiWord says which ASCII characters are parts of words.
var asciiWord = func() (t [utf8.RuneSelf]bool) {
	for c := range byte(utf8.RuneSelf) {
		t[c] = isUpper(c) || isLower(c) || isDigit(c)
	}
	return t
}()

// joiner reports whether c between two words makes them one identifier.
func joiner(c byte) bool {
	switch c {
	case '_', '-', '.', '/', '\\', ':', '@', '\'':
		return true
	}
	return false
}

func wordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return asciiWord[r]
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || unicode.IsNumber(r)
}

// spaceless reports whether r belongs to a script that is written without
// spaces. The iteration marks and the long vowel sign belong to no script of
// their own, but to the words they stand in.
func spaceless(r rune) bool {
	switch {
	case r < 0x0e00:
		return false
	case r == 0x30fc, r == 0x3005, r == 0x3006, r == 0x303b:
		return true
	}
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// fold removes what readers do not tell apart: width, ligatures, accents. What
// falls apart into something else than letters is cut there.
func fold(s string) string {
	s = norm.NFKD.String(strings.ReplaceAll(s, "’", "'"))
	s = strings.Map(func(r rune) rune {
		switch {
		case r >= 0x300 && r <= 0x36f, r == utf8.RuneError:
			return -1
		case !wordRune(r) && (r >= utf8.RuneSelf || !joiner(byte(r))):
			return '-'
		}
		return r
	}, s)
	return norm.NFC.String(s)
}
