package main

import (
	"html"
	"path"
	"regexp"
	"strings"

	"anamnesis/lab/origin"
)

// A section is a piece of a document below a heading.
type section struct {
	page, above, heading string
	body                 string // paragraphs between blank lines; code is fenced
}

var (
	fence      = regexp.MustCompile("^\\s*(```|~~~)")
	atx        = regexp.MustCompile(`^(#{1,6})\s+(.*?)\s*#*$`)
	mdLink     = regexp.MustCompile(`\[([^\]]*)\]\(([^)\s]*)[^)]*\)`)
	mdMarks    = regexp.MustCompile("[*_]{2,3}|`|^>\\s?|<!--.*?-->|\\{[%{#<].*?[%}#>]\\}|\\{#.*?\\}|</?[a-zA-Z][^>]*>")
	rstRole    = regexp.MustCompile(":[\\w:]+:`([^`<]*?)(?:\\s*<[^>]*>)?`")
	htmlHead   = regexp.MustCompile(`(?is)<h([1-6])\b[^>]*>(.*?)</h[1-6]>`)
	htmlTitle  = regexp.MustCompile(`(?is)<title\b[^>]*>(.*?)</title>`)
	htmlPre    = regexp.MustCompile(`(?is)<pre\b[^>]*>(.*?)</pre>`)
	htmlLink   = regexp.MustCompile(`(?is)<a\b[^>]*href="([^"#:]*)[^"]*"[^>]*>(.*?)</a>`)
	htmlChrome = regexp.MustCompile(`(?is)<(script|style|nav|header|footer)\b.*?</(script|style|nav|header|footer)>`)
	htmlTag    = regexp.MustCompile(`<[^>]*>`)
)

// headings keeps the path of headings while a document is read.
type headings struct {
	all  []section
	page string
	up   [7]string
	now  section
	body strings.Builder
}

func (h *headings) open(level int, title string) {
	h.close()
	title = strings.TrimSpace(title)
	if h.page == "" {
		h.page = title
	}
	above := ""
	for i := range level {
		if h.up[i] != "" {
			above = h.up[i]
		}
	}
	for i := level; i < len(h.up); i++ {
		h.up[i] = ""
	}
	h.up[level] = title
	h.now = section{page: h.page, above: above, heading: title}
}

func (h *headings) close() {
	h.now.body = h.body.String()
	h.body.Reset()
	if h.now.heading != "" && strings.TrimSpace(h.now.body) != "" {
		h.all = append(h.all, h.now)
	}
	h.now = section{}
}

// markdown cuts a document at its headings.
func markdown(text string) []section {
	var h headings
	if rest, ok := strings.CutPrefix(text, "---\n"); ok { // front matter
		if head, body, ok := strings.Cut(rest, "\n---\n"); ok {
			for line := range strings.Lines(head) {
				if t, ok := strings.CutPrefix(line, "title:"); ok {
					h.page = strings.Trim(strings.TrimSpace(t), `"'`)
				}
			}
			text = body
		}
	}
	code := false
	for line := range strings.Lines(text) {
		if fence.MatchString(line) {
			code = !code
			h.body.WriteString("\n```\n")
			continue
		}
		if !code {
			if m := atx.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil {
				h.open(len(m[1]), mdMarks.ReplaceAllString(mdLink.ReplaceAllString(m[2], "$1"), ""))
				continue
			}
		}
		h.body.WriteString(line)
	}
	h.close()
	return h.all
}

// rst cuts a document at its underlined titles. Which mark is which level is shown
// by the order in which the marks appear.
func rst(text string) []section {
	var h headings
	var marks []byte
	lines := strings.Split(text, "\n")
	code := false
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		if i+1 < len(lines) && len(line) > 2 && line[0] != ' ' && isUnderline(lines[i+1], len(line)) && !isUnderline(line, 3) {
			mark := lines[i+1][0]
			level := strings.IndexByte(string(marks), mark)
			if level < 0 && len(marks) < 6 {
				marks = append(marks, mark)
				level = len(marks) - 1
			}
			if code {
				h.body.WriteString("\n```\n")
				code = false
			}
			h.open(max(level, 0)+1, rstText(line))
			i++
			continue
		}
		indented := strings.HasPrefix(line, "   ")
		if code && line != "" && !indented {
			h.body.WriteString("\n```\n")
			code = false
		}
		if strings.HasPrefix(strings.TrimSpace(line), ".. ") {
			if strings.Contains(line, "code") {
				h.body.WriteString("\n```\n")
				code = true
			}
			continue
		}
		h.body.WriteString(rstText(line) + "\n")
		if strings.HasSuffix(line, "::") && !indented && !code {
			h.body.WriteString("\n```\n")
			code = true
		}
	}
	if code {
		h.body.WriteString("\n```\n")
	}
	h.close()
	return h.all
}

func isUnderline(line string, least int) bool {
	line = strings.TrimRight(line, " ")
	return len(line) >= min(least, 4) && strings.ContainsRune("=-~^\"'`#*+.:_", rune(line[0])) && strings.Count(line, line[:1]) == len(line)
}

