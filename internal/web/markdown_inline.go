package web

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A span is a piece of a paragraph.
type span struct {
	kind spanKind
	text string // of plain text and code
	to   string // the address of a link or picture
	in   []*span

	char        byte // of marks that may be emphasis
	count, all  int  // how many of them are left, and were there
	open, close bool // whether they can begin or end it
}

type spanKind uint8

const (
	plain spanKind = iota
	codeSpan
	emphasis
	strong
	struck
	linked
	picture
	softBreak
	hardBreak
	marks
)

// A bracket is a [ or ![ that may begin a link.
type bracket struct {
	at      int // of its text in the spans
	from    int // of what follows it in the text
	picture bool
	dead    bool // it stands in a link, which has no links in it
}

// A spanReader reads the marks of a paragraph.
type spanReader struct {
	s        string
	links    map[string]string
	at       int
	from     int // of text that is not in out yet
	out      []*span
	brackets []bracket
	ticks    map[int]bool // counts of backticks that do not come again
}

// spansOf returns the pieces of a text with marks.
func spansOf(s string, links map[string]string) []*span {
	r := spanReader{s: s, links: links, ticks: make(map[int]bool)}
	for r.at < len(s) {
		if !r.mark(s[r.at]) {
			r.at++
		}
	}
	r.flush(len(s))
	return emphasise(r.out)
}

// flush ends plain text at an offset.
func (r *spanReader) flush(end int) {
	if r.from < end {
		r.out = append(r.out, &span{text: r.s[r.from:end]})
	}
}

// put adds a span in place of the bytes from at to end.
func (r *spanReader) put(x *span, end int) bool {
	r.flush(r.at)
	r.out = append(r.out, x)
	r.at, r.from = end, end
	return true
}

// mark reads what begins with the next byte, and reports whether that is a mark.
func (r *spanReader) mark(c byte) bool {
	rest := r.s[r.at:]
	switch c {
	case '\\':
		switch {
		case len(rest) > 1 && rest[1] == '\n':
			return r.put(&span{kind: hardBreak}, r.at+2)
		case len(rest) > 1 && isPunct(rest[1]):
			return r.put(&span{text: rest[1:2]}, r.at+2)
		}
	case '`':
		return r.code()
	case '*', '_', '~':
		return r.run(c)
	case '!':
		if strings.HasPrefix(rest, "![") {
			return r.bracket(2, true)
		}
	case '[':
		return r.bracket(1, false)
	case ']':
		return r.close()
	case '<':
		return r.angle()
	case '&':
		return r.entity()
	case '\n':
		return r.lineEnd()
	case 'h', 'w', 'H', 'W':
		return r.address()
	case '@':
		return r.mail()
	}
	return false
}

func (r *spanReader) code() bool {
	rest := r.s[r.at:]
	n := len(rest) - len(strings.TrimLeft(rest, "`"))
	if !r.ticks[n] {
		for i := n; i < len(rest); {
			at := strings.IndexByte(rest[i:], '`')
			if at < 0 {
				break
			}
			i += at
			k := len(rest[i:]) - len(strings.TrimLeft(rest[i:], "`"))
			if k == n {
				text := strings.ReplaceAll(rest[n:i], "\n", " ")
				if len(text) > 2 && text[0] == ' ' && text[len(text)-1] == ' ' && strings.Trim(text, " ") != "" {
					text = text[1 : len(text)-1]
				}
				return r.put(&span{kind: codeSpan, text: text}, r.at+i+n)
			}
			i += k
		}
		r.ticks[n] = true
	}
	return r.put(&span{text: rest[:n]}, r.at+n)
}

// run reads marks that may be emphasis.
func (r *spanReader) run(c byte) bool {
	end := r.at
	for end < len(r.s) && r.s[end] == c {
		end++
	}
	n := end - r.at
	if c == '~' && n > 2 {
		return r.put(&span{text: r.s[r.at:end]}, end)
	}
	before, _ := utf8.DecodeLastRuneInString(r.s[:r.at])
	after, _ := utf8.DecodeRuneInString(r.s[end:])
	spaceBefore, spaceAfter := r.at == 0 || unicode.IsSpace(before), end == len(r.s) || unicode.IsSpace(after)
	pointBefore, pointAfter := unicode.IsPunct(before) || unicode.IsSymbol(before), unicode.IsPunct(after) || unicode.IsSymbol(after)
	left := !spaceAfter && (!pointAfter || spaceBefore || pointBefore)
	right := !spaceBefore && (!pointBefore || spaceAfter || pointAfter)
	x := &span{kind: marks, char: c, count: n, all: n, open: left, close: right}
	if c == '_' { // it is part of many names
		x.open, x.close = left && (!right || pointBefore), right && (!left || pointAfter)
	}
	return r.put(x, end)
}

