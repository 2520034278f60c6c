package web

import (
	"html"
	"strings"
	"unicode"
	"unicode/utf8"
)

// angle reads what stands in angle brackets: an address, or an element, which is text.
func (r *spanReader) angle() bool {
	rest := r.s[r.at:]
	end := strings.IndexAny(rest[1:], "<> \t\n") + 1
	if end > 1 && rest[end] == '>' {
		inner := rest[1:end]
		if scheme, _, found := strings.Cut(inner, ":"); found && isScheme(scheme) {
			return r.put(&span{kind: linked, to: inner, in: []*span{{text: inner}}}, r.at+end+1)
		}
		if name, domain, found := strings.Cut(inner, "@"); found && name != "" && isDomain(domain) {
			return r.put(&span{kind: linked, to: "mailto:" + inner, in: []*span{{text: inner}}}, r.at+end+1)
		}
	}
	if end = tagEnd(rest); end > 0 {
		return r.put(&span{text: rest[:end]}, r.at+end)
	}
	return false
}

func isScheme(s string) bool {
	for i := range len(s) {
		if !isWord(s[i]) && strings.IndexByte("+.-", s[i]) < 0 {
			return false
		}
	}
	return len(s) > 1 && len(s) < 33
}

func isDomain(s string) bool {
	for i := range len(s) {
		if !isWord(s[i]) && s[i] != '.' && s[i] != '-' {
			return false
		}
	}
	return s != ""
}

// tagEnd returns the length of the element of HTML at the beginning of a text, 0 if there
// is none.
func tagEnd(s string) int {
	name := strings.TrimPrefix(s[1:], "/")
	switch {
	case strings.HasPrefix(s, "<!--"):
		return found(s, "-->")
	case strings.HasPrefix(s, "<?"):
		return found(s, "?>")
	case strings.HasPrefix(s, "<!"):
		return found(s, ">")
	case name == "" || !isWord(name[0]) || name[0] <= '9':
		return 0
	}
	if rest := strings.TrimLeft(name, elementNames); rest == "" || strings.IndexByte(" \t\n/>", rest[0]) < 0 {
		return 0
	}
	quoted := byte(0)
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case quoted != 0:
			if c == quoted {
				quoted = 0
			}
		case c == '"' || c == '\'':
			if s[i-1] != '=' {
				return 0
			}
			quoted = c
		case c == '<':
			return 0
		case c == '>':
			return i + 1
		}
	}
	return 0
}

// elementNames are the characters of the names of elements.
const elementNames = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-"

func found(s, end string) int {
	i := strings.Index(s, end)
	if i < 0 {
		return 0
	}
	return i + len(end)
}

// entity reads a character that stands there by its name or number.
func (r *spanReader) entity() bool {
	text, n := entityOf(r.s[r.at:])
	return n > 0 && r.put(&span{text: text}, r.at+n)
}

// entityOf returns the character that the beginning of a text names, and the length of that.
func entityOf(s string) (text string, n int) {
	const longest = 33
	end := strings.IndexByte(s[:min(len(s), longest)], ';')
	if end < 2 {
		return "", 0
	}
	name := s[:end+1]
	if name[1] == '#' && !isWord(name[2]) || name == "&#x;" || name == "&#X;" {
		return "", 0
	}
	if text = html.UnescapeString(name); text == name || strings.HasSuffix(text, ";") && name != "&semi;" && name != "&#59;" {
		return "", 0
	}
	return strings.ReplaceAll(text, "\x00", "\ufffd"), end + 1
}

// lineEnd reads the end of a line: two blanks before it ask for one on the page.
func (r *spanReader) lineEnd() bool {
	line := r.s[r.from:r.at]
	text := strings.TrimRight(line, " \t")
	kind := softBreak
	if strings.HasSuffix(line, "  ") {
		kind = hardBreak
	}
	r.flush(r.from + len(text))
	r.from = r.at
	return r.put(&span{kind: kind}, r.at+1)
}

// maxAddress is how long an address may be that stands in the text as it is, in bytes.
const maxAddress = 2048

