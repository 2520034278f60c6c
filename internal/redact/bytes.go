package redact

import "strings"

// A span is a stretch of the text.
type span struct{ start, end int }

// of returns the stretch of s.
func (v span) of(s string) string { return s[v.start:v.end] }

// hasFold reports whether the lower-case word stands at s[at:] in any case.
func hasFold(s string, at int, word string) bool {
	if len(s)-at < len(word) {
		return false
	}
	for i := 0; i < len(word); i++ {
		if lower(s[at+i]) != word[i] {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if isUpper(c) {
		return c + 'a' - 'A'
	}
	return c
}

const digits = "0123456789"

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isLower(c byte) bool  { return 'a' <= c && c <= 'z' }
func isUpper(c byte) bool  { return 'A' <= c && c <= 'Z' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isAlnum(c byte) bool  { return isLetter(c) || isDigit(c) }
func isSpace(c byte) bool  { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
func isBlank(c byte) bool  { return c == ' ' || c == '\t' }
func isHex(c byte) bool    { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }

// tokenBytes may stand in a token besides letters and digits: those of base64 of
// either alphabet and what services join with.
const tokenBytes = "_-.+/=~"

func isToken(c byte) bool { return isAlnum(c) || strings.IndexByte(tokenBytes, c) >= 0 }

// boundary reports whether a token may begin at s[i]: not inside a word. The
// letter of an escape (\n) and the digits of a URL escape (%3D) are no word.
func boundary(s string, i int) bool {
	if i == 0 || !isAlnum(s[i-1]) {
		return true
	}
	if i >= 2 && s[i-2] == '\\' && strings.IndexByte("nrtbf", s[i-1]) >= 0 {
		return true
	}
	return i >= 3 && s[i-3] == '%' && isHex(s[i-2]) && isHex(s[i-1])
}

// skipBlanks returns the first offset from i on that holds no blank, looking at most n bytes far.
func skipBlanks(s string, i, n int) int {
	for end := min(len(s), i+n); i < end && isBlank(s[i]); i++ {
	}
	return i
}

// lineStart returns the offset at which the line of s[i] begins, looking at most n bytes back.
func lineStart(s string, i, n int) int {
	lo := max(0, i-n)
	if k := strings.LastIndexByte(s[lo:i], '\n'); k >= 0 {
		return lo + k + 1
	}
	return lo
}

// lineEnd returns the offset at which the line of s[i] ends, looking at most n bytes ahead.
func lineEnd(s string, i, n int) int {
	hi := min(len(s), i+n)
	if k := strings.IndexByte(s[i:hi], '\n'); k >= 0 {
		return i + k
	}
	return hi
}

// runEnds returns the offset at which the run of letters, digits and other bytes at
// s[i:] ends, looking at most n bytes far.
func runEnds(s string, i, n int, others string) int {
	for hi := min(len(s), i+n); i < hi && (isAlnum(s[i]) || strings.IndexByte(others, s[i]) >= 0); i++ {
	}
	return i
}

// wordRun returns the length of the run of letters, digits and _ - at the beginning of s.
func wordRun(s string) int { return runEnds(s, 0, len(s), "_-") }

// base64Run returns the length of the run of base64, of either alphabet, at the beginning of s.
func base64Run(s string) int { return runEnds(s, 0, len(s), "+/=-_") }

// longRun returns the length of the longest run of base64, of either alphabet, in s.
func longRun(s string) int {
	best, n := 0, 0
	for i := 0; i < len(s); i++ {
		if isAlnum(s[i]) || strings.IndexByte("_-+/", s[i]) >= 0 {
			n++
			best = max(best, n)
		} else {
			n = 0
		}
	}
	return best
}

// tokenEnd returns where the run of token bytes at i ends, a dot that ends a sentence aside.
func tokenEnd(s string, i int) int {
	j := runEnds(s, i, len(s), tokenBytes)
	for j > i && s[j-1] == '.' {
		j--
	}
	return j
}
