package web

import "strings"

// A block is a paragraph, a list, a table: what takes whole lines.
type block struct {
	kind   blockKind
	level  int        // of a heading; the first number of an ordered list
	loose  bool       // of a list: its items have paragraphs
	text   string     // marks and text of a paragraph and a heading; of code and HTML as it stands
	blocks []block    // of a quote, a list, an item
	rows   [][]string // of a table; the first is its head
}

type blockKind uint8

const (
	paragraph blockKind = iota
	heading
	code
	rawHTML
	quote
	bullets
	numbers
	item
	table
	rule
)

// A blockReader reads the blocks of lines. A list or a quote has a separate reader for
// what is in it, which gets the lines without the marks before them.
type blockReader struct {
	links map[string]string // the addresses of the whole text, by their labels
	depth int

	lines []string
	next  int      // line
	para  []string // lines of a paragraph that has not ended
	out   []block
	blank bool // a blank line stands before the next block
	loose bool // one stood between two
}

// inner returns the blocks of lines within a block of b, and whether a blank line stands
// between two of them.
func (b *blockReader) inner(lines []string) ([]block, bool) {
	in := blockReader{links: b.links, depth: b.depth + 1, lines: lines}
	if in.depth > maxDepth {
		return []block{{text: "…"}}, false
	}
	return in.read(), in.loose
}

func (b *blockReader) read() []block {
	for b.next < len(b.lines) {
		line := b.lines[b.next]
		switch {
		case isBlank(line):
			b.flush()
			b.blank = true
			b.next++
		case len(b.para) > 0 && (b.underlined(line) || b.table(line)):
		case b.open(line):
		default:
			b.para = append(b.para, strings.TrimLeft(line, " \t"))
			b.next++
		}
	}
	b.flush()
	return b.out
}

func (b *blockReader) add(x block) {
	b.loose = b.loose || b.blank && len(b.out) > 0
	b.blank = false
	b.out = append(b.out, x)
}

// flush ends the paragraph.
func (b *blockReader) flush() {
	if text := b.ended(); text != "" {
		b.add(block{text: text})
	}
}

// ended returns the text of the paragraph, which is over. Addresses of links at its
// beginning are no part of it.
func (b *blockReader) ended() string {
	for len(b.para) > 0 {
		label, to, ok := definition(b.para[0])
		if !ok {
			break
		}
		if _, known := b.links[label]; !known {
			b.links[label] = to
		}
		b.para = b.para[1:]
	}
	text := strings.TrimRight(strings.Join(b.para, "\n"), " \t")
	b.para = nil
	return text
}

// underlined makes a heading of the paragraph if line is drawn below it.
func (b *blockReader) underlined(line string) bool {
	mark := strings.TrimSpace(line)
	if indent(line) > 3 || strings.Trim(mark, mark[:1]) != "" || mark[0] != '=' && mark[0] != '-' {
		return false
	}
	level := 1
	if mark[0] == '-' {
		level = 2
	}
	text := b.ended()
	if text == "" { // it was nothing but addresses
		return false
	}
	b.add(block{kind: heading, level: level, text: text})
	b.next++
	return true
}

// table reads a table, if line divides its head, which is the last line of the paragraph,
// from its rows.
func (b *blockReader) table(line string) bool {
	if !strings.Contains(line, "|") || indent(line) > 3 {
		return false
	}
	head, parts := cells(b.para[len(b.para)-1]), cells(line)
	if len(head) != len(parts) {
		return false
	}
	for _, p := range parts {
		if p = strings.TrimSuffix(strings.TrimPrefix(p, ":"), ":"); p == "" || strings.Trim(p, "-") != "" {
			return false
		}
	}
	b.para = b.para[:len(b.para)-1]
	b.flush()
	t := block{kind: table, rows: [][]string{head}}
	for b.next++; b.next < len(b.lines); b.next++ {
		line := b.lines[b.next]
		if _, is := opens(line, false); isBlank(line) || is {
			break
		}
		t.rows = append(t.rows, cells(line)) // of as many cells as it has: the head says how many are shown
	}
	b.add(t)
	return true
}

// open reads the block that begins at a line, if one does.
func (b *blockReader) open(line string) bool {
	kind, is := opens(line, len(b.para) > 0)
	if !is {
		return false
	}
	b.flush()
	text := strings.TrimLeft(line, " \t")
	switch kind {
	case heading:
		level := len(text) - len(strings.TrimLeft(text, "#"))
		text = strings.TrimSpace(text[level:])
		if end := strings.TrimRight(text, "#"); end == "" || strings.HasSuffix(end, " ") {
			text = strings.TrimSpace(end)
		}
		b.add(block{kind: heading, level: level, text: text})
		b.next++
	case rule:
		b.add(block{kind: rule})
		b.next++
	case code:
		b.code(text, indent(line))
	case rawHTML:
		b.rawHTML(text)
	case quote:
		b.quote()
	case item:
		b.list()
	}
	return true
}

