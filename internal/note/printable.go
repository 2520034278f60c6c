package note

import (
	"regexp"
	"strings"
	"sync"
	"unicode"

	plain "anamnesis/internal/text"
)

// Visible is a mapping for strings.Map. It drops control characters but line
// end and tab, and characters without a form of their own (of zero width, of
// direction, tags) but those that scripts and emoji need.
func Visible(r rune) rune {
	switch {
	case r == 0x2028, r == 0x2029: // a line and a paragraph end
		return '\n'
	case r == 0x115f, r == 0x1160, r == 0x2800, r == 0x3164, r == 0xffa0: // fillers, a letter to Unicode
		return -1
	case r == '\n', r == '\t', r == 0x200c, r == 0x200d, r >= 0xfe00 && r <= 0xfe0f:
		return r
	case unicode.Is(unicode.Cf, r), unicode.IsControl(r), r >= 0xe0000 && r <= 0xe0fff:
		return -1
	}
	return r
}

// Harmless makes a text fit to stand in a block for a model, and changes as
// little as it can: what nobody sees goes, our marks lose their form in whatever
// spelling, so that no text can end the frame around it, and so do the elements in
// which agents speak to their models.
func Harmless(text string) string {
	text = strings.Map(Visible, plain.Plain(text))
	if !opens(text) {
		return text
	}
	return bracket(text, frames())
}

// frames finds what could pose as a frame: our marks, the elements that the agents we
// know put around their own words (reminders, results of tools), and roles of a chat.
// The names of these occur in code as well; they count where an element can begin.
var frames = sync.OnceValue(func() (all []*regexp.Regexp) {
	// A ~ is optional white space: a model reads "< system - reminder >" as if there were none.
	spaced := strings.NewReplacer("~", `[\s\v\x{85}\pZ]*`)
	for _, frame := range []string{
		`(<~!~(?:-~)*/?~)(anamnesis)`,
		`(\[~/?~)(anamnesis~:)`,
		`(<~/?~\|?~)(system~-~reminder|user~-~prompt~-~submit~-~hook|session~-~start~-~hook|task~-~notification|` +
			`local~-~command~-~(?:stdout|stderr|caveat)|command~-~(?:name|message|args|contents)|` +
			`function~_~(?:calls|results)|tool~_~(?:use|result)|im~_~(?:start|end)|antml~:~[a-z_]+)`,
		`((?:^|[\s>"'(\x60])<|</)(system|assistant|human|invoke|parameter|instructions?)\b`,
	} {
		all = append(all, regexp.MustCompile(`(?i)`+spaced.Replace(frame)))
	}
	return all
})

// Printable makes a text fit to stand in a line of a terminal: what nobody sees,
// moves the cursor or turns the direction of writing goes.
func Printable(s string) string {
	return strings.ReplaceAll(strings.Map(Visible, plain.Plain(s)), "\n", "")
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

// CutRunes returns at most the first n characters.
func CutRunes(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}
