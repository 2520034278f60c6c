package web

import (
	"html"
	"html/template"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"anamnesis/internal/note"
)

const (
	maxOpen   = 32      // marks that may begin emphasis or a link, within one another; of more, the first are text
	maxTarget = 4 << 10 // bytes of what follows the text of a link
	linkOpens = `<a target="_blank" rel="noopener noreferrer nofollow" href="`
)

// The forms of what stands in a paragraph.
var (
	targetForm = lazily(`^\([ \t\n]*(?:<([^<>\n]*)>|((?:[^\s()\\]|\\.|\((?:[^\s()\\]|\\.)*\))*))` +
		`(?:[ \t\n]+(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\((?:[^()\\]|\\.)*\)))?[ \t\n]*\)`)
	angleForm   = lazily(`^<([A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*|([\w.+-]+@[\w.-]+))>`)
	addressForm = lazily(`^(?i:https?://|(www\.))(?:[^\s<()\]]|\([^\s<()\]]*\))*(?:[^\s<()\]?!.,:;*_~'"]|\([^\s<()\]]*\))`)
	mailForm    = lazily(`^[\w.+-]+@\w[\w-]*(?:\.\w[\w-]*)+`)
	escapeForm  = lazily("\\\\[!-/:-@\\[-`{-~]|&[^;\\s&]{1,31};")
)

// A piece is a part of the HTML of a paragraph.
type piece struct {
	html   string // after the marks that are left
	anchor bool   // it begins or ends a link

	mark        byte // *, _, ~ or [; 0 for none
	left, all   int  // how many marks are text still, and were there
	open, close bool // whether they can begin or end emphasis
	after       int  // of [: where the text of the link begins
}

// A spanReader reads the marks of a paragraph. Marks are text until others end what they begin.
type spanReader struct {
	s     string
	at    int
	from  int // of text that is in no piece yet
	out   []piece
	open  []int        // the pieces that may begin something, the innermost last
	ticks map[int]bool // counts of backticks that do not come again
}

// marked writes a text with marks in it.
func (w *markdownWriter) marked(text string) {
	r := spanReader{s: text, ticks: make(map[int]bool)}
	for r.at < len(text) {
		if !r.mark(text[r.at]) {
			r.at++
		}
	}
	r.put(len(text))
	for _, p := range r.out {
		w.WriteString(strings.Repeat(string(p.mark), p.left) + p.html)
	}
}

// put ends plain text here, adds pieces, and goes on at an offset.
func (r *spanReader) put(next int, pieces ...piece) bool {
	if r.from < r.at {
		r.out = append(r.out, piece{html: template.HTMLEscapeString(r.s[r.from:r.at])})
	}
	r.out = append(r.out, pieces...)
	r.at, r.from = next, next
	return true
}

// begin adds marks that may begin something.
func (r *spanReader) begin(next int, p piece) bool {
	r.put(next, p)
	if r.open = append(r.open, len(r.out)-1); len(r.open) > maxOpen {
		r.open = slices.Delete(r.open, 0, 1)
	}
	return true
}

// link adds a link whose text is its address.
func (r *spanReader) link(next int, to, text string) bool {
	if to = webLink(to); to == "" {
		return false
	}
	return r.put(next, anchor(to), piece{html: template.HTMLEscapeString(text)}, piece{html: "</a>", anchor: true})
}

func anchor(to string) piece {
	return piece{html: linkOpens + template.HTMLEscapeString(to) + `">`, anchor: true}
}

// mark reads what begins with the next byte, and reports whether that is a mark.
func (r *spanReader) mark(c byte) bool {
	rest := r.s[r.at:]
	switch c {
	case '\\', '&':
		if strings.HasPrefix(rest, "\\\n") {
			return r.put(r.at+2, piece{html: "<br>"})
		} else if at := escapeForm().FindStringIndex(rest[:min(len(rest), 64)]); at != nil && at[0] == 0 {
			return r.put(r.at+at[1], piece{html: template.HTMLEscapeString(unescaped(rest[:at[1]]))})
		}
	case '`':
		return r.code(rest)
	case '*', '_', '~':
		return r.run(c, len(rest)-len(strings.TrimLeft(rest, string(c))))
	case '!':
		return strings.HasPrefix(rest, "![") && r.begin(r.at+2, piece{html: "![", mark: '[', after: r.at + 2})
	case '[':
		return r.begin(r.at+1, piece{html: "[", mark: '[', after: r.at + 1})
	case ']':
		return r.close(rest[1:])
	case '<':
		if m := angleForm().FindStringSubmatch(rest[:min(len(rest), maxTarget)]); m != nil {
			to := m[1]
			if m[2] != "" {
				to = "mailto:" + to
			}
			return r.link(r.at+len(m[0]), to, m[1])
		}
	case '\n':
		line := r.s[r.from:r.at]
		text := strings.TrimRight(line, " \t")
		end := piece{html: "\n"}
		if strings.HasSuffix(line, "  ") {
			end.html = "<br>"
		}
		next := r.at + 1
		r.at = r.from + len(text)
		return r.put(next, end)
	default:
		if before, _ := utf8.DecodeLastRuneInString(r.s[:r.at]); r.at == 0 || !wordRune(before) && !strings.ContainsRune(".+-@", before) {
			return wordRune(rune(c)) && r.address(rest[:min(len(rest), maxTarget)])
		}
	}
	return false
}

