package web

import (
	"strconv"
	"strings"
)

// opens says which block begins at a line, if one does, in or after a paragraph.
func opens(line string, inParagraph bool) (blockKind, bool) {
	in := indent(line)
	text := strings.TrimLeft(line, " \t")
	switch {
	case text == "":
		return 0, false
	case in > 3:
		return code, !inParagraph
	case fence(text) > 0:
		return code, true
	case text[0] == '>':
		return quote, true
	case text[0] == '<' && htmlBegins(text, inParagraph):
		return rawHTML, true
	case text[0] == '#':
		level := len(text) - len(strings.TrimLeft(text, "#"))
		return heading, level < 7 && (len(text) == level || text[level] == ' ' || text[level] == '\t')
	case isRule(text):
		return rule, true
	}
	m, is := markerOf(line)
	return item, is && !(inParagraph && (m.empty || m.ordered && m.number != 1))
}

// isRule reports whether a text is a line across the page.
func isRule(text string) bool {
	if text == "" || strings.IndexByte("-_*", text[0]) < 0 {
		return false
	}
	marks := strings.ReplaceAll(strings.ReplaceAll(text, " ", ""), "\t", "")
	return len(marks) > 2 && strings.Trim(marks, marks[:1]) == ""
}

// fence returns how many marks of a fence a text begins with, 0 if it is none.
func fence(text string) int {
	if text == "" || text[0] != '`' && text[0] != '~' {
		return 0
	}
	n := len(text) - len(strings.TrimLeft(text, text[:1]))
	if n < 3 || text[0] == '`' && strings.Contains(text[n:], "`") {
		return 0
	}
	return n
}

// bare takes the marks of quotes and items from a line.
func bare(line string) string {
	for range maxDepth {
		text := strings.TrimLeft(line, " \t")
		if m, is := markerOf(line); is && !isRule(text) {
			line = dedent(line[m.bytes:], m.width-m.column)
		} else if strings.HasPrefix(text, ">") && indent(line) < 4 {
			line = strings.TrimPrefix(text[1:], " ")
		} else {
			break
		}
	}
	return line
}

// A marker begins an item of a list.
type marker struct {
	char    byte // the bullet, or what stands behind the number
	ordered bool
	number  int
	bytes   int // to the end of the mark
	column  int // in which that is
	width   int // columns to where the text begins
	empty   bool
}

// markerOf reads the marker of a line, if it has one.
func markerOf(line string) (m marker, is bool) {
	in := indent(line)
	at := len(line) - len(strings.TrimLeft(line, " \t"))
	if in > 3 || at == len(line) {
		return m, false
	}
	digits := at
	for digits < len(line) && digits < at+9 && line[digits] >= '0' && line[digits] <= '9' {
		digits++
	}
	switch {
	case digits > at && digits < len(line) && (line[digits] == '.' || line[digits] == ')'):
		m.ordered = true
		m.number, _ = strconv.Atoi(line[at:digits])
	case digits > at || strings.IndexByte("-+*", line[at]) < 0:
		return m, false
	}
	m.char, m.bytes = line[digits], digits+1
	rest := line[m.bytes:]
	if rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		return m, false
	}
	m.column = in + m.bytes - at
	m.width = m.column
	switch space := indent(rest); {
	case isBlank(rest):
		m.empty = true
		m.width++
	case space > 4: // the text is indented code
		m.width++
	default:
		m.width += space
	}
	return m, true
}

func isBlank(line string) bool { return strings.Trim(line, " \t\r") == "" }

// indent counts the columns before the text of a line.
func indent(line string) (columns int) {
	for i := range len(line) {
		switch line[i] {
		case ' ':
			columns++
		case '\t':
			columns += 4 - columns%4
		default:
			return columns
		}
	}
	return columns
}

// dedent takes columns of blanks from the beginning of a line, or as many as there are.
func dedent(line string, columns int) string {
	for column := 0; line != ""; line = line[1:] {
		switch {
		case column >= columns:
			return strings.Repeat(" ", column-columns) + line
		case line[0] == ' ':
			column++
		case line[0] == '\t':
			column += 4 - column%4
		default:
			return line
		}
	}
	return ""
}

// cells returns the cells of a row.
func cells(line string) (all []string) {
	line = strings.TrimPrefix(strings.TrimSpace(line), "|")
	var cell strings.Builder
	for i := 0; i < len(line); i++ {
		switch {
		case line[i] == '\\' && i+1 < len(line) && line[i+1] == '|':
			cell.WriteByte('|')
			i++
		case line[i] == '|':
			all = append(all, strings.TrimSpace(cell.String()))
			cell.Reset()
		default:
			cell.WriteByte(line[i])
		}
	}
	if rest := strings.TrimSpace(cell.String()); rest != "" || len(all) == 0 {
		all = append(all, rest)
	}
	return all
}

// blockElements are the elements of HTML that begin a block of it wherever they stand.
const blockElements = " address article aside base basefont blockquote body caption center col colgroup dd details dialog dir div dl " +
	"dt fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html iframe legend li link main menu " +
	"menuitem nav noframes ol optgroup option p param search section summary table tbody td tfoot th thead title tr track ul "

// htmlBegins reports whether a block of HTML begins with a text that begins with <.
func htmlBegins(text string, inParagraph bool) bool {
	if htmlEnd(text) != "" {
		return true
	}
	name, _ := strings.CutPrefix(text[1:], "/")
	n := 0
	for n < len(name) && isWord(name[n]) {
		n++
	}
	if n == 0 {
		return false
	}
	rest := name[n:]
	if strings.Contains(blockElements, " "+strings.ToLower(name[:n])+" ") {
		return rest == "" || strings.IndexByte(" \t>", rest[0]) >= 0 || strings.HasPrefix(rest, "/>")
	}
	end := tagEnd(text)
	return !inParagraph && end > 0 && isBlank(text[end:]) // another element, alone in its line
}

// htmlEnd returns what ends a block of HTML that a text begins, in lower case; "" for a
// blank line.
func htmlEnd(text string) string {
	lower := strings.ToLower(text[:min(len(text), len("<textarea")+1)])
	for _, name := range []string{"script", "pre", "style", "textarea"} {
		if rest, is := strings.CutPrefix(lower, "<"+name); is && (rest == "" || strings.IndexByte(" \t>", rest[0]) >= 0) {
			return "</" + name + ">"
		}
	}
	switch {
	case strings.HasPrefix(text, "<!--"):
		return "-->"
	case strings.HasPrefix(text, "<?"):
		return "?>"
	case strings.HasPrefix(text, "<![CDATA["):
		return "]]>"
	case strings.HasPrefix(text, "<!"):
		return ">"
	}
	return ""
}

// definition reads a line that gives a link's label its address.
func definition(line string) (label, to string, ok bool) {
	rest, found := strings.CutPrefix(line, "[")
	if !found {
		return "", "", false
	}
	end := labelEnd(rest)
	if end < 1 || !strings.HasPrefix(rest[end:], "]:") {
		return "", "", false
	}
	label = labelOf(rest[:end])
	rest = strings.TrimLeft(rest[end+2:], " \t")
	to, n := destination(rest)
	if label == "" || n == 0 {
		return "", "", false
	}
	rest = rest[n:]
	title := strings.TrimSpace(rest)
	if title == "" {
		return label, to, true
	}
	n = titleEnd(title)
	return label, to, n == len(title) && (rest[0] == ' ' || rest[0] == '\t')
}
