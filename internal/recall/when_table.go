package recall

import (
	"regexp"
	"strings"
	"sync"
	"time"
)

// A day is a date: days since 1970-01-01, whatever the zone.
type day int

func dayOf(y int, m time.Month, d int) day {
	t := time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Unix()
	if t < 0 {
		t -= 24*60*60 - 1
	}
	return day(t / (24 * 60 * 60))
}

func (d day) date() (int, time.Month, int) {
	return time.Unix(int64(d)*24*60*60, 0).UTC().Date()
}

func (d day) start(zone *time.Location) time.Time {
	y, m, dd := d.date()
	return time.Date(y, m, dd, 0, 0, 0, 0, zone)
}

func (d day) weekday() int { return ((int(d)+4)%7 + 7) % 7 } // 1970-01-01 was a Thursday

// monday is the first day of the week of d.
func (d day) monday() day { return d - day((d.weekday()+6)%7) }

// A kind is what a word may be in a date. The forms of dates name it in capitals.
type kind string

const (
	numberWord      kind = "NUMBER"
	prepositionWord kind = "PREPOSITION"
)

// Units, in the order of the vocabulary.
const (
	minutes = iota
	hours
	days
	weeks
	months
	years
)

type token struct {
	kind  kind
	value int
	dated bool // no date is without such a word, but those that are written in digits
}

// vocabulary holds the words of dates.
var vocabulary = sync.OnceValue(func() map[string]token {
	all := make(map[string]token)
	for _, k := range []struct {
		kind  kind
		dated bool
		first int    // the value of the first words
		words string // those of one value, a bar, those of the next
	}{
		{"MONTH", true, 1, "january jan|february feb|march mar|april apr|may|june jun|" +
			"july jul|august aug|september sep sept|october oct|november nov|december dec"},
		{"WEEKDAY", true, 0, "sunday|monday mon|tuesday tue tues|wednesday wed|thursday thu thurs|friday fri|saturday"},
		{"UNIT", true, minutes, "minute minutes|hour hours|day days|week weeks|month months|year years"},
		{"PERIOD", true, 0, "quarter weekend sprint"},
		{"Q", true, 1, "q1|q2|q3|q4"},
		{"RELATIVE", true, 0, "today tonight|yesterday"},
		{"DAYTIME", true, 0, "morning afternoon evening|night"},
		{"LATELY", true, 0, "recently lately"},
		{numberWord, false, 1, "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"},
		{"A", false, 1, "a an"},
		{"VAGUE", false, 1, "couple|few"},
		{"LAST", false, 0, "last previous past"},
		{"THIS", false, 0, "this current"},
		{"HALF", false, 0, "half"},
		{"PART", false, 0, "early beginning|mid middle|late end"},
		{prepositionWord, false, 0, "in during around since before after until till from by on"},
	} {
		for i, same := range strings.Split(k.words, "|") {
			for w := range strings.FieldsSeq(same) {
				all[w] = token{k.kind, k.first + i, k.dated}
			}
		}
	}
	return all
})

// meaningOf returns what a word in lower case may be in a date.
func meaningOf(w string) token {
	n, i := 0, 0
	for ; i < len(w) && i < 5 && '0' <= w[i] && w[i] <= '9'; i++ {
		n = n*10 + int(w[i]-'0')
	}
	switch {
	case i == 0 && len(w) > len("yesterday"):
		return token{}
	case i == 0:
		return vocabulary()[w]
	case i == len(w) && i < 5:
		return token{numberWord, n, i == 4}
	case i < 5 && (w[i:] == "st" || w[i:] == "nd" || w[i:] == "rd" || w[i:] == "th"):
		return token{"ORDINAL", n, false}
	}
	return token{}
}

// A span is the days that a form names, and how sure that is, from 0 for "none after all" to 1.
type span struct {
	from, to day
	sure     float64
}

// How a form depends on a preposition before it, and on the year.
const (
	prep   = 1 << iota // it is a date because of the preposition, which is part of the phrase
	after              // it is a date only behind a preposition
	floats             // it could be of any year: it is the last one
)

// A dateForm is a way to write a date: its words, and the days that they name. Words in capitals are kinds, whose values days gets. A ?
// says that a word may be left out, a comma that one may stand before it, a hyphen likewise.
type dateForm struct {
	words string
	flags int
	days  func(p *parser, v []int) span
}