// address reads an address that stands in the text as it is.
func (r *spanReader) address() bool {
	rest := r.s[r.at:]
	scheme := ""
	switch lower := strings.ToLower(rest[:min(len(rest), len("https://"))]); {
	case strings.HasPrefix(lower, "http://"), strings.HasPrefix(lower, "https://"):
	case strings.HasPrefix(lower, "www."):
		scheme = "http://"
	default:
		return false
	}
	if before, _ := utf8.DecodeLastRuneInString(r.s[:r.at]); r.at > 0 && before != '_' && wordRune(before) {
		return false
	}
	ends := " \t\n<"
	if len(r.brackets) > 0 {
		ends += "]" // of a link that it is the text of
	}
	end := strings.IndexAny(rest, ends)
	if end < 0 {
		end = len(rest)
	}
	text := rest[:end]
	if len(text) > maxAddress {
		return false
	}
	for {
		cut := strings.TrimRight(text, "?!.,:*_~'\"")
		if strings.HasSuffix(cut, ")") && strings.Count(cut, ")") > strings.Count(cut, "(") {
			cut = cut[:len(cut)-1]
		}
		if i := strings.LastIndexByte(cut, '&'); i >= 0 && strings.HasSuffix(cut, ";") && isDomain(cut[i+1:len(cut)-1]) {
			cut = cut[:i]
		}
		if cut == text {
			break
		}
		text = cut
	}
	if webLink(scheme+text) == "" {
		return false
	}
	return r.put(&span{kind: linked, to: scheme + text, in: []*span{{text: text}}}, r.at+len(text))
}

// mail reads the address of a person that stands in the text as it is.
func (r *spanReader) mail() bool {
	from, end := r.at, r.at+1
	for from > r.from && (isWord(r.s[from-1]) || strings.IndexByte(".+-", r.s[from-1]) >= 0) {
		from--
	}
	for end < len(r.s) && (isWord(r.s[end]) || strings.IndexByte(".-", r.s[end]) >= 0) {
		end++
	}
	text := strings.TrimRight(r.s[from:end], ".")
	domain := text[min(len(text), r.at+1-from):]
	if from == r.at || !strings.Contains(domain, ".") || strings.IndexByte("-_", domain[len(domain)-1]) >= 0 {
		return false
	}
	r.at = from
	return r.put(&span{kind: linked, to: "mailto:" + text, in: []*span{{text: text}}}, from+len(text))
}

// emphasise turns the marks that belong together into emphasis, and the others into text.
// Each kind of mark remembers up to where none was found that fits, so that time grows with
// the number of marks.
func emphasise(all []*span) []*span {
	var out []*span
	var bottom [3][2][3]int
	for _, x := range all {
		if x.kind != marks {
			out = append(out, x)
			continue
		}
		for x.close && x.count > 0 {
			low := &bottom[strings.IndexByte("*_~", x.char)][side(x.open)][x.all%3]
			k := len(out) - 1
			for k >= *low && !(out[k].kind == marks && out[k].opens(x)) {
				k--
			}
			if k < *low {
				*low = len(out)
				break
			}
			out = enclose(out, k, x)
			for i := range bottom {
				for j := range bottom[i] {
					for m := range bottom[i][j] {
						bottom[i][j][m] = min(bottom[i][j][m], len(out))
					}
				}
			}
		}
		switch {
		case x.count > 0 && x.open:
			out = append(out, x)
		case x.count > 0:
			out = append(out, x.plain())
		}
	}
	for i, x := range out {
		if x.kind == marks {
			out[i] = x.plain()
		}
	}
	return out
}

func side(open bool) int {
	if open {
		return 1
	}
	return 0
}

// opens reports whether the emphasis that end ends may begin with x.
func (x *span) opens(end *span) bool {
	switch {
	case x.char != end.char || !x.open || x.count == 0:
		return false
	case x.char == '~':
		return x.count == end.count
	case x.close || end.open:
		return (x.all+end.all)%3 != 0 || x.all%3 == 0 && end.all%3 == 0
	}
	return true
}

// plain is marks that are no emphasis.
func (x *span) plain() *span { return &span{text: strings.Repeat(string(x.char), x.count)} }

// enclose puts the spans behind the one at k, which begins the emphasis that end ends, into it.
func enclose(out []*span, k int, end *span) []*span {
	from, n, kind := out[k], 1, emphasis
	if from.count > 1 && end.count > 1 {
		n, kind = 2, strong
	}
	if end.char == '~' {
		kind = struck
	}
	in := append([]*span(nil), out[k+1:]...)
	for i, x := range in {
		if x.kind == marks {
			in[i] = x.plain()
		}
	}
	from.count -= n
	end.count -= n
	if from.count == 0 {
		k--
	}
	return append(out[:k+1], &span{kind: kind, in: in})
}

// isPunct reports whether a byte is punctuation of ASCII, which a backslash makes text.
func isPunct(c byte) bool { return c > ' ' && c < 0x7f && (!isWord(c) || c == '_') }

func wordRune(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) || c == '/' }

func isWord(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
}
