package inject

import "unicode/utf16"

// A measure says what a character counts towards a limit. Nil counts UTF-16 code
// units: most agents that take our text are written in JavaScript.
type measure func(rune) int

func (m measure) rune(r rune) int {
	if m != nil {
		return m(r)
	}
	return max(1, utf16.RuneLen(r))
}

func (m measure) of(s string) int {
	n := 0
	for _, r := range s {
		n += m.rune(r)
	}
	return n
}
