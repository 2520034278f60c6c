package cli

import (
	"fmt"
	"io"
	"reflect"
	"strings"

	"anamnesis/internal/config"
	"anamnesis/internal/note"
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

// A painted text holds escape sequences of ours and none of others.
type painted string

// in writes a text in a style for standard output.
func (s *screen) in(st style, text string) painted { return paint(s.colours(s.stdout), st, text) }

func paint(on bool, st style, s string) painted {
	s = visible(s)
	if !on || s == "" {
		return painted(s)
	}
	return painted("\x1b[" + string(st) + "m" + s + "\x1b[0m")
}

// visible is what a terminal may get of a text that others wrote. Every string that
// is printed passes it, as an argument of printf; line ends and tabs stay.
func visible(s string) string { return strings.Map(note.Visible, strings.ToValidUTF8(s, "\uFFFD")) }

// visibleArgs returns the arguments of a printf with its texts made visible.
func visibleArgs(args []any) []any {
	clean := make([]any, len(args))
	for i, arg := range args {
		switch v := arg.(type) {
		case painted:
			clean[i] = string(v)
		case error:
			clean[i] = visible(v.Error())
		case fmt.Stringer:
			clean[i] = visible(v.String())
		case []string:
			fresh := make([]string, len(v))
			for j := range v {
				fresh[j] = visible(v[j])
			}
			clean[i] = fresh
		default:
			clean[i] = arg
			if r := reflect.ValueOf(arg); r.Kind() == reflect.String {
				clean[i] = visible(r.String())
			}
		}
	}
	return clean
}

// paintHit makes the title of a printed hit stand out, and the line about it step back.
func (s *screen) paintHit(text string) painted {
	if !s.colours(s.stdout) {
		return painted(visible(text))
	}
	lines := strings.SplitAfter(text, "\n")
	for i, l := range lines {
		body := strings.TrimSuffix(l, "\n")
		end := l[len(body):]
		switch {
		case i == 0:
			lines[i] = string(paint(true, bold, body)) + end
		case !strings.HasPrefix(body, "   | "):
			lines[i] = string(paint(true, dim, body)) + end
		default:
			lines[i] = visible(lines[i])
		}
	}
	return painted(strings.Join(lines, ""))
}

// wantsPlain reports whether the user asked for text without colours.
func wantsPlain(env config.Environment) bool {
	v, set := env.Lookup("NO_COLOR")
	term, _ := env.Lookup("TERM")
	return set && v != "" || term == "dumb"
}
