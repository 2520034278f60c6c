package web

import (
	"fmt"
	"html/template"
	"regexp"
	"strings"
	"sync"

	"anamnesis/internal/note"
)

const (
	maxMarkdown = 64 << 10  // bytes of a text that is read as markdown; a longer one is shown as it is written
	maxDepth    = 16        // of quotes and lists within one another; what is deeper is shown as it is written
	maxHTML     = 512 << 10 // bytes of HTML, about: a text that becomes more is shown as it is written
)

// markdownOf returns a text of markdown as HTML. It reads the common part of GitHub's flavour and writes every element itself, so
// that nothing else gets in: no raw HTML, no pictures, no link but to the web. What it does not know stays as it is written. The
// time it takes grows with the length of the text.
func markdownOf(text string) template.HTML {
	lines := strings.Split(strings.TrimSuffix(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text), "\n"), "\n")
	for i, l := range lines {
		lines[i] = note.Printable(l) // without the characters that hide or turn text
	}
	var w markdownWriter
	if len(text) <= maxMarkdown {
		w.blocks(lines, 0, false)
	}
	if len(text) > maxMarkdown || w.full() {
		w.Reset()
		w.asWritten(lines)
	}
	return template.HTML(w.String()) //nolint:gosec // markdownWriter escapes all that it did not make itself
}

// A markdownWriter writes the HTML of a text.
type markdownWriter struct{ strings.Builder }

// full reports whether so much was written that nothing more is: a table of many columns makes a page of any size of a small text.
func (w *markdownWriter) full() bool { return w.Len() > maxHTML }

func (w *markdownWriter) text(s string) { template.HTMLEscape(w, []byte(s)) }

func (w *markdownWriter) asWritten(lines []string) {
	w.around("pre", func() { w.text(strings.Join(lines, "\n")) })
}

func (w *markdownWriter) around(element string, inner func()) {
	name, _, _ := strings.Cut(element, " ")
	w.WriteString("<" + element + ">")
	inner()
	w.WriteString("</" + name + ">")
}

// blocks writes what takes whole lines: paragraphs, lists and the like. In a tight list, one without blank lines, the first
// paragraph of an item is bare text.
func (w *markdownWriter) blocks(lines []string, depth int, tight bool) {
	if depth > maxDepth {
		w.asWritten(lines)
		return
	}
	var para []string
	end := func(element string) { // of the paragraph
		if text := strings.TrimRight(strings.Join(para, "\n"), " \t"); text != "" && tight && element == "p" {
			w.marked(text)
		} else if text != "" {
			w.around(element, func() { w.marked(text) })
		}
		para, tight = nil, false
	}
	for n := 1; len(lines) > 0 && !w.full(); lines, n = lines[n:], 1 {
		line := lines[0]
		kind := kindOf(line, len(para) > 0)
		if last := len(para) - 1; last >= 0 {
			if u := underline().FindStringSubmatch(line); u != nil {
				end(map[bool]string{true: "h3", false: "h4"}[u[1] == "="])
				continue
			}
			if head := cells(para[last]); divider().MatchString(line) && strings.Contains(line, "|") && len(head) == len(cells(line)) {
				para = para[:last]
				end("p")
				n = w.table(head, lines)
				continue
			}
			if kind != prose {
				end("p")
			}
		}
		switch kind {
		case prose:
			para = append(para, strings.TrimLeft(line, " \t"))
		case indented, fenced:
			n = w.code(lines, kind)
		case heading: // the page's own headings are above those of a note
			h := headline().FindStringSubmatch(line)
			w.around(fmt.Sprintf("h%d", min(len(h[1])+2, 6)), func() { w.marked(h[2]) })
		case rule:
			w.WriteString("<hr>")
		case quote:
			in := inside(nil, lines, unquoted)
			n = len(in)
			w.around("blockquote", func() { w.blocks(in, depth+1, false) })
		case item:
			n = w.list(lines, depth+1)
		}
	}
	end("p")
}