// address reads an address that stands in the text as it is.
func (r *spanReader) address(rest string) bool {
	if m := addressForm().FindStringSubmatch(rest); m != nil {
		to := m[0]
		if m[1] != "" {
			to = "http://" + to
		}
		return r.link(r.at+len(m[0]), to, m[0])
	}
	text := mailForm().FindString(rest)
	return text != "" && r.link(r.at+len(text), "mailto:"+text, text)
}

func (r *spanReader) code(rest string) bool {
	n := len(rest) - len(strings.TrimLeft(rest, "`"))
	for i := n; i < len(rest) && !r.ticks[n]; {
		at := strings.IndexByte(rest[i:], '`')
		if at < 0 {
			break
		}
		i += at
		k := len(rest[i:]) - len(strings.TrimLeft(rest[i:], "`"))
		if k == n {
			text := strings.ReplaceAll(rest[n:i], "\n", " ")
			if inner := strings.TrimSuffix(strings.TrimPrefix(text, " "), " "); len(inner) == len(text)-2 && strings.Trim(text, " ") != "" {
				text = inner
			}
			return r.put(r.at+i+n, piece{html: "<code>" + template.HTMLEscapeString(text) + "</code>"})
		}
		i += k
	}
	r.ticks[n] = true
	return r.put(r.at+n, piece{html: rest[:n]})
}

// run reads marks that end the emphasis that others began, or may begin one.
func (r *spanReader) run(c byte, n int) bool {
	before, _ := utf8.DecodeLastRuneInString(r.s[:r.at])
	after, _ := utf8.DecodeRuneInString(r.s[r.at+n:])
	spaceBefore, spaceAfter := r.at == 0 || unicode.IsSpace(before), r.at+n == len(r.s) || unicode.IsSpace(after)
	left := !spaceAfter && (!point(after) || spaceBefore || point(before))
	right := !spaceBefore && (!point(before) || spaceAfter || point(after))
	p := piece{mark: c, left: n, all: n, open: left && (c != '~' || n < 3), close: right}
	if c == '_' { // it is part of many names
		p.open, p.close = left && (!right || point(before)), right && (!left || point(after))
	}
	r.put(r.at)
	for k := len(r.open) - 1; p.close && p.left > 0 && k >= 0 && r.out[r.open[k]].mark != '['; {
		o := &r.out[r.open[k]]
		if !o.begins(p) {
			k--
			continue
		}
		size, element := 1, "em"
		if c == '~' {
			size, element = p.left, "del"
		} else if o.left > 1 && p.left > 1 {
			size, element = 2, "strong"
		}
		o.html = "<" + element + ">" + o.html
		o.left -= size
		p.left -= size
		if r.open = r.open[:k+1]; o.left == 0 {
			r.open = r.open[:k]
		}
		k = len(r.open) - 1
		r.out = append(r.out, piece{html: "</" + element + ">"})
	}
	if p.open && p.left > 0 {
		return r.begin(r.at+n, p)
	}
	return r.put(r.at+n, p)
}

// begins reports whether o may begin the emphasis that p ends.
func (o *piece) begins(p piece) bool {
	if o.mark != p.mark || o.mark == '~' {
		return o.mark == p.mark && o.left == p.left
	}
	return !o.close && !p.open || (o.all+p.all)%3 != 0 || o.all%3 == 0
}

// close reads a ], which ends a link if an address follows.
func (r *spanReader) close(rest string) bool {
	k := len(r.open) - 1
	for k >= 0 && r.out[r.open[k]].mark != '[' {
		k--
	}
	if k < 0 {
		return false
	}
	at := r.open[k]
	m := targetForm().FindStringSubmatch(rest[:min(len(rest), maxTarget)])
	if m == nil {
		r.open = slices.Delete(r.open, k, k+1)
		return false
	}
	r.put(r.at)
	picture := r.out[at].html == "!["
	begin, end := piece{}, piece{}
	if to := webLink(unescaped(m[1] + m[2])); to != "" { // of any other link, only the text is written
		begin, end = anchor(to), piece{html: "</a>", anchor: true}
		for i := range r.out[at:] { // no link is in another
			if p := &r.out[at+i]; p.anchor {
				_, p.html, _ = strings.Cut(p.html, ">")
			}
		}
	}
	if r.open = r.open[:k]; picture { // nothing is loaded from elsewhere
		begin.html += "🖼 "
	} else {
		r.open = slices.DeleteFunc(r.open, func(o int) bool { return r.out[o].html == "[" })
	}
	r.out[at] = begin
	return r.put(r.at+1+len(m[0]), end)
}

// unescaped takes the backslashes and entities out of a text.
func unescaped(s string) string {
	return escapeForm().ReplaceAllStringFunc(s, func(e string) string {
		if e[0] == '\\' {
			return e[1:]
		}
		if c := html.UnescapeString(e); utf8.RuneCountInString(c) < 3 { // an entity stands for one or two characters
			return note.Printable(strings.ReplaceAll(c, "\x00", "\ufffd"))
		}
		return e
	})
}

func point(c rune) bool { return unicode.IsPunct(c) || unicode.IsSymbol(c) }

func wordRune(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) || c == '/' }

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
