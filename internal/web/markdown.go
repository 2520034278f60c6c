package web

import (
	"fmt"
	"html/template"
	"net/url"
	"strings"

	"anamnesis/internal/note"
)

const (
	maxMarkdown = 64 << 10  // bytes of a text that is read as markdown; a longer one is shown as it is written
	maxMarks    = 4000      // characters of one line that markdown may nest
	maxDepth    = 16        // of blocks and of marks within one another
	maxHTML     = 512 << 10 // bytes of what is made of a text, about: of what grows beyond, the text is shown as it is written
)

// markdownOf returns a text of markdown as HTML, in GitHub's flavour. We write every
// element ourselves from what the parser found, so that nothing else gets in: no raw
// HTML, no pictures, no link but to the web.
func markdownOf(text string) template.HTML {
	var w markdownWriter
	asWritten := len(text) > maxMarkdown || dense(text)
	if !asWritten {
		b := blockReader{links: make(map[string]string), lines: linesOf(text)}
		blocks := b.read()
		w.links = b.links
		w.blocks(blocks, 0)
		asWritten = w.full()
	}
	if asWritten {
		w = markdownWriter{}
		w.out.WriteString("<pre>")
		w.text(text)
		w.out.WriteString("</pre>")
	}
	return template.HTML(w.out.String()) //nolint:gosec // markdownWriter escapes all that it did not make itself
}

// dense reports whether a text has so many marks in one line that reading it as markdown
// takes long: time grows with their square.
func dense(text string) bool {
	for line := range strings.Lines(text) {
		if len(line) > maxMarks && strings.Count(line, "[")+strings.Count(line, "*")+strings.Count(line, "_")+strings.Count(line, "`")+
			strings.Count(line, ">")+strings.Count(line, "<")+strings.Count(line, "~") > maxMarks/2 {
			return true
		}
	}
	return false
}

// linesOf returns the lines of a text.
func linesOf(text string) []string {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

type markdownWriter struct {
	out    strings.Builder
	links  map[string]string // the addresses of the text, by their labels
	inLink bool
}

// full reports whether so much was written that nothing more is: a table of many columns, or
// a long address that is referred to often, makes of a small text a page of any size.
func (w *markdownWriter) full() bool { return w.out.Len() > maxHTML }

// text writes text, escaped, without characters that turn the direction of others.
func (w *markdownWriter) text(s string) { template.HTMLEscape(&w.out, []byte(visible(s))) }

// visible leaves out the characters that hide or turn text.
func visible(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = note.Printable(l)
	}
	return strings.Join(lines, "\n")
}

func (w *markdownWriter) blocks(all []block, depth int) {
	for i := 0; i < len(all) && !w.full(); i++ {
		w.block(&all[i], depth)
	}
}

func (w *markdownWriter) block(b *block, depth int) {
	if depth > maxDepth {
		w.out.WriteString("…")
		return
	}
	switch b.kind {
	case paragraph:
		w.around("p", func() { w.marked(b.text) })
	case heading: // the page's own headings are above those of a note
		w.around(fmt.Sprintf("h%d", min(b.level+2, 6)), func() { w.marked(b.text) })
	case code:
		w.out.WriteString("<pre tabindex=\"0\"><code>")
		w.text(b.text)
		w.out.WriteString("</code></pre>")
	case rawHTML:
		w.around("pre", func() { w.text(b.text) })
	case quote:
		w.around("blockquote", func() { w.blocks(b.blocks, depth+1) })
	case bullets:
		w.around("ul", func() { w.items(b, depth+1) })
	case numbers:
		open := "ol"
		if b.level != 1 {
			open = fmt.Sprintf("ol start=\"%d\"", b.level)
		}
		w.out.WriteString("<" + open + ">")
		w.items(b, depth+1)
		w.out.WriteString("</ol>")
	case table:
		w.table(b)
	case rule:
		w.out.WriteString("<hr>")
	}
}

