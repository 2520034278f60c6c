package note

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// doubleQuoted reads a double-quoted scalar that is all of s, with the escapes of YAML.
func doubleQuoted(s string) (text string, ok bool) {
	if len(s) < 2 || s[len(s)-1] != '"' {
		return "", false
	}
	s = s[1 : len(s)-1]
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '"' || c < ' ' || c == 0x7f || c >= 0x80 && hasOddRune(s[i:]) {
			return "", false
		}
		if c != '\\' {
			b.WriteByte(c)
			continue
		}
		if i++; i == len(s) {
			return "", false
		}
		size := 0
		switch s[i] {
		case 'x':
			size = 2
		case 'u':
			size = 4
		case 'U':
			size = 8
		}
		if size == 0 {
			r, known := unescape(s[i])
			if !known {
				return "", false
			}
			b.WriteRune(r)
			continue
		}
		if i+size >= len(s) {
			return "", false
		}
		code, err := strconv.ParseUint(s[i+1:i+1+size], 16, 32)
		if err != nil || !utf8.ValidRune(rune(code)) {
			return "", false
		}
		b.WriteRune(rune(code))
		i += size
	}
	return b.String(), true
}

// escapes lists the letters behind a backslash and what they stand for. The
// first ones are written too.
var escapes = [...]struct {
	letter byte
	r      rune
}{
	{'"', '"'},
	{'\\', '\\'},
	{'0', 0},
	{'a', '\a'},
	{'b', '\b'},
	{'t', '\t'},
	{'n', '\n'},
	{'v', '\v'},
	{'f', '\f'},
	{'r', '\r'},
	{'e', 0x1b},
	{' ', ' '},
	{'/', '/'},
	{'N', 0x85},
	{'_', 0xa0},
	{'L', 0x2028},
	{'P', 0x2029},
}

const writtenEscapes = 11

// unescape returns what stands for the letter behind a backslash.
func unescape(c byte) (r rune, ok bool) {
	for _, e := range escapes {
		if e.letter == c {
			return e.r, true
		}
	}
	return 0, false
}

// appendText appends s as a scalar that every reader of YAML 1.1 and 1.2 takes
// for this very text: plain, else in single quotes, else in double quotes. It
// is never folded.
func appendText(b []byte, s string) []byte {
	switch {
	case isPlain(s) && !isTyped(s):
		return append(b, s...)
	case isPrintable(s):
		b = append(b, '\'')
		b = append(b, strings.ReplaceAll(s, "'", "''")...)
		return append(b, '\'')
	}
	b = append(b, '"')
	for _, r := range s {
		b = appendEscaped(b, r)
	}
	return append(b, '"')
}

func isPrintable(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' || c == 0x7f || c >= 0x80 && hasOddRune(s[i:]) {
			return false
		}
	}
	return true
}

func appendEscaped(b []byte, r rune) []byte {
	for _, e := range escapes[:writtenEscapes] {
		if e.r == r {
			return append(b, '\\', e.letter)
		}
	}
	switch {
	case isPrintable(string(r)):
		return utf8.AppendRune(b, r)
	case r <= 0xff:
		return fmt.Appendf(b, `\x%02X`, r)
	case r <= 0xffff:
		return fmt.Appendf(b, `\u%04X`, r)
	}
	return fmt.Appendf(b, `\U%08X`, r)
}
