package note

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// SaidLetters are the letters of what n says, behind its type: they are the same for two notes
// that say the same (Fingerprint.Same). A note without a body has none.
func (n *Note) SaidLetters() string {
	if strings.TrimSpace(n.Body) == "" {
		return ""
	}
	said := "\x00" + Letters(n.Statement())
	if SelfContained(n.Body) {
		said = Letters(n.Body)
	}
	return string(n.Type) + "\x00" + said
}

// Letters are the letters and digits of a text, in lower case: the same for two texts that
// are equal in their canonical form, and quick to work out. Texts of the same letters may say
// different things.
func Letters(text string) string {
	text = norm.NFC.String(text)
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); {
		if c := text[i]; c < utf8.RuneSelf {
			switch {
			case 'A' <= c && c <= 'Z':
				out = append(out, c+'a'-'A')
			case 'a' <= c && c <= 'z', '0' <= c && c <= '9':
				out = append(out, c)
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			out = utf8.AppendRune(out, unicode.ToLower(r))
		}
		i += n
	}
	return string(out)
}
