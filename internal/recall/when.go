package recall

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// A Window is the time a question names, in whole days of the clock's zone.
type Window struct {
	From, To   time.Time // both included; To is the last nanosecond of its day
	Phrase     string    // the words that say so, as they stand in the question
	Rest       string    // the question without them
	Confidence float64   // 0 to 1: a date that is written out is surer than "recently"
}

// maxDated bounds in how much of a question dates are looked for, in bytes.
const maxDated = 4 << 10

// FindWindow returns the time that a question names, nil when it names
// none or of the future alone (R6). Of several the surest counts, of equals the
// first. A month or day without a year is the last one. Numbers of versions,
// lines and ports are no years, and words that are glued to others ("today()",
// "yesterday.log") no dates. It never fails.
func FindWindow(question string, now time.Time) *Window {
	y, m, d := now.Date()
	p := &parser{text: question, today: dayOf(y, m, d), year: y, month: m, hour: now.Hour()}
	if !p.cut(question[:min(len(question), maxDated)]) {
		return nil
	}
	var best *moment
	for i := 0; i < len(p.words); {
		m, ok := p.moment(i)
		if !ok {
			i++
			continue
		}
		i = m.next
		if m, ok = p.reshape(m); ok && (best == nil || m.sure > best.sure) {
			best = &m
		}
	}
	if best == nil {
		return nil
	}
	start, end := p.words[best.first].start, best.end
	return &Window{
		From: best.from.start(now.Location()), To: (best.to + 1).start(now.Location()).Add(-time.Nanosecond),
		Phrase: question[start:end], Rest: around(question[:start], question[end:]), Confidence: best.sure,
	}
}

func around(before, after string) string {
	before, after = strings.TrimRight(before, " \t\n"), strings.TrimLeft(after, " \t\n")
	if before == "" || after == "" {
		return before + after
	}
	return before + " " + after
}

// reshape applies the word before a moment ("since", "before the") and leaves
// out what is in the future.
func (p *parser) reshape(m moment) (moment, bool) {
	at := m.first - 1
	if p.is(at, "the") && p.joined(m.first) {
		at--
	}
	word := ""
	if at >= 0 && p.joined(at+1) && (at+1 == m.first || p.joined(m.first)) {
		word = p.words[at].text
		if word == "to" && p.is(at-1, "prior") && p.joined(at) {
			word, at = "before", at-1
		}
	}
	last := p.today
	if m.exact {
		last = max(last, m.to)
	}
	switch word {
	case "before":
		m.from, m.to = 0, m.from-1
	case "until", "till":
		m.from = 0
	case "since":
		m.to, last = p.today, p.today
	case "after":
		m.from, m.to, last = m.to+1, p.today, p.today
	default:
		at = m.first
		if m.needs { // the preposition is what makes it a date
			at--
		}
	}
	m.first = at
	m.to = min(m.to, last)
	return m, m.from <= m.to && m.from <= p.today
}

// A word is a run of letters, digits and underscores of a question.
type word struct {
	token
	text       string // lower case
	start, end int
	blank      bool // nothing but blanks stand between it and the one before
}

// A parser finds moments among the words of a question.
type parser struct {
	text  string
	today day
	year  int // of today, like the two below
	month time.Month
	hour  int
	words []word

	at, next int  // the form that is read begins with one word, and ends before the other
	limit    day  // what could be of any year is not after it
	inside   bool // of a range
	hyphen   int  // where a word may begin though a hyphen stands before it
	room     [32]word
}

// cut cuts a text into words, and reports whether any of them may belong to a date.
func (p *parser) cut(text string) (maybe bool) {
	p.words = p.room[:0]
	for i := 0; i < len(text); {
		w := word{start: i}
		upper := false
		for n := inWord(text[i:]); n > 0; n = inWord(text[i:]) {
			upper = upper || 'A' <= text[i] && text[i] <= 'Z'
			i += n
		}
		if i == w.start {
			_, n := utf8.DecodeRuneInString(text[i:])
			i += n
			continue
		}
		w.end = i
		if w.text = text[w.start:i]; upper {
			w.text = strings.ToLower(w.text)
		}
		w.token = meaningOf(w.text)
		maybe = maybe || w.dated
		if n := len(p.words); n > 0 {
			w.blank = strings.Trim(text[p.words[n-1].end:w.start], " \t\r\n") == ""
		}
		p.words = append(p.words, w)
	}
	return maybe
}

// inWord returns how many bytes of a word s begins with, 0 when with none.
func inWord(s string) int {
	if s == "" {
		return 0
	}
	if c := s[0]; c < utf8.RuneSelf {
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' {
			return 1
		}
		return 0
	}
	r, n := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError || !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) {
		return 0
	}
	return n
}

func (p *parser) is(i int, texts ...string) bool {
	if i < 0 || i >= len(p.words) {
		return false
	}
	for _, t := range texts {
		if p.words[i].text == t {
			return true
		}
	}
	return false
}

func (p *parser) kind(i int) kind {
	if i < 0 || i >= len(p.words) {
		return ""
	}
	return p.words[i].kind
}

// joined reports whether word i follows the one before it after blanks alone.
func (p *parser) joined(i int) bool { return i > 0 && i < len(p.words) && p.words[i].blank }

// near reports whether word i follows the one before it after blanks and at most a comma.
func (p *parser) near(i int) bool {
	return p.joined(i) || i > 0 && i < len(p.words) && p.text[p.words[i-1].end:p.words[i].start] == ", "
}

// linked reports whether word i follows the one before it after blanks, or a
// hyphen of any width.
func (p *parser) linked(i int) bool {
	if p.joined(i) {
		return true
	}
	if i < 1 || i >= len(p.words) {
		return false
	}
	switch p.text[p.words[i-1].end:p.words[i].start] {
	case "-", "\u2010", "\u2011", "–":
		return true
	}
	return false
}

// free reports whether a stretch of the question stands for itself: it is no
// part of a path, a name, a call or a version.
func (p *parser) free(start, end int) bool {
	if start > 0 && start != p.hyphen && strings.IndexByte("./\\:@#$-=_~", p.text[start-1]) >= 0 {
		return false
	}
	if end >= len(p.text) {
		return true
	}
	switch p.text[end] {
	case '_', '/', '\\', '@', '(', '=', '-':
		return false
	case '.', ':':
		return inWord(p.text[end+1:]) == 0
	}
	return true
}

// recencyIntent reports whether a question asks for what is so now, in words
// that are no date: "current", "latest", "these days". Names of things in code
// ("current directory", "node:latest", "time.Now()") do not count.
func recencyIntent(question string) bool {
	p := &parser{text: question}
	p.cut(question[:min(len(question), maxDated)])
	for i, w := range p.words {
		if !p.free(w.start, w.end) {
			continue
		}
		switch w.text {
		case "currently", "nowadays", "presently", "still":
			return true
		case "current":
			if !p.joined(i+1) || !p.is(i+1, "directory", "dir", "folder", "file", "line", "user", "thread", "process", "node", "element",
				"row", "cursor", "page", "working", "position", "iteration", "scope", "shell", "sprint") {
				return true
			}
		case "latest":
			return true
		case "now":
			if !p.is(i-1, "for", "by") {
				return true
			}
		case "today":
			if strings.HasPrefix(question[w.end:], "'s") || strings.HasPrefix(question[w.end:], "’s") {
				return true
			}
		case "days":
			if p.is(i-1, "these") && w.blank {
				return true
			}
		case "moment", "present":
			if p.is(i-1, "at") && w.blank || p.is(i-1, "the") && p.is(i-2, "at") {
				return true
			}
		}
	}
	return false
}