// dateForms is the table of dates. The first that fits counts.
var dateForms = [...]dateForm{
	{"RELATIVE DAYTIME?", 0, func(p *parser, v []int) span {
		if rest := p.text[p.words[p.at].end:]; v[0] == 0 && (strings.HasPrefix(rest, "'s") || strings.HasPrefix(rest, "’s")) {
			return span{} // "today's convention" is the present one, see recencyIntent
		}
		return span{p.today - day(v[0]), p.today - day(v[0]), 0.9}
	}},
	{"day before yesterday", 0, func(p *parser, _ []int) span { return span{p.today - 2, p.today - 2, 0.9} }},
	{"LATELY", 0, func(p *parser, _ []int) span { return span{p.today - 14, p.today, 0.4} }},
	{"HALF A? UNIT ago", 0, func(p *parser, v []int) span {
		if unit := v[len(v)-1]; unit >= weeks {
			middle, around := p.today-day(length(unit)/2), day(length(unit)/6)
			return span{middle - around, min(p.today, middle+around), 0.6}
		}
		return span{}
	}},
	{"A? VAGUE of? UNIT ago", 0, func(p *parser, v []int) span {
		n, unit := v[len(v)-2], v[len(v)-1]
		return span{p.back(n+2+n/2, unit), p.back(n, unit), 0.6}
	}},
	{"A UNIT ago", 0, ago},
	{"NUMBER UNIT ago", 0, ago},
	{"past UNIT", 0, func(p *parser, v []int) span {
		if p.is(p.at+1, "minute") {
			return span{}
		}
		return span{p.back(1, v[0]), p.today, 0.8}
	}},
	{"LAST hour", 0, func(p *parser, _ []int) span { return span{p.back(1, hours), p.today, 0.8} }},
	{"LAST hours", 0, func(p *parser, _ []int) span { return span{p.back(1, hours), p.today, 0.8} }},
	{"LAST NUMBER UNIT", 0, func(p *parser, v []int) span { return span{p.back(v[1], v[2]), p.today, 0.8} }},
	{"LAST VAGUE of? UNIT", 0, func(p *parser, v []int) span { return span{p.back(2*v[1]+1, v[2]), p.today, 0.6} }},
	{"LAST night", 0, func(p *parser, _ []int) span { return span{p.today - 1, p.today - 1, 0.9} }},
	{"LAST week", 0, func(p *parser, _ []int) span { return span{p.today.monday() - 7, p.today.monday() - 1, 0.9} }},
	{"LAST month", 0, func(p *parser, _ []int) span { return p.months(p.year, p.month-1, 1, 0.9) }},
	{"LAST quarter", 0, func(p *parser, _ []int) span { return p.months(p.year, firstOf(p.month)-3, 3, 0.9) }},
	{"LAST year", 0, func(p *parser, _ []int) span { return p.months(p.year-1, 1, 12, 0.9) }},
	{"LAST weekend", 0, func(p *parser, _ []int) span { return span{p.today.monday() - 2, p.today.monday() - 1, 0.9} }},
	{"LAST sprint", 0, func(p *parser, _ []int) span { return span{p.today - 28, p.today - 14, 0.5} }},
	{"LAST WEEKDAY", 0, func(p *parser, v []int) span { return on(p.today-1-day((p.today.weekday()-1-v[1]+14)%7), 0.9) }},
	{"LAST MONTH of? ,YEAR", 0, func(p *parser, v []int) span { return p.months(v[2], time.Month(v[1]), 1, 0.6) }},
	{"LAST MONTH ORDINAL", 0, func(p *parser, v []int) span { return atMost(0.6, p.lastDay(v[1], v[2])) }},
	{"LAST MONTH DAY", 0, func(p *parser, v []int) span { return atMost(0.6, p.lastDay(v[1], v[2])) }},
	{"LAST MONTH", 0, func(p *parser, v []int) span { return p.lastMonths(v[1], 1) }},
	{"THIS week", 0, func(p *parser, _ []int) span { return span{p.today.monday(), p.today, 0.9} }},
	{"THIS month", 0, func(p *parser, _ []int) span { return span{dayOf(p.year, p.month, 1), p.today, 0.9} }},
	{"THIS quarter", 0, func(p *parser, _ []int) span { return span{dayOf(p.year, firstOf(p.month), 1), p.today, 0.9} }},
	{"THIS year", 0, func(p *parser, _ []int) span { return span{dayOf(p.year, 1, 1), p.today, 0.9} }},
	{"THIS sprint", 0, func(p *parser, _ []int) span { return span{p.today - 14, p.today, 0.5} }},
	{"THIS weekend", 0, func(p *parser, _ []int) span { // it is to come until Saturday
		return span{p.today.monday() + 5, p.today.monday() + 6, 0.9}
	}},
	{"THIS WEEKDAY", 0, func(p *parser, v []int) span { return on(p.today.monday()+day((v[1]+6)%7), 0.9) }},
	{"THIS DAYTIME", 0, func(p *parser, v []int) span { return on(p.today, 0.9*float64(1-v[1])) }}, // "this night" is to come
	{"PART -of? -in? -MONTH of? ,YEAR", 0, func(p *parser, v []int) span {
		return third(v[0], p.months(v[2], time.Month(v[1]), 1, 0.7))
	}},
	{"PART -of? -in? -MONTH", 0, func(p *parser, v []int) span {
		for _, day := range []string{"DAY", "ORDINAL"} { // "early march 5" is a day
			if _, is := p.value(p.next, element{text: day, kind: true}); is && p.joined(p.next) {
				return span{}
			}
		}
		return third(v[0], p.lastMonths(v[1], 1))
	}},
	{"PART -of? -in? -YEAR", 0, func(p *parser, v []int) span { return third(v[0], p.months(v[1], 1, 12, 0.7)) }},
	{"MONTH of? ,YEAR", 0, func(p *parser, v []int) span { return p.months(v[1], time.Month(v[0]), 1, 0.9) }},
	{"MONTH ORDINAL ,YEAR", 0, func(_ *parser, v []int) span { return dayIn(v[2], v[0], v[1]) }},
	{"MONTH DAY ,YEAR", 0, func(_ *parser, v []int) span { return dayIn(v[2], v[0], v[1]) }},
	{"MONTH ORDINAL", floats, func(p *parser, v []int) span { return p.lastDay(v[0], v[1]) }},
	{"MONTH DAY", after | floats, func(p *parser, v []int) span { return p.lastDay(v[0], v[1]) }},
	{"MONTH", prep | floats, func(p *parser, v []int) span { return p.lastMonths(v[0], 1) }},
	{"ORDINAL of? MONTH ,YEAR", 0, func(_ *parser, v []int) span { return dayIn(v[2], v[1], v[0]) }},
	{"DAY of? MONTH ,YEAR", 0, func(_ *parser, v []int) span { return dayIn(v[2], v[1], v[0]) }},
	{"ORDINAL of? MONTH", floats, func(p *parser, v []int) span { return p.lastDay(v[1], v[0]) }},
	{"DAY of? MONTH", floats, func(p *parser, v []int) span {
		if verb := v[1] == 3 || v[1] == 5; verb && !p.inside && !p.preposed(p.at) { // "march" and "may"
			return span{}
		}
		return p.lastDay(v[1], v[0])
	}},
	{"Q of? YEAR", 0, func(p *parser, v []int) span { return p.months(v[1], time.Month(3*v[0]-2), 3, 0.9) }},
	{"Q", prep | floats, func(p *parser, v []int) span { return p.lastMonths(3*v[0]-2, 3) }},
	{"YEAR Q", 0, func(p *parser, v []int) span {
		if p.counted(p.at) {
			return span{}
		}
		return p.months(v[0], time.Month(3*v[1]-2), 3, 0.9)
	}},
	{"YEAR", prep, func(p *parser, v []int) span {
		if p.counted(p.at) || !p.inside && p.is(p.at-1, "on") {
			return span{}
		}
		return p.months(v[0], 1, 12, 0.7)
	}},
	{"WEEKDAY", prep | floats, func(p *parser, v []int) span { return on(p.limit-day((p.limit.weekday()-v[0]+7)%7), 0.6) }},
}