// code writes the block of code that lines begin with, and returns how many lines that is.
func (w *markdownWriter) code(lines []string, kind blockKind) (n int) {
	in := 4
	var all []string
	if kind == fenced {
		in = indent(lines[0])
		f := fenceForm().FindStringSubmatch(lines[0])
		for n = 1; n < len(lines); n++ {
			if end := strings.TrimSpace(lines[n]); strings.HasPrefix(end, f[1]+f[2]) && strings.Trim(end, end[:1]) == "" && indent(lines[n]) < 4 {
				break
			}
		}
		all, n = lines[1:n], min(n+1, len(lines))
	} else {
		for i := 0; i < len(lines) && (indent(lines[i]) > 3 || isBlank(lines[i])); i++ {
			if !isBlank(lines[i]) {
				n = i + 1
			}
		}
		all = lines[:n]
	}
	w.WriteString(`<pre tabindex="0"><code>`)
	for _, l := range all {
		w.text(dedent(l, in) + "\n")
	}
	w.WriteString("</code></pre>")
	return n
}

// table writes a table, whose second line is the first of lines, and returns how many of them it has.
func (w *markdownWriter) table(head, lines []string) (n int) {
	row := func(element string, all []string) {
		w.around("tr", func() {
			for k := 0; k < len(head) && !w.full(); k++ {
				w.around(element, func() {
					if k < len(all) {
						w.marked(all[k])
					}
				})
			}
		})
	}
	w.WriteString(`<div class="scroll" tabindex="0"><table><thead>`)
	row("th", head)
	w.WriteString("</thead><tbody>")
	for n = 1; n < len(lines) && kindOf(lines[n], false) == prose; n++ {
		row("td", cells(lines[n]))
	}
	w.WriteString("</tbody></table></div>")
	return n
}

// cells returns the cells of a row.
func cells(line string) (all []string) {
	const bar = "\x00" // no line has it, see note.Printable
	line = strings.TrimPrefix(strings.TrimSpace(strings.ReplaceAll(line, `\|`, bar)), "|")
	for c := range strings.SplitSeq(strings.TrimSuffix(line, "|"), "|") {
		all = append(all, strings.ReplaceAll(strings.TrimSpace(c), bar, "|"))
	}
	return all
}

// list writes the list that lines begin with, and returns how many lines that is.
func (w *markdownWriter) list(lines []string, depth int) (n int) {
	first, _ := markerOf(lines[0])
	var items [][]string
	gap, loose := false, false // a blank line ends the item before; the items have paragraphs
	for n < len(lines) {
		m, is := markerOf(lines[n])
		if !is || m.char != first.char || ruleForm().MatchString(lines[n]) {
			break
		}
		in := []string{dedent(lines[n][m.bytes:], m.width-m.bytes)}
		in = inside(in, lines[n+1:], func(line string) (string, bool) {
			return dedent(line, m.width), isBlank(line) || indent(line) >= m.width
		})
		n += len(in)
		loose = loose || gap
		for gap = false; len(in) > 1 && isBlank(in[len(in)-1]); gap = true {
			in = in[:len(in)-1]
		}
		for i := 2; i < len(in); i++ {
			loose = loose || isBlank(in[i-1]) && indent(in[i]) == 0 && kindOf(in[i], false) == prose
		}
		items = append(items, in)
	}
	element := "ul"
	if first.number != "" {
		element = "ol"
		if first.number != "1" {
			element = `ol start="` + first.number + `"`
		}
	}
	w.around(element, func() {
		for i := 0; i < len(items) && !w.full(); i++ {
			w.around("li", func() { w.blocks(w.task(items[i]), depth, !loose) })
		}
	})
	return n
}

// task writes the box of an item that has one, and returns the item without it.
func (w *markdownWriter) task(in []string) []string {
	switch box := in[0][:min(len(in[0]), 4)]; box {
	case "[ ] ":
		w.WriteString(`<span class="task" role="img" aria-label="to do">☐</span> `)
	case "[x] ", "[X] ":
		w.WriteString(`<span class="task" role="img" aria-label="done">☑</span> `)
	default:
		return in
	}
	in[0] = in[0][4:]
	return in
}

