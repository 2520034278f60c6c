package text

import (
	"slices"
	"strings"
	"unicode"
)

// A Range is a stretch of a text: From is its first byte, To the one behind its last.
type Range struct{ From, To int }

// Pasted returns the blocks of a typed text that were visibly pasted, ordered and disjoint:
// code in fences, and what by its form was written by a program (logs, traces, diffs, code,
// tables, data) or copied from a document (mail, a page, a finding of a review).
//
// A block begins at a line, or behind the colon that introduces it, and is made of whole lines
// from there. The sentence before it is typed, and so is one behind it that stands in a
// separate paragraph. In doubt a text counts as typed.
func Pasted(s string) []Range {
	d := read(s)
	d.fences()
	for i := range d.lines {
		if l := &d.lines[i]; !l.pasted && !l.blank() {
			l.weight, l.begin = weigh(l, s[l.From:l.To])
			l.prose = l.weight == 0 && !l.quoted && isProse(l.text)
		}
	}
	d.blocks()
	d.documents()
	return d.ranges()
}

// Quoted returns the lines of a text that are quoted as in markdown and mail, "> …": ordered and
// disjoint.
func Quoted(s string) (out []Range) {
	at := 0
	for line := range strings.Lines(s) {
		if strings.HasPrefix(strings.TrimLeft(line, " \t"), ">") {
			out = add(out, Range{at, at + len(line)})
		}
		at += len(line)
	}
	return out
}

// add appends a range, or lets the last one grow by it.
func add(out []Range, r Range) []Range {
	if n := len(out); n > 0 && out[n-1].To >= r.From {
		out[n-1].To = max(out[n-1].To, r.To)
		return out
	}
	return append(out, r)
}

// A line of a text, with what its form says.
type line struct {
	Range
	text   string // without white space around it
	indent int    // columns before it; a tab counts four
	weight int    // how surely a program wrote it: 0 not at all, 2 surely
	begin  int    // where in the line the foreign part begins: 0, or behind an introduction
	item   bool   // of a list
	prose  bool   // reads like a sentence
	pasted bool
	quoted bool
}

func (l *line) blank() bool { return l.text == "" }

// introduces reports whether a line announces what comes behind it.
func (l *line) introduces() bool {
	return strings.HasSuffix(l.text, ":") || strings.HasSuffix(l.text, "：")
}

// title reports whether a line stands over a text: short, and no sentence.
func (l *line) title() bool {
	if l.heading() {
		return true
	}
	words := strings.Fields(l.text)
	first := []rune(l.text + " ")[0]
	return !l.item && !l.quoted && len(words) <= 10 && !strings.ContainsAny(l.text[len(l.text)-1:], ".:;,?!") &&
		(unicode.IsUpper(first) || unicode.IsTitle(first) || first == '-') && strings.ContainsFunc(l.text, unicode.IsLetter)
}

// heading reports whether a line is a heading of markdown, or wholly bold or emphasised.
func (l *line) heading() bool {
	if rest := strings.TrimLeft(l.text, "#"); rest != l.text {
		return len(l.text)-len(rest) <= 6 && strings.HasPrefix(rest, " ")
	}
	for _, mark := range []string{"**", "__", "_"} {
		if len(l.text) > 2*len(mark) && strings.HasPrefix(l.text, mark) && strings.HasSuffix(l.text, mark) {
			return true
		}
	}
	return false
}

// A document is a text as lines and paragraphs.
type document struct {
	lines []line
	paras []para
}

// A para is a run of lines without a blank one: lines[from:to].
type para struct{ from, to int }

func read(s string) *document {
	d := &document{}
	at := 0
	for raw := range strings.Lines(s) {
		l := line{Range: Range{at, at + len(raw)}, text: strings.TrimSpace(raw)}
		at += len(raw)
		for _, c := range raw {
			if c == '\t' {
				l.indent += 4
			} else if c == ' ' {
				l.indent++
			} else {
				break
			}
		}
		if !l.blank() {
			l.item = isItem(l.text)
			l.quoted = l.text[0] == '>'
		}
		d.lines = append(d.lines, l)
	}
	for i := 0; i < len(d.lines); i++ {
		if d.lines[i].blank() {
			continue
		}
		from := i
		for i < len(d.lines) && !d.lines[i].blank() {
			i++
		}
		d.paras = append(d.paras, para{from, i})
	}
	return d
}

// isItem reports whether a line is an item of a list.
func isItem(s string) bool {
	if strings.HasPrefix(s, "- ") || strings.HasPrefix(s, "* ") || strings.HasPrefix(s, "• ") {
		return true
	}
	rest := strings.TrimLeft(s, "0123456789")
	return rest != s && len(s)-len(rest) <= 3 && (strings.HasPrefix(rest, ". ") || strings.HasPrefix(rest, ") "))
}

// isProse reports whether a line has the shape of written words: three at least, or a mark of
// a sentence at its end, and few signs among them.
func isProse(s string) bool {
	words, letters, signs := 0, 0, 0
	for _, w := range strings.Fields(s) {
		if strings.ContainsFunc(w, unicode.IsLetter) {
			words++
		}
	}
	for _, r := range s {
		switch {
		case unicode.IsLetter(r) || unicode.IsSpace(r):
			letters++
		case !unicode.IsDigit(r):
			signs++
		}
	}
	ends := strings.HasSuffix(s, ".") || strings.HasSuffix(s, "?") || strings.HasSuffix(s, "!") || strings.HasSuffix(s, ":")
	wide := strings.ContainsFunc(s, func(r rune) bool { return r >= 0x2e80 && unicode.IsLetter(r) })
	return letters > 3*signs && (words >= 3 || ends || wide)
}

// fences marks the blocks that stand between two fences, or behind one that nothing closes.
// A block in triple quotes must be closed.
func (d *document) fences() {
	for i := 0; i < len(d.lines); i++ {
		mark := fenceMark(d.lines[i].text)
		if mark == "" {
			continue
		}
		end := slices.IndexFunc(d.lines[i+1:], func(l line) bool {
			if mark[0] == '"' || mark[0] == '\'' {
				return strings.HasSuffix(l.text, mark)
			}
			return strings.HasPrefix(l.text, mark) && strings.Trim(l.text, mark[:1]) == ""
		})
		switch {
		case end >= 0:
			end += i + 2
		case mark[0] == '`' || mark[0] == '~':
			end = len(d.lines)
		default:
			continue
		}
		d.mark(i, end)
		i = end - 1
	}
}

// fenceMark returns the backticks, tildes or quotes with which a line begins, three at least;
// "" if it begins with none.
func fenceMark(s string) string {
	for _, c := range []string{"`", "~", `"`, "'"} {
		n := len(s) - len(strings.TrimLeft(s, c))
		if n >= 3 && !strings.Contains(s[n:], c) {
			return s[:n]
		}
	}
	return ""
}

// mark says that the lines from i up to before end were pasted.
func (d *document) mark(i, end int) {
	for ; i < end; i++ {
		d.lines[i].pasted = true
	}
}

// ranges returns what was marked. Blank lines between two marked ones go with them.
func (d *document) ranges() (out []Range) {
	last := -1
	for i := range d.lines {
		l := &d.lines[i]
		if !l.pasted {
			if !l.blank() {
				last = -1
			}
			continue
		}
		from := l.From + l.begin
		if last >= 0 && l.begin == 0 {
			from = d.lines[last].To
		}
		out = add(out, Range{from, l.To})
		last = i
	}
	return out
}