func on(d day, sure float64) span { return span{d, d, sure} }

func atMost(sure float64, s span) span {
	s.sure = min(s.sure, sure)
	return s
}

func length(unit int) int { return [...]int{0, 0, 1, 7, 30, 365}[unit] }

// back returns the day n units ago.
func (p *parser) back(n, unit int) day {
	switch unit {
	case minutes:
		return p.back((n+59)/60, hours)
	case hours:
		return p.today - day(max(0, n-p.hour+23)/24)
	}
	return p.today - day(n*length(unit))
}

// ago returns the day, week, month or year that was so long ago.
func ago(p *parser, v []int) span {
	near := p.back(v[0], v[1])
	switch v[1] {
	case weeks:
		return span{near, near + 6, 0.7}
	case months:
		return span{near, near + 29, 0.6}
	case years:
		return p.months(p.year-v[0], 1, 12, 0.7)
	}
	return on(near, 0.8)
}

// months returns n months from one on.
func (p *parser) months(y int, m time.Month, n int, sure float64) span {
	return span{dayOf(y, m, 1), dayOf(y, m+time.Month(n), 1) - 1, sure}
}

// lastMonths returns n months from one on, the last ones that began by the limit.
func (p *parser) lastMonths(m, n int) span {
	y, now, _ := p.limit.date()
	if time.Month(m) > now {
		y--
	}
	return p.months(y, time.Month(m), n, 0.6)
}

