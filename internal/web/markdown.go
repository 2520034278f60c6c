package web

import (
	"fmt"
	"html"
	"html/template"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"anamnesis/internal/note"
)

const (
	maxMarkdown = 64 << 10  // bytes of a text that is read as markdown; a longer one is shown as it is written
	maxDepth    = 16        // of quotes and lists within one another; what is deeper is shown as it is written
	maxOpen     = 32        // marks that may begin emphasis, within one another; more are text
	maxSpan     = 2 << 10   // bytes of a link or a code span
	maxEscape   = 40        // bytes of an escape or an entity
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

func (w *markdownWriter) asWritten(lines []string) {
	w.around("pre", func() { template.HTMLEscape(w, []byte(strings.Join(lines, "\n"))) })
}

func (w *markdownWriter) around(element string, inner func()) {
	name, _, _ := strings.Cut(element, " ")
	w.WriteString("<" + element + ">")
	inner()
	w.WriteString("</" + name + ">")
}

// marked writes a text with marks in it.
func (w *markdownWriter) marked(text string) { w.WriteString(spans(text, true)) }

// blocks writes what takes whole lines: paragraphs, lists and the like. The text that an item begins with is in no paragraph.
func (w *markdownWriter) blocks(lines []string, depth int, inItem bool) {
	if depth > maxDepth {
		w.asWritten(lines)
		return
	}
	for n := 0; len(lines) > 0 && !w.full(); lines = lines[n:] {
		n = 1
		switch kindOf(lines[0]) {
		case blank:
			continue
		case fence:
			n = w.code(lines)
		case heading: // the page's own headings are above those of a note
			h := blockForms[heading]().FindStringSubmatch(lines[0])
			w.around(fmt.Sprintf("h%d", min(len(h[1])+2, 6)), func() { w.marked(h[2]) })
		case rule:
			w.WriteString("<hr>")
		case quote:
			var in []string
			for n = 0; n < len(lines) && kindOf(lines[n]) == quote; n++ {
				in = append(in, blockForms[quote]().FindStringSubmatch(lines[n])[1])
			}
			w.around("blockquote", func() { w.blocks(in, depth+1, false) })
		case item:
			n = w.list(lines, depth+1)
		case prose:
			if head := tableHead(lines); head != nil {
				n = w.table(head, lines)
			} else {
				n = w.paragraph(lines, inItem)
			}
		}
		inItem = false
	}
}

// paragraph writes the paragraph that lines begin with, and returns how many lines that is.
func (w *markdownWriter) paragraph(lines []string, bare bool) (n int) {
	for n = 1; n < len(lines) && tableHead(lines[n:]) == nil; n++ {
		kind := kindOf(lines[n])
		if m := markerOf(lines[n]); kind != prose && (kind != item || m.text != "" && (m.number == "" || m.number == "1")) {
			break
		}
	}
	var all []string
	for _, l := range lines[:n] {
		all = append(all, strings.TrimLeft(l, " \t"))
	}
	text := strings.TrimRight(strings.Join(all, "\n"), " \t")
	if bare {
		w.marked(text)
	} else {
		w.around("p", func() { w.marked(text) })
	}
	return n
}

// code writes the block of code that lines begin with, and returns how many lines that is.
func (w *markdownWriter) code(lines []string) (n int) {
	f := blockForms[fence]().FindStringSubmatch(lines[0])
	w.WriteString(`<pre tabindex="0"><code>`)
	for _, l := range lines[1:] {
		n++
		if end := strings.TrimSpace(l); strings.HasPrefix(end, f[1]+f[2]) && strings.Trim(end, end[:1]) == "" {
			break
		}
		template.HTMLEscape(w, []byte(dedent(l, indent(lines[0]))+"\n"))
	}
	w.WriteString("</code></pre>")
	return n + 1
}

// tableHead returns the cells of the head of the table that lines begin with, nil when they begin with none.
func tableHead(lines []string) []string {
	if len(lines) < 2 || !strings.Contains(lines[1], "|") || !dividerForm().MatchString(lines[1]) {
		return nil
	}
	if head := cells(lines[0]); len(head) == len(cells(lines[1])) {
		return head
	}
	return nil
}

// table writes the table that lines begin with, and returns how many lines that is.
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
	for n = 2; n < len(lines) && kindOf(lines[n]) == prose; n++ {
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
	first := markerOf(lines[0])
	element := "ul"
	if first.number != "" {
		element = "ol"
		if first.number != "1" {
			element = `ol start="` + first.number + `"`
		}
	}
	w.around(element, func() {
		for n < len(lines) && kindOf(lines[n]) == item && !w.full() {
			m := markerOf(lines[n])
			if m.char != first.char {
				break
			}
			in := []string{m.text}
			for n++; n < len(lines) && (kindOf(lines[n]) == blank || indent(lines[n]) >= m.width); n++ {
				in = append(in, dedent(lines[n], m.width))
			}
			w.around("li", func() {
				in[0] = w.task(in[0])
				w.blocks(in, depth, true)
			})
		}
	})
	return n
}

// task writes the box that the text of an item begins with, if it does, and returns the text without it.
func (w *markdownWriter) task(text string) string {
	switch box := text[:min(len(text), 4)]; box {
	case "[ ] ":
		w.WriteString(`<span class="task" role="img" aria-label="to do">☐</span> `)
	case "[x] ", "[X] ":
		w.WriteString(`<span class="task" role="img" aria-label="done">☑</span> `)
	default:
		return text
	}
	return text[4:]
}

// lazily compiles an expression when it is first used: every command and hook starts this program.
func lazily(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// A blockKind is what a line begins.
type blockKind uint8

const (
	blank blockKind = iota
	fence
	quote
	heading
	rule
	item
	prose // a paragraph, a table, or the next line of one
)

var blockForms = [prose]func() *regexp.Regexp{
	blank:   lazily(`^[ \t]*$`),
	fence:   lazily("^[ \\t]*(?:(`{3,})[^`]*$|(~{3,}))"),
	quote:   lazily(`^[ \t]*> ?(.*)`),
	heading: lazily(`^ {0,3}(#{1,6})(?:[ \t]+|$)(.*?)(?:(?:^|[ \t])#+)?[ \t]*$`),
	rule:    lazily(`^[ \t]*(?:(?:-[ \t]*){3,}|(?:_[ \t]*){3,}|(?:\*[ \t]*){3,})$`),
	item:    lazily(`^[ \t]*(?:([-+*])|(\d{1,9})([.)]))(?:[ \t]+(.*))?$`),
}

var dividerForm = lazily(`^[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$`)

func kindOf(line string) (kind blockKind) {
	for kind < prose && !blockForms[kind]().MatchString(line) {
		kind++
	}
	return kind
}

// A marker begins an item of a list.
type marker struct {
	char   string // the bullet, or what stands behind the number
	number string // "" for a bullet
	text   string // what follows in the line
	width  int    // columns that the further lines of the item are indented by
}

// markerOf reads the marker of a line, the zero value when it has none.
func markerOf(line string) (m marker) {
	if f := blockForms[item]().FindStringSubmatch(line); f != nil {
		m = marker{char: f[1] + f[3], number: f[2], text: f[4]}
		m.width = indent(line) + len(m.char+m.number) + 1
	}
	return m
}

// indent counts the columns before the text of a line.
func indent(line string) int {
	text := strings.TrimLeft(line, " \t")
	before := line[:len(line)-len(text)]
	return len(before) + 3*strings.Count(before, "\t")
}

// dedent takes columns of blanks from the beginning of a line, or as many as there are.
func dedent(line string, columns int) string {
	for columns > 0 && line != "" && (line[0] == ' ' || line[0] == '\t') {
		columns -= indent(line[:1])
		line = line[1:]
	}
	return line
}

// The forms of what stands in a paragraph.
var (
	linkForm = lazily(`^!?\[((?:[^\[\]\\]|\\.|\[[^\[\]]*\])*)\]` +
		`\([ \n]*(?:<([^<>\n]*)>|((?:[^\s()\\]|\\.|\([^\s()]*\))*))(?:[ \n]+"[^"]*")?[ \n]*\)`)
	angleForm   = lazily(`^<((?i:https?://|mailto:)[^\s<>]*|[\w.+-]+@[\w.-]+)>`)
	addressForm = lazily(`^(?:(?i:https?://|www\.)(?:[^\s<()\]]|\([^\s<()\]]*\))*(?:[^\s<()\]?!.,:;*_~'"]|\([^\s<()\]]*\))|` +
		`[\w.+-]+@\w[\w-]*(?:\.\w[\w-]*)+)`)
	escapeForm = lazily(`^(?:\\[[:punct:]]|&#?\w{1,31};)`)
	escapes    = lazily(`\\([[:punct:]])`)
)

// A piece is a part of the HTML of a paragraph.
type piece struct {
	html string // behind the marks that are left
	mark byte   // *, _ or ~; 0 for none
	left int    // how many marks are text still
}

// A spanReader reads the marks of a paragraph. Marks are text until others end what they begin.
type spanReader struct {
	text  string
	at    int
	links bool // links are written, none is in another
	out   []piece
	open  []int // the pieces that may begin something, the innermost last
}

// spans returns a text with marks in it as HTML.
func spans(text string, links bool) string {
	r := spanReader{text: text, links: links}
	for r.at < len(text) {
		rest := text[r.at:min(len(text), r.at+maxSpan)]
		if !r.mark(rest) {
			_, n := utf8.DecodeRuneInString(rest)
			r.put(n, template.HTMLEscapeString(rest[:n]))
		}
	}
	var b strings.Builder
	for _, p := range r.out {
		b.WriteString(strings.Repeat(string(p.mark), p.left) + p.html)
	}
	return b.String()
}

// put adds HTML for the next n bytes.
func (r *spanReader) put(n int, html string) bool {
	r.out = append(r.out, piece{html: html})
	r.at += n
	return true
}

// mark reads what begins here, and reports whether it is anything but a character.
func (r *spanReader) mark(rest string) bool {
	switch c := rest[0]; c {
	case '\\', '&':
		if strings.HasPrefix(rest, "\\\n") {
			return r.put(2, "<br>")
		} else if e := escapeForm().FindString(rest[:min(len(rest), maxEscape)]); e != "" {
			return r.put(len(e), template.HTMLEscapeString(note.Printable(unescaped(e))))
		}
	case ' ':
		if n := run(rest); n > 1 && strings.HasPrefix(rest[n:], "\n") {
			return r.put(n+1, "<br>")
		}
	case '`':
		return r.code(rest)
	case '*', '_', '~':
		return r.emphasis(c, run(rest))
	case '!', '[':
		if m := linkForm().FindStringSubmatch(rest[:strings.LastIndexByte(rest, ')')+1]); m != nil {
			text := spans(m[1], false)
			if c == '!' { // nothing is loaded from elsewhere
				text = "🖼 " + text
			}
			return r.link(len(m[0]), unescaped(m[2]+m[3]), text)
		}
	case '<':
		if m := angleForm().FindStringSubmatch(rest[:strings.IndexByte(rest, '>')+1]); m != nil {
			return r.link(len(m[0]), m[1], template.HTMLEscapeString(m[1]))
		}
	default:
		return r.word(rest)
	}
	return false
}

// run counts how often the first character of a text, of one byte, stands there.
func run(s string) int { return len(s) - len(strings.TrimLeft(s, s[:1])) }

// link adds a link, or only its text when it is not to the web.
func (r *spanReader) link(n int, to, text string) bool {
	if to = webLink(to); to == "" || !r.links {
		return r.put(n, text)
	}
	return r.put(n, `<a target="_blank" rel="noopener noreferrer nofollow" href="`+template.HTMLEscapeString(to)+`">`+text+"</a>")
}

// word reads a word, or an address that stands in the text as it is.
func (r *spanReader) word(rest string) bool {
	n := strings.IndexFunc(rest, func(c rune) bool { return !wordRune(c) && !strings.ContainsRune(".+-@/", c) })
	if n < 0 {
		n = len(rest)
	}
	if start := strings.ToLower(rest[:min(n, 4)]); start == "http" || start == "www." || strings.Contains(rest[:n], "@") {
		if n := len(addressForm().FindString(rest)); n > 0 {
			return r.link(n, rest[:n], template.HTMLEscapeString(rest[:n]))
		}
	}
	return n > 0 && r.put(n, template.HTMLEscapeString(rest[:n]))
}

// code reads a code span, or the backticks that begin none.
func (r *spanReader) code(rest string) bool {
	n := run(rest)
	for i := n; i < len(rest); {
		k := len(rest[i:]) - len(strings.TrimLeft(rest[i:], "`"))
		if k == n {
			return r.put(i+n, "<code>"+template.HTMLEscapeString(strings.TrimSpace(strings.ReplaceAll(rest[n:i], "\n", " ")))+"</code>")
		}
		i += max(k, 1)
	}
	return r.put(n, rest[:n])
}

// emphasis reads n marks that end what others began, or may begin something. Three marks are emphasis in strong, or the reverse.
func (r *spanReader) emphasis(c byte, n int) bool {
	before, size := utf8.DecodeLastRuneInString(r.text[:r.at])
	closes := size > 0 && !unicode.IsSpace(before) && n < 4
	after, size := utf8.DecodeRuneInString(r.text[r.at+n:])
	opens := size > 0 && !unicode.IsSpace(after) && n < 4
	if c == '_' { // it is part of many names
		opens, closes = opens && !wordRune(before), closes && !wordRune(after)
	}
	r.at += n
	p := piece{mark: c, left: n}
	for k := len(r.open) - 1; closes && k >= 0 && p.left > 0; k-- {
		o := &r.out[r.open[k]]
		if o.mark != c || o.left != p.left && (c == '~' || max(o.left, p.left) < 3) {
			continue
		}
		size, element := min(o.left, p.left, 2), "em"
		if c == '~' {
			size, element = n, "del"
		} else if size == 2 {
			element = "strong"
		}
		o.html = "<" + element + ">" + o.html
		o.left -= size
		p.left -= size
		r.out = append(r.out, piece{html: "</" + element + ">"})
		if r.open = r.open[:k]; o.left > 0 {
			r.open = r.open[:k+1]
			k++
		}
	}
	if r.out = append(r.out, p); opens && p.left > 0 && len(r.open) < maxOpen {
		r.open = append(r.open, len(r.out)-1)
	}
	return true
}

// unescaped takes the backslashes and entities out of a text.
func unescaped(s string) string {
	return html.UnescapeString(escapes().ReplaceAllString(s, "$1"))
}

func wordRune(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) }

// webLink returns the address that a link may lead to, "" for none.
func webLink(to string) string {
	if strings.HasPrefix(strings.ToLower(to), "www.") {
		to = "http://" + to
	} else if strings.Contains(to, "@") && !strings.ContainsAny(to, ":/") {
		to = "mailto:" + to
	}
	u, err := url.Parse(strings.TrimSpace(to))
	if err != nil || u.Scheme != "mailto" && (u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		return ""
	}
	return u.String()
}