// inside adds the lines of a quote or an item to what is in it. The text at its end goes on without the marks of the quote or item,
// which strip takes from a line.
func inside(in, lines []string, strip func(line string) (string, bool)) []string {
	fenced := len(in) > 0 && fenceForm().MatchString(in[0])
	for _, line := range lines {
		text, is := strip(line)
		if !is && (fenced || kindOf(line, false) != prose || len(in) == 0 || kindOf(in[len(in)-1], false) != prose) {
			break
		} else if !is {
			text = line
		}
		in = append(in, text)
		fenced = fenced != fenceForm().MatchString(text)
	}
	return in
}

// unquoted returns a line of a quote without the mark of it.
func unquoted(line string) (text string, is bool) {
	text, is = strings.CutPrefix(strings.TrimLeft(line, " \t"), ">")
	return dedent(text, 1), is && indent(line) < 4
}

// lazily compiles an expression when it is first used: every command and hook starts this program.
func lazily(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// The forms of lines.
var (
	fenceForm = lazily("^ {0,3}(`{3,})[^`]*$|^ {0,3}(~{3,})")
	headline  = lazily(`^ {0,3}(#{1,6})(?:[ \t]+|$)(.*?)(?:(?:^|[ \t])#+)?[ \t]*$`)
	ruleForm  = lazily(`^ {0,3}(?:(?:-[ \t]*){3,}|(?:_[ \t]*){3,}|(?:\*[ \t]*){3,})$`)
	underline = lazily(`^ {0,3}(?:(=)=*|-+)[ \t]*$`)
	divider   = lazily(`^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$`)
	itemForm  = lazily(`^( {0,3}(?:([-+*])|(\d{1,9})([.)])))(?:[ \t]|$)`)
)

// A blockKind is what a line begins.
type blockKind uint8

const (
	prose blockKind = iota // a paragraph, or the next line of one
	blank
	fenced
	indented
	heading
	rule
	quote
	item
)

func kindOf(line string, inParagraph bool) blockKind {
	m, is := markerOf(line)
	switch {
	case isBlank(line):
		return blank
	case indent(line) > 3 && !inParagraph:
		return indented
	case indent(line) > 3:
	case fenceForm().MatchString(line):
		return fenced
	case strings.TrimLeft(line, " ")[0] == '>':
		return quote
	case headline().MatchString(line):
		return heading
	case ruleForm().MatchString(line):
		return rule
	case is && !(inParagraph && (isBlank(line[m.bytes:]) || m.number != "" && m.number != "1")):
		return item
	}
	return prose
}

// A marker begins an item of a list.
type marker struct {
	char   string // the bullet, or what stands behind the number
	number string // "" for a bullet
	bytes  int    // to its end
	width  int    // columns to where the text begins
}

// markerOf reads the marker of a line, if it has one.
func markerOf(line string) (m marker, is bool) {
	f := itemForm().FindStringSubmatch(line)
	if f == nil {
		return m, false
	}
	m = marker{f[2] + f[4], f[3], len(f[1]), len(f[1]) + 1}
	if space := indent(line[m.bytes:]); !isBlank(line[m.bytes:]) && space < 5 { // what is further in is indented code
		m.width = m.bytes + space
	}
	return m, true
}

func isBlank(line string) bool { return strings.Trim(line, " \t") == "" }

// indent counts the columns before the text of a line.
func indent(line string) (columns int) {
	for _, c := range []byte(line) {
		switch c {
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
	column := 0
	for ; line != "" && column < columns && (line[0] == ' ' || line[0] == '\t'); line = line[1:] {
		if column++; line[0] == '\t' {
			column += 3 - (column-1)%4
		}
	}
	return strings.Repeat(" ", max(0, column-columns)) + line
}