// firstOf returns the first month of the quarter of m.
func firstOf(m time.Month) time.Month { return (m-1)/3*3 + 1 }

// dayIn returns a day of a month, none for 30 February.
func dayIn(y, m, d int) span {
	at := dayOf(y, time.Month(m), d)
	if _, got, _ := at.date(); int(got) != m || d < 1 || d > 31 {
		return span{}
	}
	return on(at, 1)
}

// lastDay returns the last day of a month that is not after the limit.
func (p *parser) lastDay(m, d int) span {
	y, _, _ := p.limit.date()
	for tries := range 9 { // 29 February is rare
		if s := dayIn(y-tries, m, d); s.sure > 0 && s.from <= p.limit {
			return on(s.from, 0.8)
		}
	}
	return span{}
}

// third returns a third of a time: ten days of a month, or four months of a year.
func third(part int, s span) span {
	n := (s.to - s.from + 1) / 3
	s.from += day(part) * n
	if part < 2 {
		s.to = s.from + n - 1
	}
	return s
}

// An element is a word of a form.
type element struct {
	text                    string
	kind                    bool // text is a kind
	optional, comma, hyphen bool
}

var elements = sync.OnceValue(func() (all [len(dateForms)][]element) {
	for i, f := range dateForms {
		for w := range strings.FieldsSeq(f.words) {
			e := element{comma: w[0] == ',', hyphen: w[0] == '-', optional: strings.HasSuffix(w, "?")}
			e.text = strings.Trim(w, ",-?")
			e.kind = e.text[0] < 'a'
			all[i] = append(all[i], e)
		}
	}
	return all
})

// match fits a form to the words from i on, and returns the values of its kinds and the word behind it.
func (p *parser) match(elements []element, i int) (v []int, next int, ok bool) {
	next, p.hyphen = i, 0
	for _, e := range elements {
		if e.hyphen && next < len(p.words) {
			p.hyphen = p.words[next].start // before which one may stand: it is not that of a name
		}
		stands := next == i || p.joined(next) || e.comma && p.near(next) || e.hyphen && p.linked(next)
		value, fits := p.value(next, e)
		switch {
		case stands && fits:
			next++
			if e.kind {
				v = append(v, value)
			}
		case !e.optional:
			return nil, 0, false
		}
	}
	return v, next, true
}

// value reports whether word i is one of a form, and its value.
func (p *parser) value(i int, e element) (value int, fits bool) {
	if i >= len(p.words) {
		return 0, false
	}
	w := p.words[i]
	switch e.text {
	case "YEAR":
		return p.yearAt(i)
	case "NUMBER":
		return w.value, w.kind == numberWord && w.value > 0 && w.value <= 999
	case "DAY":
		return w.value, w.kind == numberWord && w.value > 0 && w.value <= 31
	}
	return w.value, e.kind && string(w.kind) == e.text || !e.kind && w.text == e.text
}

// yearAt returns the year that stands at word i and is none of another thing.
func (p *parser) yearAt(i int) (int, bool) {
	w := p.words[i]
	return w.value, w.kind == numberWord && len(w.text) == 4 && w.value >= 1900 && w.value <= p.year+1 && p.free(w.start, w.end)
}

// A moment is a stretch of days that words of a question name.
type moment struct {
	span
	exact    bool // written out: it may reach into the future
	floating bool // it could be of any year
	needs    bool // it is a date because of the preposition before it
	first    int  // of its words
	next     int  // the word behind them
	end      int  // of its bytes
}

