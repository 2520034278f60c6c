package inject

import (
	"strings"
	"unicode"
)

// defuse makes a body harmless inside a block, and changes as little as it can:
//   - characters that nobody sees (zero width, direction, tags) go;
//   - our marks lose their form, so that a body cannot end the block;
//   - headings at the level of the block's own are moved down, so that a body
//     cannot pose as another note;
//   - a code fence that is left open is closed.
func defuse(body string) string {
	body = strings.Map(visible, body)
	body = strings.ReplaceAll(body, "<!-- anamnesis:", "<!-- (anamnesis):")
	var out strings.Builder
	fence := ""
	for line := range strings.Lines(body) {
		trimmed := strings.TrimLeft(line, " ")
		if f := fenceOf(trimmed); f != "" && len(line)-len(trimmed) <= 3 {
			switch {
			case fence == "":
				fence = f
			case strings.HasPrefix(f, fence) && strings.TrimSpace(trimmed) == f:
				fence = ""
			}
		}
		if fence == "" && len(line)-len(trimmed) <= 3 {
			switch {
			case strings.HasPrefix(trimmed, "# "), strings.HasPrefix(trimmed, "## "):
				line = "##" + trimmed
			case setext(trimmed): // a line of = or - makes a heading of the line above
				line = "\\" + trimmed
			}
		}
		out.WriteString(line)
	}
	return closeFence(strings.TrimRight(out.String(), " \n"))
}

// visible drops characters that have no form of their own and can hide text.
func visible(r rune) rune {
	switch {
	case r == '\n', r == '\t':
		return r
	case r == 0x200c, r == 0x200d: // joiners that scripts and emoji need
		return r
	case r >= 0xfe00 && r <= 0xfe0f: // variation selectors, likewise
		return r
	case unicode.Is(unicode.Cf, r), unicode.IsControl(r), r >= 0xe0000 && r <= 0xe0fff:
		return -1
	}
	return r
}

// fenceOf returns the run of at least three backticks or tildes a line begins with.
func fenceOf(line string) string {
	if line == "" || line[0] != '`' && line[0] != '~' {
		return ""
	}
	run := line[:len(line)-len(strings.TrimLeft(line, line[:1]))]
	if len(run) < 3 {
		return ""
	}
	return run
}

// setext reports whether a line underlines a heading.
func setext(line string) bool {
	line = strings.TrimRight(line, " \n")
	return line != "" && strings.Trim(line, "=") == ""
}

// closeFence ends a code fence that body leaves open.
func closeFence(body string) string {
	fence := ""
	for line := range strings.Lines(body) {
		trimmed := strings.TrimLeft(line, " ")
		f := fenceOf(trimmed)
		switch {
		case f == "" || len(line)-len(trimmed) > 3:
		case fence == "":
			fence = f
		case strings.HasPrefix(f, fence) && strings.TrimSpace(trimmed) == f:
			fence = ""
		}
	}
	if fence != "" {
		return body + "\n" + fence
	}
	return body
}

// oneLine makes a title or a key harmless in a heading.
func oneLine(s string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(strings.Map(visible, s), "<!--", "<! --")), " ")
}
