package note

import (
	"strings"
	"unicode"
)

// Visible is a mapping for strings.Map. It drops control characters but line
// end and tab, and characters without a form of their own (of zero width, of
// direction, tags) but those that scripts and emoji need.
func Visible(r rune) rune {
	switch {
	case r == '\n', r == '\t', r == 0x200c, r == 0x200d, r >= 0xfe00 && r <= 0xfe0f:
		return r
	case unicode.Is(unicode.Cf, r), unicode.IsControl(r), r >= 0xe0000 && r <= 0xe0fff:
		return -1
	}
	return r
}

// Harmless makes a text fit to stand in a block for a model, and changes as
// little as it can: what nobody sees goes, and our marks lose their form, so that
// no text can end the frame around it.
func Harmless(text string) string {
	return strings.ReplaceAll(strings.Map(Visible, text), "<!-- anamnesis:", "<!-- (anamnesis):")
}

// Printable makes a text fit to stand in a line of a terminal: what nobody sees,
// moves the cursor or turns the direction of writing goes.
func Printable(s string) string {
	return strings.Map(Visible, strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\n", ""))
}

// Line is the first line of a text as Printable makes it, of at most n characters.
func Line(s string, n int) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	s = Printable(s)
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}