// point reads one day, week, month, quarter, year or the like. What floats is
// the last one that is not after limit. inside a range no preposition is needed.
func (p *parser) point(i int, limit day, inside bool) (moment, bool) {
	w := p.words[i]
	if w.kind == "" {
		return moment{}, false
	}
	if w.kind == numberWord && len(w.text) == 4 {
		if m, ok := p.written(i); ok {
			return m, true
		}
	}
	p.at, p.limit, p.inside = i, limit, inside
	for k, elements := range elements() {
		flags := dateForms[k].flags
		v, next, ok := p.match(elements, i)
		if !ok || flags&(prep|after) != 0 && !inside && !p.preposed(i) {
			continue
		}
		p.next = next
		m := moment{span: dateForms[k].days(p, v), floating: flags&floats != 0, needs: flags&prep != 0 && !inside}
		m.first, m.next, m.end = i, next, p.words[next-1].end
		if m.sure > 0 && p.free(w.start, m.end) {
			return m, true
		}
	}
	return moment{}, false
}

func (p *parser) preposed(i int) bool {
	return p.joined(i) && p.kind(i-1) == prepositionWord
}

// moment returns what begins at word i: a range, or a point.
func (p *parser) moment(i int) (moment, bool) {
	if p.is(i, "between", "from", "since") && p.joined(i+1) {
		if m, ok := p.stretch(i, i+1); ok {
			return m, true
		}
	}
	m, ok := p.point(i, p.today, false)
	if ok && m.exact {
		if m, ok := p.stretch(i, i); ok {
			return m, true
		}
	}
	return m, ok
}

// stretch reads two points with a word between them.
func (p *parser) stretch(first, i int) (moment, bool) {
	inside := first != i
	a, ok := p.point(i, p.today, inside)
	if !ok || !p.joined(a.next) || !p.is(a.next, "and", "to", "until", "till", "through") || !p.joined(a.next+1) {
		return a, false
	}
	b, ok := p.point(a.next+1, p.today, inside)
	if !ok || b.needs && !inside {
		return a, false
	}
	if a.floating && a.from > b.from {
		a, _ = p.point(i, b.from, inside)
	}
	if a.from > b.from {
		a.from, a.to, b.from, b.to = b.from, b.to, a.from, a.to
	}
	return moment{
		span: span{a.from, max(a.to, b.to), min(a.sure, b.sure)}, exact: a.exact && b.exact, first: first, next: b.next, end: b.end,
	}, true
}

// counted reports whether the number at word i belongs to what stands before
// it ("port 2024") or counts what comes behind it ("after 2000 requests").
func (p *parser) counted(i int) bool {
	if p.is(i-1, "version", "versions", "v", "api", "line", "lines", "port", "ports", "pr", "issue", "ticket", "error", "code", "http",
		"build", "release", "rfc", "cve", "row", "id", "pid", "status", "page", "top", "size", "exit", "err") {
		return true
	}
	if !p.joined(i+1) || p.is(i+1, "is", "was", "has", "does", "as", "this", "its", "us", "always", "unless", "versus", "across") {
		return false
	}
	next := p.words[i+1].text
	return p.is(i+1, "kb", "mb", "gb", "px", "percent", "byte", "bit") || len(next) > 1 && next[len(next)-1] == 's'
}

var writtenForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(\d{4})(?:-(\d\d?)-(\d\d?)|/(\d\d?)/(\d\d?)|-(\d\d))(?:[Tt]\d\w*(?:[:.+]\d\w*)*)?`)
})

// written reads "2026-06-10", "2026/6/10", "2026-06-10T12:00:00Z" and "2026-06".
func (p *parser) written(i int) (moment, bool) {
	w := p.words[i]
	if w.value < 1900 || p.counted(i) || w.end == len(p.text) || p.text[w.end] != '-' && p.text[w.end] != '/' {
		return moment{}, false
	}
	f := writtenForm().FindStringSubmatch(p.text[w.start:])
	if f == nil {
		return moment{}, false
	}
	number := func(texts ...string) int { return meaningOf(strings.Join(texts, "")).value }
	m := moment{exact: f[6] == "", first: i, next: i, end: w.start + len(f[0])}
	if m.exact {
		m.span = dayIn(w.value, number(f[2], f[4]), number(f[3], f[5]))
	} else if month := number(f[6]); month > 0 && month < 13 {
		m.span = p.months(w.value, time.Month(month), 1, 0.9)
	}
	for m.next < len(p.words) && p.words[m.next].start < m.end {
		m.next++
	}
	return m, m.sure > 0 && p.words[m.next-1].end == m.end && p.free(w.start, m.end)
}
