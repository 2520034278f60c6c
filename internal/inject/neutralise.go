package inject

import (
	"strings"

	"anamnesis/internal/note"
)

// neutralise makes a body harmless inside a block, and changes as little as it can:
//   - characters that nobody sees (zero width, direction, tags) go;
//   - our marks lose their form, so that a body cannot end the block, or call itself the user's;
//   - headings at the level of the block's own are moved down, so that a body
//     cannot pose as another note;
//   - a code fence that is left open is closed.
func neutralise(body string) string {
	body = note.Unposed(note.Harmless(body))
	var out strings.Builder
	fence, text := "", false // text: the line above is not blank
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
			case heads(trimmed):
				line = "##" + trimmed
			case text && setext(trimmed): // a line of = or - makes a heading of the line above
				line = "\\" + trimmed
			}
		}
		text = strings.TrimSpace(line) != ""
		out.WriteString(line)
	}
	return closeFence(strings.TrimRight(out.String(), " \n"))
}

// fenceOf returns the run of at least three backticks or tildes a line begins with.
func fenceOf(line string) string {
	if line == "" || line[0] != '`' && line[0] != '~' {
		return ""
	}
	run := line[:len(line)-len(strings.TrimLeft(line, line[:1]))]
	if len(run) < 3 || line[0] == '`' && strings.Contains(line[len(run):], "`") { // "``` `" is text
		return ""
	}
	return run
}

// heads reports whether a line is a heading of the block's own levels.
func heads(line string) bool {
	rest := strings.TrimLeft(line, "#")
	return len(line)-len(rest) <= 2 && len(rest) < len(line) && (rest == "" || strings.ContainsRune(" \t\n", rune(rest[0])))
}

// setext reports whether a line underlines a heading.
func setext(line string) bool {
	line = strings.TrimRight(line, " \t\n")
	return line != "" && (strings.Trim(line, "=") == "" || strings.Trim(line, "-") == "")
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

// oneLine makes a title or a key harmless in a heading. What was written by
// other hands may be longer than any of ours, and there is a budget to keep.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(strings.ReplaceAll(note.UnposedTitle(note.Harmless(s)), "<!--", "<! --")), " ")
	if r := []rune(s); len(r) > note.MaxTitle {
		return string(r[:note.MaxTitle]) + "…"
	}
	return s
}
