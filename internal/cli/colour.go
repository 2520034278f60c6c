package cli

import (
	"io"
	"strings"

	"anamnesis/internal/config"
)

// A style is how a terminal shows a stretch of text.
type style string

// The styles. They say nothing that the words do not say as well.
const (
	bold   style = "1"
	dim    style = "2"
	red    style = "31"
	green  style = "32"
	yellow style = "33"
)

// colours reports whether what is written to a stream may be coloured: a person
// looks at it, and has not asked for plain text (no-color.org).
func (s *screen) colours(stream io.Writer) bool {
	return !s.plain && terminal(stream)
}

// in writes a text in a style for standard output.
func (s *screen) in(st style, text string) string { return paint(s.colours(s.stdout), st, text) }

func paint(on bool, st style, s string) string {
	if !on || s == "" {
		return s
	}
	return "\x1b[" + string(st) + "m" + s + "\x1b[0m"
}

// paintHit makes the title of a printed hit stand out, and the line about it step back.
func (s *screen) paintHit(text string) string {
	if !s.colours(s.stdout) {
		return text
	}
	lines := strings.SplitAfter(text, "\n")
	for i, l := range lines {
		body := strings.TrimSuffix(l, "\n")
		end := l[len(body):]
		switch {
		case i == 0:
			lines[i] = paint(true, bold, body) + end
		case !strings.HasPrefix(body, "   | "):
			lines[i] = paint(true, dim, body) + end
		}
	}
	return strings.Join(lines, "")
}

// wantsPlain reports whether the user asked for text without colours.
func wantsPlain(env config.Environment) bool {
	v, set := env.Lookup("NO_COLOR")
	term, _ := env.Lookup("TERM")
	return set && v != "" || term == "dumb"
}
