package web

import (
	"fmt"
	"html/template"
	"net/url"
	"strings"

	"anamnesis/internal/note"

	"rsc.io/markdown"
)

const (
	maxMarkdown = 64 << 10 // bytes of a text that is read as markdown; a longer one is shown as it is written
	maxMarks    = 4000     // characters of one line that markdown may nest
	maxDepth    = 40       // of blocks and of marks within one another
)

// markdownOf returns a text of markdown as HTML, in GitHub's flavour. We write every
// element ourselves from what the parser found, so that nothing else gets in: no raw
// HTML, no pictures, no link but to the web.
func markdownOf(text string) template.HTML {
	var w markdownWriter
	if len(text) > maxMarkdown || dense(text) {
		w.out.WriteString("<pre>")
		w.text(text)
		w.out.WriteString("</pre>")
	} else {
		p := markdown.Parser{Strikethrough: true, TaskListItems: true, AutoLinkText: true, Table: true}
		w.blocks(p.Parse(text).Blocks, 0)
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

type markdownWriter struct{ out strings.Builder }

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

func (w *markdownWriter) blocks(all []markdown.Block, depth int) {
	for _, b := range all {
		w.block(b, depth)
	}
}

func (w *markdownWriter) block(b markdown.Block, depth int) {
	if depth > maxDepth {
		w.out.WriteString("…")
		return
	}
	switch b := b.(type) {
	case *markdown.Paragraph:
		w.around("p", func() { w.inline(b.Text.Inline, 0) })
	case *markdown.Text:
		w.inline(b.Inline, 0)
	case *markdown.Heading: // the page's own headings are above those of a note
		w.around(fmt.Sprintf("h%d", min(b.Level+2, 6)), func() { w.inline(b.Text.Inline, 0) })
	case *markdown.CodeBlock:
		w.out.WriteString("<pre tabindex=\"0\"><code>")
		for _, line := range b.Text {
			w.text(line + "\n")
		}
		w.out.WriteString("</code></pre>")
	case *markdown.HTMLBlock:
		w.out.WriteString("<pre>")
		w.text(strings.Join(b.Text, "\n"))
		w.out.WriteString("</pre>")
	case *markdown.Quote:
		w.around("blockquote", func() { w.blocks(b.Blocks, depth+1) })
	case *markdown.List:
		w.list(b, depth)
	case *markdown.Item:
		w.around("li", func() { w.blocks(b.Blocks, depth+1) })
	case *markdown.Table:
		w.table(b)
	case *markdown.ThematicBreak:
		w.out.WriteString("<hr>")
	}
}

func (w *markdownWriter) list(b *markdown.List, depth int) {
	kind, start := "ul", ""
	if b.Bullet == '.' || b.Bullet == ')' {
		kind = "ol"
		if b.Start != 1 {
			start = fmt.Sprintf(" start=\"%d\"", b.Start)
		}
	}
	w.out.WriteString("<" + kind + start + ">")
	w.blocks(b.Items, depth+1)
	w.out.WriteString("</" + kind + ">")
}

func (w *markdownWriter) table(b *markdown.Table) {
	row := func(cell string, cells []*markdown.Text) {
		w.out.WriteString("<tr>")
		for _, c := range cells {
			w.around(cell, func() { w.inline(c.Inline, 0) })
		}
		w.out.WriteString("</tr>")
	}
	w.out.WriteString("<div class=\"scroll\" tabindex=\"0\"><table><thead>")
	row("th", b.Header)
	w.out.WriteString("</thead><tbody>")
	for _, r := range b.Rows {
		row("td", r)
	}
	w.out.WriteString("</tbody></table></div>")
}

func (w *markdownWriter) around(element string, inner func()) {
	w.out.WriteString("<" + element + ">")
	inner()
	w.out.WriteString("</" + element + ">")
}

func (w *markdownWriter) inline(all []markdown.Inline, depth int) {
	if depth > maxDepth {
		w.out.WriteString("…")
		return
	}
	for _, in := range all {
		switch in := in.(type) {
		case *markdown.Plain:
			w.text(in.Text)
		case *markdown.Escaped:
			w.text(in.Text)
		case *markdown.Emoji:
			w.text(in.Text)
		case *markdown.HTMLTag:
			w.text(in.Text)
		case *markdown.Code:
			w.around("code", func() { w.text(in.Text) })
		case *markdown.Emph:
			w.around("em", func() { w.inline(in.Inner, depth+1) })
		case *markdown.Strong:
			w.around("strong", func() { w.inline(in.Inner, depth+1) })
		case *markdown.Del:
			w.around("del", func() { w.inline(in.Inner, depth+1) })
		case *markdown.Link:
			w.link(in.URL, func() { w.inline(in.Inner, depth+1) })
		case *markdown.AutoLink:
			w.link(in.URL, func() { w.text(in.Text) })
		case *markdown.Image: // nothing is loaded from elsewhere
			w.link(in.URL, func() {
				w.out.WriteString("🖼 ")
				w.inline(in.Inner, depth+1)
			})
		case *markdown.Task:
			if in.Checked {
				w.out.WriteString("<span class=\"task\" role=\"img\" aria-label=\"done\">☑</span> ")
			} else {
				w.out.WriteString("<span class=\"task\" role=\"img\" aria-label=\"to do\">☐</span> ")
			}
		case *markdown.HardBreak:
			w.out.WriteString("<br>")
		case *markdown.SoftBreak:
			w.out.WriteString("\n")
		}
	}
}

// link writes a link to the web; of any other only its text is written.
func (w *markdownWriter) link(to string, inner func()) {
	if to = webLink(to); to == "" {
		inner()
		return
	}
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