func rstText(line string) string {
	return strings.ReplaceAll(strings.ReplaceAll(rstRole.ReplaceAllString(line, "$1"), "``", ""), "`", "")
}

// webPage cuts a page at its headings. Links stay as Markdown writes them.
func webPage(text string) []section {
	var h headings
	if m := htmlTitle.FindStringSubmatch(text); m != nil {
		h.page = plain(m[1])
	}
	text = htmlChrome.ReplaceAllString(text, " ")
	heads := htmlHead.FindAllStringSubmatchIndex(text, -1)
	for i, m := range heads {
		to := len(text)
		if i+1 < len(heads) {
			to = heads[i+1][0]
		}
		h.open(int(text[m[2]]-'0'), plain(text[m[4]:m[5]]))
		body := htmlPre.ReplaceAllStringFunc(text[m[1]:to], func(pre string) string {
			return "<p>```<p>" + htmlTag.ReplaceAllString(pre, "") + "<p>```<p>"
		})
		body = htmlLink.ReplaceAllString(body, "[$2]($1)")
		h.body.WriteString(origin.PlainHTML(body))
	}
	h.close()
	return h.all
}

func plain(fragment string) string {
	return strings.Trim(html.UnescapeString(htmlTag.ReplaceAllString(fragment, "")), " \t\n¶§#")
}

// opening is how a page begins, for those who link to it.
func opening(ext, text string) string {
	sections := markdown(text)
	if ext == ".html" {
		sections = webPage(text)
	}
	var b strings.Builder
	for _, s := range sections {
		b.WriteString(s.heading + ". ")
		for _, p := range paragraphs(s.body) {
			if !p.code {
				b.WriteString(p.text + " ")
			}
		}
		if b.Len() > passageBytes {
			break
		}
	}
	return b.String()
}

// A paragraph is prose or code.
type paragraph struct {
	text, raw string
	code      bool
}

func paragraphs(body string) (all []paragraph) {
	code := false
	for i, part := range strings.Split(body, "\n```\n") {
		code = i%2 == 1
		if code {
			if strings.TrimSpace(part) != "" {
				all = append(all, paragraph{text: part, code: true})
			}
			continue
		}
		for _, p := range strings.Split(strings.ReplaceAll(part, "```", ""), "\n\n") {
			raw := strings.Join(strings.Fields(p), " ")
			if t := strings.TrimSpace(mdMarks.ReplaceAllString(mdLink.ReplaceAllString(raw, "$1"), "")); t != "" {
				all = append(all, paragraph{text: t, raw: raw})
			}
		}
	}
	return all
}

var sentenceEnd = regexp.MustCompile(`[.!?:]["')]?\s+`)

// first returns the first sentence of a text and the rest.
func first(text string) (sentence, rest string) {
	for at := 0; ; {
		m := sentenceEnd.FindStringIndex(text[at:])
		if m == nil {
			return text, ""
		}
		end := at + m[1]
		s := strings.TrimSpace(text[:end])
		if !strings.HasSuffix(s, "e.g.") && !strings.HasSuffix(s, "i.e.") && !strings.HasSuffix(s, "etc.") {
			return s, text[end:]
		}
		at = end
	}
}

func lastSentence(text string) string {
	for {
		s, rest := first(text)
		if rest == "" {
			return s
		}
		text = rest
	}
}

// sections takes the pairs out of a document that was cut at its headings.
func (x *extractor) sections(name string, all []section) {
	for _, s := range all {
		parts := paragraphs(s.body)
		var body strings.Builder
		for i, p := range parts {
			if body.Len() < 2*passageBytes {
				body.WriteString(p.text + " ")
			}
			if p.code {
				continue
			}
			x.links(name, p.raw)
			if i+1 < len(parts) && parts[i+1].code {
				x.emit("prose-code", lastSentence(p.text), parts[i+1].text)
			} else if sentence, rest := first(p.text); len(rest) > 120 {
				x.emit("opening", sentence, rest)
			}
		}
		query := s.heading
		if len(strings.Fields(query)) < 3 {
			query = strings.TrimSpace(either(s.above, s.page) + " " + query)
		}
		kind := "heading"
		if strings.HasSuffix(query, "?") {
			kind = "question"
		}
		x.emit(kind, query, body.String())
	}
}

func either(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// links pairs sentences with the pages that they link to.
func (x *extractor) links(name, text string) {
	for text != "" {
		var sentence string
		if sentence, text = first(text); len(sentence) > 400 {
			continue
		}
		for _, m := range mdLink.FindAllStringSubmatch(sentence, 2) {
			target, _, _ := strings.Cut(m[2], "#")
			if target == "" || strings.Contains(target, ":") {
				continue
			}
			to := path.Clean(path.Join(path.Dir(name), target))
			page := x.pages[to]
			if page == "" {
				page = x.pages[to+".md"]
			}
			if page != "" && to != path.Clean(name) {
				x.emit("link", mdMarks.ReplaceAllString(mdLink.ReplaceAllString(sentence, "$1"), ""), page)
			}
		}
	}
}
