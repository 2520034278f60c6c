package cli

import (
	"unicode"

	"golang.org/x/text/width"
)

// runeColumns is how many columns of a terminal a character takes: two for those of
// East Asian scripts and emoji, none for what joins the character before it.
func runeColumns(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me), r == 0x200d, r >= 0xfe00 && r <= 0xfe0f:
		return 0
	case r >= 0x1f300 && r <= 0x1faff:
		return 2
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// textColumns is how many columns a line takes.
func textColumns(s string) (n int) {
	for _, r := range s {
		n += runeColumns(r)
	}
	return n
}

// cutColumns cuts a line to n columns, the last of them an ellipsis where something
// was cut.
func cutColumns(s string, n int) string {
	if textColumns(s) <= n {
		return s
	}
	used := 1
	for i, r := range s {
		if used += runeColumns(r); used > n {
			return s[:i] + "…"
		}
	}
	return s
}
