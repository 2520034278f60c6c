package postgres

import (
	"strings"
	"unicode/utf8"
)

// PostgreSQL keeps text that is UTF-8 without NUL, and nothing else; names of files and
// titles of notes can be anything. Each byte that cannot be kept stands as a code point
// of the last private plane, and so do the bytes of such code points themselves.
const escaped = 0x10FF00

func plain(r rune) bool { return r != 0 && r < escaped }

// escape makes text of a string, from which unescape makes the string again. Ordinary
// text stays as it is.
func escape(s string) string {
	if utf8.ValidString(s) && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if plain(r) && (r != utf8.RuneError || size > 1) {
			b.WriteString(s[i : i+size])
		} else {
			for _, x := range []byte(s[i : i+size]) {
				b.WriteRune(escaped + rune(x))
			}
		}
		i += size
	}
	return b.String()
}

func unescape(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	var b []byte
	for _, r := range s {
		if plain(r) {
			b = utf8.AppendRune(b, r)
		} else {
			b = append(b, byte(r-escaped))
		}
	}
	return string(b)
}

// unescapeIn takes the escapes out of texts.
func unescapeIn(texts ...*string) {
	for _, s := range texts {
		*s = unescape(*s)
	}
}

func escapeAll[T ~string](all []T) []string {
	out := make([]string, len(all))
	for i, s := range all {
		out[i] = escape(string(s))
	}
	return out
}

// fold makes the form by which ids are compared: SQLite, too, folds ASCII alone.
func fold(id string) string {
	return escape(strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, id))
}
