package redact

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// How terminals' control sequences begin: as they are, and as JSON, shells and
// programming languages write them down.
var introducers = [...]string{"\x1b", `\u001b`, `\u001B`, `\x1b`, `\x1B`, `\033`, `\e`}

// uncoloured returns s without the control sequences of terminals, which split
// what people read as one word, without the characters that nobody sees, and where each of its bytes stands in s. It
// returns no offsets if there are none.
func uncoloured(s string) (string, []int) {
	if strings.IndexByte(s, '\x1b') < 0 && !escaped(s) && !unseen(s) {
		return s, nil
	}
	var b strings.Builder
	var offsets []int
	from := 0
	for i := 0; i < len(s); {
		n := 0
		switch c := s[i]; {
		case c == '\x1b':
			n = control(s[i:])
		case c == '\\':
			if n = control(s[i:]); n == 0 {
				n = escapedInvisible(s[i:])
			}
		case c >= 0xc2:
			n = invisible(s[i:])
		}
		if n == 0 {
			i++
			continue
		}
		if offsets == nil {
			b.Grow(len(s))
			offsets = make([]int, 0, len(s))
		}
		b.WriteString(s[from:i])
		for k := from; k < i; k++ {
			offsets = append(offsets, k)
		}
		i += n
		from = i
	}
	if offsets == nil {
		return s, nil
	}
	b.WriteString(s[from:])
	for k := from; k < len(s); k++ {
		offsets = append(offsets, k)
	}
	return b.String(), offsets
}

// invisibles are the characters without a width that can stand inside a word and are not seen
// there: soft hyphens, joiners, marks of direction, byte order marks.
var invisibles = [...]rune{
	'\u00ad', '\u200b', '\u200c', '\u200d', '\u200e', '\u200f', '\u202a', '\u202b', '\u202c', '\u202d', '\u202e',
	'\u2060', '\u2061', '\u2062', '\u2063', '\u2064', '\u2066', '\u2067', '\u2068', '\u2069', '\ufeff',
}

// escaped reports whether s holds a control sequence or an invisible character as programs write it down.
func escaped(s string) bool {
	for i := 0; ; i += 2 {
		k := strings.IndexByte(s[min(i, len(s)):], '\\')
		if k < 0 || i+k+1 >= len(s) {
			return false
		}
		i += k
		switch s[i+1] {
		case 'u', 'x', '0', 'e':
			if control(s[i:]) > 0 || escapedInvisible(s[i:]) > 0 {
				return true
			}
		case '\\':
			i-- // the second may begin a sequence
		}
	}
}

// unseen reports whether s holds one of the invisibles. Most texts hold none of their first bytes.
func unseen(s string) bool {
	for _, head := range [...]byte{0xe2, 0xef, 0xc2} {
		for i := 0; ; i++ {
			k := strings.IndexByte(s[i:], head)
			if k < 0 {
				break
			}
			if i += k; invisible(s[i:]) > 0 {
				return true
			}
		}
	}
	return false
}

// invisible returns the length of the invisible character at the beginning of s.
func invisible(s string) int {
	switch s[0] {
	case 0xe2, 0xef, 0xc2:
		if r, n := utf8.DecodeRuneInString(s); slices.Contains(invisibles[:], r) {
			return n
		}
	}
	return 0
}

// escapedInvisible is invisible of what JSON writes as \u200b.
func escapedInvisible(s string) int {
	if len(s) < 6 || s[1] != 'u' {
		return 0
	}
	if n, err := strconv.ParseUint(s[2:6], 16, 16); err == nil && slices.Contains(invisibles[:], rune(n)) {
		return 6
	}
	return 0
}

// control returns the length of the control sequence at the beginning of s: one
// of colours and of the cursor (CSI), or a title or link (OSC).
func control(s string) int {
	for _, intro := range introducers {
		rest, ok := strings.CutPrefix(s, intro)
		if !ok || rest == "" {
			continue
		}
		switch rest[0] {
		case '[':
			for i := 1; i < min(len(rest), 32); i++ {
				if c := rest[i]; isLetter(c) || c == '~' {
					return len(intro) + i + 1
				} else if !isDigit(c) && strings.IndexByte(";:?", c) < 0 {
					return 0
				}
			}
		case ']':
			if intro != "\x1b" {
				return 0
			}
			for i := 1; i < min(len(rest), 512); i++ {
				switch {
				case rest[i] == '\a':
					return len(intro) + i + 1
				case rest[i] == '\x1b' && i+1 < len(rest) && rest[i+1] == '\\':
					return len(intro) + i + 2
				case rest[i] == '\n':
					return 0
				}
			}
		}
		return 0
	}
	return 0
}

// titles returns where the texts of OSC sequences stand, such as titles of windows and the
// addresses of links. A terminal shows them, or opens them; uncoloured leaves them out.
func titles(s string) (all []span) {
	for i := 0; i+1 < len(s); i++ {
		if s[i] != '\x1b' || s[i+1] != ']' {
			continue
		}
		if n := control(s[i:]); n > 0 {
			end := i + n - 1 // BEL
			if s[end] == '\\' {
				end--
			}
			all = append(all, span{i + 2, end})
			i += n - 1
		}
	}
	return all
}
