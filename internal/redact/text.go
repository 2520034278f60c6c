package redact

import (
	"strings"
	"unicode/utf8"
)

// What stands in the place of what was taken out.
const (
	mark        = "[REDACTED]"
	privateMark = "[PRIVATE]"
)

// Text is text that has passed a Redactor and may leave the machine.
//
// The zero value is the empty text. There is no other way to make one than
// Redactor.Redact: cutting a Text gives a Text, joining two does not,
// because the halves of a secret look harmless on either side of a seam.
type Text struct{ text string }

// String returns the text.
func (r Text) String() string { return r.text }

// Len returns the length of the text in bytes.
func (r Text) Len() int { return len(r.text) }

// Head returns the longest beginning of at most n bytes that splits neither a
// rune nor a mark. Redaction happens before truncation, never after: a cut
// token looks like no token at all.
func (r Text) Head(n int) Text {
	if n >= len(r.text) {
		return r
	}
	if n <= 0 {
		return Text{}
	}
	return Text{r.text[:r.seam(n, false)]}
}

// Tail returns the longest end of at most n bytes that splits neither a rune
// nor a mark.
func (r Text) Tail(n int) Text {
	if n >= len(r.text) {
		return r
	}
	if n <= 0 {
		return Text{}
	}
	return Text{r.text[r.seam(len(r.text)-n, true):]}
}

// cutMark stands where Window left something out.
const cutMark = "\n\n...[transcript truncated for length]...\n\n"

// Window returns r when it has at most n bytes, else its first 60 % of n, a
// line that says so, and its last 40 %. The line comes on top of n.
func (r Text) Window(n int) Text {
	if n <= 0 || len(r.text) <= n {
		return r
	}
	first := n * 6 / 10
	return Text{r.Head(first).text + cutMark + r.Tail(n-first).text}
}

// seam moves the cut at byte i out of a rune or a mark, forward or back.
func (r Text) seam(i int, forward bool) int {
	// Invalid bytes may look like the inside of a rune for ever; a rune has at most three such.
	for k := 0; k < utf8.UTFMax-1 && i > 0 && i < len(r.text) && !utf8.RuneStart(r.text[i]); k++ {
		if forward {
			i++
		} else {
			i--
		}
	}
	for _, m := range []string{mark, privateMark} {
		lo := max(0, i-len(m)+1)
		hi := min(len(r.text), i+len(m)-1)
		if k := strings.Index(r.text[lo:hi], m); k >= 0 {
			if forward {
				return lo + k + len(m)
			}
			return lo + k
		}
	}
	return i
}