// items writes the items of a list. The text of one in a list without blank lines is no
// paragraph.
func (w *markdownWriter) items(list *block, depth int) {
	for i := 0; i < len(list.blocks) && !w.full(); i++ {
		w.around("li", func() {
			in := list.blocks[i].blocks
			if len(in) > 0 && in[0].kind == paragraph {
				in[0].text = w.task(in[0].text)
			}
			for k := 0; k < len(in) && !w.full(); k++ {
				if in[k].kind == paragraph && !list.loose {
					w.marked(in[k].text)
				} else {
					w.block(&in[k], depth+1)
				}
			}
		})
	}
}

// task writes the box of an item that has one, and returns the text without it.
func (w *markdownWriter) task(text string) string {
	if len(text) > 3 && text[0] == '[' && text[2] == ']' && (text[3] == ' ' || text[3] == '\t') {
		switch text[1] {
		case 'x', 'X':
			w.out.WriteString("<span class=\"task\" role=\"img\" aria-label=\"done\">☑</span> ")
			return text[4:]
		case ' ':
			w.out.WriteString("<span class=\"task\" role=\"img\" aria-label=\"to do\">☐</span> ")
			return text[4:]
		}
	}
	return text
}

func (w *markdownWriter) table(b *block) {
	w.out.WriteString("<div class=\"scroll\" tabindex=\"0\"><table><thead>")
	for i, row := range b.rows {
		cell := "td"
		if i == 0 {
			cell = "th"
		}
		w.out.WriteString("<tr>")
		for k := 0; k < len(b.rows[0]) && !w.full(); k++ {
			w.around(cell, func() { w.marked(at(row, k)) })
		}
		w.out.WriteString("</tr>")
		if i == 0 {
			w.out.WriteString("</thead><tbody>")
		}
	}
	w.out.WriteString("</tbody></table></div>")
}

func (w *markdownWriter) around(element string, inner func()) {
	w.out.WriteString("<" + element + ">")
	inner()
	w.out.WriteString("</" + element + ">")
}

// marked writes a text with marks in it.
func (w *markdownWriter) marked(text string) { w.spans(spansOf(text, w.links), 0) }

func (w *markdownWriter) spans(all []*span, depth int) {
	if depth > maxDepth {
		w.out.WriteString("…")
		return
	}
	in := func(x *span) func() { return func() { w.spans(x.in, depth+1) } }
	for _, x := range all {
		if w.full() {
			return
		}
		switch x.kind {
		case plain:
			w.text(x.text)
		case codeSpan:
			w.around("code", func() { w.text(x.text) })
		case emphasis:
			w.around("em", in(x))
		case strong:
			w.around("strong", in(x))
		case struck:
			w.around("del", in(x))
		case linked:
			w.link(x.to, in(x))
		case picture: // nothing is loaded from elsewhere
			w.link(x.to, func() {
				w.out.WriteString("🖼 ")
				w.spans(x.in, depth+1)
			})
		case hardBreak:
			w.out.WriteString("<br>")
		case softBreak:
			w.out.WriteString("\n")
		}
	}
}

// link writes a link to the web; of any other, and of one in a link, only its text is
// written.
func (w *markdownWriter) link(to string, inner func()) {
	if to = webLink(to); to == "" || w.inLink {
		inner()
		return
	}
	w.inLink = true
	defer func() { w.inLink = false }()
	w.out.WriteString("<a target=\"_blank\" rel=\"noopener noreferrer nofollow\" href=\"")
	template.HTMLEscape(&w.out, []byte(to))
	w.out.WriteString("\">")
	inner()
	w.out.WriteString("</a>")
}

// webLink returns a link that may be followed, "" for any other.
func webLink(to string) string {
	u, err := url.Parse(strings.TrimSpace(to))
	if err != nil {
		return ""
	}
	switch u.Scheme { // in lower case
	case "http", "https":
		if u.Host == "" {
			return ""
		}
		return u.String()
	case "mailto":
		return u.String()
	}
	return ""
}
