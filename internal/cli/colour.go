package cli

import (
	"io"
	"strings"
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
func (p *program) colours(stream io.Writer) bool {
	if !terminal(stream) || p.environ == nil {
		return false
	}
	env := p.environ(nil)
	if v, set := env.Lookup("NO_COLOR"); set && v != "" {
		return false
	}
	term, _ := env.Lookup("TERM")
	return term != "dumb"
}

// in writes s in a style for standard output.
func (p *program) in(st style, s string) string { return paint(p.colours(p.stdout), st, s) }

func paint(on bool, st style, s string) string {
	if !on || s == "" {
		return s
	}
	return "\x1b[" + string(st) + "m" + s + "\x1b[0m"
}

// paintHit makes the title of a printed hit stand out, and the line about it step back.
func (p *program) paintHit(text string) string {
	if !p.colours(p.stdout) {
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
