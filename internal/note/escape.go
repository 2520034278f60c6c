package note

import (
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

// unescape returns what stands for the letter behind a backslash.
func unescape(c byte) (r rune, ok bool) {
	switch c {
	case '0':
		return 0, true
	case 'a':
		return '\a', true
	case 'b':
		return '\b', true
	case 't':
		return '\t', true
	case 'n':
		return '\n', true
	case 'v':
		return '\v', true
	case 'f':
		return '\f', true
	case 'r':
		return '\r', true
	case 'e':
		return 0x1b, true
	case ' ', '"', '/', '\\':
		return rune(c), true
	case 'N':
		return 0x85, true
	case '_':
		return 0xa0, true
	case 'L':
		return 0x2028, true
	case 'P':
		return 0x2029, true
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
	switch r {
	case '"', '\\':
		return append(b, '\\', byte(r))
	case 0:
		return append(b, `\0`...)
	case '\a':
		return append(b, `\a`...)
	case '\b':
		return append(b, `\b`...)
	case '\t':
		return append(b, `\t`...)
	case '\n':
		return append(b, `\n`...)
	case '\v':
		return append(b, `\v`...)
	case '\f':
		return append(b, `\f`...)
	case '\r':
		return append(b, `\r`...)
	case 0x1b:
		return append(b, `\e`...)
	}
	if isPrintable(string(r)) {
		return utf8.AppendRune(b, r)
	}
	digits, letter := 8, byte('U')
	switch {
	case r <= 0xff:
		digits, letter = 2, 'x'
	case r <= 0xffff:
		digits, letter = 4, 'u'
	}
	b = append(b, '\\', letter)
	for shift := 4 * (digits - 1); shift >= 0; shift -= 4 {
		b = append(b, "0123456789ABCDEF"[r>>shift&15])
	}
	return b
}