func (r *spanReader) bracket(n int, picture bool) bool {
	r.flush(r.at)
	r.brackets = append(r.brackets, bracket{len(r.out), r.at + n, picture, false})
	r.out = append(r.out, &span{text: r.s[r.at : r.at+n]})
	r.at, r.from = r.at+n, r.at+n
	return true
}

// close reads a ], which ends a link if an address follows or its text is the label of one.
func (r *spanReader) close() bool {
	if len(r.brackets) == 0 {
		return false
	}
	b := r.brackets[len(r.brackets)-1]
	r.brackets = r.brackets[:len(r.brackets)-1]
	if b.dead {
		return false
	}
	to, n, ok := r.target(r.s[b.from:r.at], r.s[r.at+1:])
	if !ok {
		return false
	}
	r.flush(r.at)
	x := &span{kind: linked, to: to, in: emphasise(slices.Clone(r.out[b.at+1:]))}
	r.out, r.from = r.out[:b.at], r.at
	if b.picture {
		x.kind = picture
	} else {
		for i := range r.brackets {
			r.brackets[i].dead = r.brackets[i].dead || !r.brackets[i].picture
		}
	}
	return r.put(x, r.at+1+n)
}

// target returns the address of a link, and how much of what follows its text belongs to it.
func (r *spanReader) target(text, rest string) (to string, n int, ok bool) {
	if strings.HasPrefix(rest, "(") {
		if to, n, ok := inlineTarget(rest); ok {
			return to, n, true
		}
	}
	label := text
	if strings.HasPrefix(rest, "[") {
		if end := labelEnd(rest[1:]); end >= 0 && end+1 < len(rest) && rest[end+1] == ']' {
			n = end + 2
			if end > 0 {
				label = rest[1 : end+1]
			}
		}
	}
	if len(label) > maxLabel {
		return "", 0, false
	}
	to, ok = r.links[labelOf(label)]
	return to, n, ok
}

// inlineTarget reads an address and a title in parentheses.
func inlineTarget(s string) (to string, n int, ok bool) {
	const blank = " \t\n"
	rest := strings.TrimLeft(s[1:], blank)
	to, size := destination(rest)
	after := rest[size:]
	rest = strings.TrimLeft(after, blank)
	if len(rest) < len(after) && rest != "" && rest[0] != ')' {
		end := titleEnd(rest)
		if end == 0 {
			return "", 0, false
		}
		rest = strings.TrimLeft(rest[end:], blank)
	}
	return to, len(s) - len(rest) + 1, strings.HasPrefix(rest, ")")
}

// destination reads the address at the beginning of a text, and returns its length there.
func destination(s string) (to string, n int) {
	if strings.HasPrefix(s, "<") {
		end := strings.IndexAny(s[1:], "<>\n")
		if end < 0 || s[1+end] != '>' {
			return "", 0
		}
		return unescaped(s[1 : 1+end]), end + 2
	}
	depth := 0
	for n < len(s) && s[n] > ' ' && s[n] != 0x7f {
		switch {
		case s[n] == '\\' && n+1 < len(s) && isPunct(s[n+1]):
			n++
		case s[n] == '(':
			depth++
		case s[n] == ')':
			depth--
		}
		if depth < 0 {
			break
		}
		n++
	}
	return unescaped(s[:n]), n
}

// titleEnd returns the length of the title at the beginning of a text, 0 if there is none.
func titleEnd(s string) int {
	if s == "" || strings.IndexByte("\"'(", s[0]) < 0 {
		return 0
	}
	end := s[0]
	if end == '(' {
		end = ')'
	}
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case end:
			return i + 1
		}
	}
	return 0
}

// maxLabel is how long the label of a link may be, in bytes.
const maxLabel = 999

// labelEnd returns where the ] stands that ends a label, or less than 0.
func labelEnd(s string) int {
	for i := 0; i < len(s) && i < maxLabel; i++ {
		switch s[i] {
		case '\\':
			i++
		case '[':
			return -1
		case ']':
			return i
		}
	}
	return -1
}

// labelOf is how labels are compared.
func labelOf(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// unescaped takes the backslashes and entities out of an address.
func unescaped(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && isPunct(s[i+1]) {
			i++
		} else if s[i] == '&' {
			if text, n := entityOf(s[i:]); n > 0 {
				b.WriteString(text)
				i += n - 1
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