// code reads code that is fenced or, if text begins with no fence, indented.
func (b *blockReader) code(text string, in int) {
	n := fence(text)
	var lines []string
	if in > 3 {
		for ; b.next < len(b.lines) && (isBlank(b.lines[b.next]) || indent(b.lines[b.next]) > 3); b.next++ {
			lines = append(lines, dedent(b.lines[b.next], 4))
		}
		for lines[len(lines)-1] == "" || isBlank(lines[len(lines)-1]) {
			lines = lines[:len(lines)-1]
			b.next-- // it stands before the next block
		}
	} else {
		mark := text[:1]
		for b.next++; b.next < len(b.lines); b.next++ {
			line := b.lines[b.next]
			if end := strings.TrimSpace(line); indent(line) < 4 && len(end) >= n && strings.Trim(end, mark) == "" {
				b.next++
				break
			}
			lines = append(lines, dedent(line, min(in, indent(line))))
		}
	}
	for i := range lines {
		lines[i] += "\n"
	}
	b.add(block{kind: code, text: strings.Join(lines, "")})
}

// rawHTML reads HTML, which is shown as it is written.
func (b *blockReader) rawHTML(text string) {
	end := htmlEnd(text)
	from := b.next
	for ; b.next < len(b.lines); b.next++ {
		line := b.lines[b.next]
		if end == "" && isBlank(line) {
			break
		}
		if end != "" && strings.Contains(strings.ToLower(line), end) {
			b.next++
			break
		}
	}
	b.add(block{kind: rawHTML, text: strings.Join(b.lines[from:b.next], "\n")})
}

// quote reads what is quoted.
func (b *blockReader) quote() {
	var in taken
	for ; b.next < len(b.lines); b.next++ {
		line := b.lines[b.next]
		text := strings.TrimLeft(line, " \t")
		if quoted, is := strings.CutPrefix(text, ">"); is && indent(line) < 4 {
			if quoted != "" && (quoted[0] == ' ' || quoted[0] == '\t') {
				quoted = dedent(quoted, 1)
			}
			in.add(quoted)
		} else if in.goesOn(line) {
			in.add(line)
		} else {
			break
		}
	}
	blocks, _ := b.inner(in.lines)
	b.add(block{kind: quote, blocks: blocks})
}

// taken are the lines of a quote or an item, without the marks of it.
type taken struct {
	lines  []string
	fenced bool // the last one is within a fence
}

func (in *taken) add(line string) {
	in.lines = append(in.lines, line)
	in.fenced = in.fenced != (fence(bare(line)) > 0)
}

func (in *taken) last() string { return in.lines[len(in.lines)-1] }

// goesOn reports whether a line without the marks of the quote or item is part of the
// paragraph at its end.
func (in *taken) goesOn(line string) bool {
	if _, is := opens(line, true); is || isBlank(line) || in.fenced || len(in.lines) == 0 {
		return false
	}
	last := bare(in.last())
	_, is := opens(last, false)
	return !isBlank(last) && !is
}

// list reads a list.
func (b *blockReader) list() {
	first, _ := markerOf(b.lines[b.next])
	l := block{kind: bullets}
	if first.ordered {
		l.kind, l.level = numbers, first.number
	}
	gap := false
	for b.next < len(b.lines) {
		line := b.lines[b.next]
		m, is := markerOf(line)
		if !is || m.char != first.char || m.ordered != first.ordered || isRule(strings.TrimSpace(line)) {
			break
		}
		l.loose = l.loose || gap
		lines := b.item(m)
		blocks, loose := b.inner(lines)
		l.loose = l.loose || loose
		l.blocks = append(l.blocks, block{kind: item, blocks: blocks})
		from := b.next
		for b.next < len(b.lines) && isBlank(b.lines[b.next]) {
			b.next++
		}
		gap = b.next > from
		if m, is := markerOf(at(b.lines, b.next)); gap && (!is || m.char != first.char || m.ordered != first.ordered) {
			b.next = from // the blank lines stand before what follows the list
			break
		}
	}
	b.add(l)
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}

// item takes the lines of the item that begins at the next line. Blank lines at its end are
// none of it.
func (b *blockReader) item(m marker) []string {
	var in taken
	if m.empty {
		in.add("")
	} else {
		in.add(dedent(b.lines[b.next][m.bytes:], m.width-m.column))
	}
	for b.next++; b.next < len(b.lines); b.next++ {
		line := b.lines[b.next]
		blank := isBlank(line)
		if blank && m.empty && len(in.lines) == 1 {
			return in.lines
		}
		switch _, is := markerOf(line); {
		case blank:
			line = ""
		case indent(line) >= m.width:
			line = dedent(line, m.width)
		case !is && !isBlank(in.last()) && in.goesOn(line):
		default:
			return b.unread(in.lines)
		}
		in.add(line)
	}
	return b.unread(in.lines)
}

// unread gives the blank lines at the end of an item back.
func (b *blockReader) unread(lines []string) []string {
	for len(lines) > 1 && isBlank(lines[len(lines)-1]) {
		lines = lines[:len(lines)-1]
		b.next--
	}
	return lines
}
