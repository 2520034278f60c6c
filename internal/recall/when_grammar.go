package recall

import "time"

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

func (d day) weekday() time.Weekday { return time.Weekday(((int(d)+4)%7 + 7) % 7) } // 1970-01-01 was a Thursday

// monday is the first day of the week of d.
func (d day) monday() day { return d - day((d.weekday()+6)%7) }

// A kind is what a word may be in a date.
type kind byte

const (
	otherWord kind = iota
	numberWord
	articleWord     // a, an
	lastWord        // last, previous; past
	thisWord        // this, current
	prepositionWord // in, on, since …
	vagueWord       // couple, few
	datedWord       // from here on: words that no date is without

	monthWord
	weekdayWord
	unitWord // value is its days, or minutes or hours
	quarterWord
	quarterNumber // q1 to q4
	relativeWord  // today, yesterday; value is days back
	weekendWord
	sprintWord
	latelyWord
	daytimeWord // morning …
)

// Units that are shorter than a day.
const (
	hours   = 0
	minutes = -1
)

// meaningOf is a switch and no map, so that it costs nothing before it is asked.
func meaningOf(w string) (kind, int) {
	if c := w[0]; '0' <= c && c <= '9' {
		return digits(w)
	}
	switch w {
	case "january", "jan":
		return monthWord, 1
	case "february", "feb":
		return monthWord, 2
	case "march", "mar":
		return monthWord, 3
	case "april", "apr":
		return monthWord, 4
	case "may":
		return monthWord, 5
	case "june", "jun":
		return monthWord, 6
	case "july", "jul":
		return monthWord, 7
	case "august", "aug":
		return monthWord, 8
	case "september", "sep", "sept":
		return monthWord, 9
	case "october", "oct":
		return monthWord, 10
	case "november", "nov":
		return monthWord, 11
	case "december", "dec":
		return monthWord, 12
	case "sunday":
		return weekdayWord, 0
	case "monday", "mon":
		return weekdayWord, 1
	case "tuesday", "tue", "tues":
		return weekdayWord, 2
	case "wednesday", "wed":
		return weekdayWord, 3
	case "thursday", "thu", "thurs":
		return weekdayWord, 4
	case "friday", "fri":
		return weekdayWord, 5
	case "saturday":
		return weekdayWord, 6
	case "minutes", "minute":
		return unitWord, minutes
	case "hour", "hours":
		return unitWord, hours
	case "day", "days":
		return unitWord, 1
	case "week", "weeks":
		return unitWord, 7
	case "month", "months":
		return unitWord, 30
	case "year", "years":
		return unitWord, 365
	case "quarter":
		return quarterWord, 0
	case "q1", "q2", "q3", "q4":
		return quarterNumber, int(w[1] - '0')
	case "today", "tonight":
		return relativeWord, 0
	case "yesterday":
		return relativeWord, 1
	case "weekend":
		return weekendWord, 0
	case "sprint":
		return sprintWord, 0
	case "recently", "lately":
		return latelyWord, 14
	case "morning", "afternoon", "evening", "night":
		return daytimeWord, 0
	case "a", "an":
		return articleWord, 1
	case "couple":
		return vagueWord, 1
	case "few":
		return vagueWord, 2
	case "last", "previous":
		return lastWord, 0
	case "past":
		return lastWord, 1
	case "this", "current":
		return thisWord, 0
	case "in", "during", "around", "since", "before", "after", "until", "till", "from", "by", "on":
		return prepositionWord, 0
	case "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve":
		return numberWord, numeral(w)
	}
	return otherWord, 0
}

func numeral(w string) int {
	for i, n := range [...]string{"one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"} {
		if n == w {
			return i + 1
		}
	}
	return 12
}

// digits reads a number of at most four digits, or an ordinal, whose value is negative.
func digits(w string) (kind, int) {
	n, i := 0, 0
	for ; i < len(w) && '0' <= w[i] && w[i] <= '9'; i++ {
		if i == 4 {
			return otherWord, 0
		}
		n = n*10 + int(w[i]-'0')
	}
	switch w[i:] {
	case "":
		return numberWord, n
	case "st", "nd", "rd", "th":
		return numberWord, -n
	}
	return otherWord, 0
}

// A moment is a stretch of days that words of a question name.
type moment struct {
	from, to day
	sure     float64
	exact    bool // written out: it may reach into the future
	floating bool // it could be of any year
	needs    bool // it is a date because of the preposition before it
	first    int  // of its words
	next     int  // the word behind them
	end      int  // of its bytes
}

func (p *parser) found(first, next int, from, to day, sure float64) (moment, bool) {
	m := moment{from: from, to: to, sure: sure, first: first, next: next, end: p.words[next-1].end}
	return m, p.free(p.words[first].start, m.end)
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
	if !ok || !p.joined(a.next) || !p.is(a.next, "and", "to", "until", "till", "through") {
		return a, false
	}
	at := a.next + 1
	if !p.joined(at) {
		return a, false
	}
	b, ok := p.point(at, p.today, inside)
	if !ok || b.needs && !inside {
		return a, false
	}
	if a.floating && a.from > b.from {
		a, _ = p.point(i, b.from, inside)
	}
	if a.from > b.from {
		a.from, a.to, b.from, b.to = b.from, b.to, a.from, a.to
	}
	m := moment{
		from: a.from, to: max(a.to, b.to), sure: min(a.sure, b.sure), exact: a.exact && b.exact,
		first: first, next: b.next, end: b.end,
	}
	return m, true
}

// point reads one day, week, month, quarter, year or the like. What floats is
// the last one that is not after limit. inside a range no preposition is needed.
func (p *parser) point(i int, limit day, inside bool) (moment, bool) {
	if m, ok := p.half(i); ok {
		return m, true
	}
	if m, ok := p.third(i, limit); ok {
		return m, true
	}
	switch p.kind(i) {
	case numberWord:
		if m, ok := p.written(i); ok {
			return m, true
		}
		if m, ok := p.ago(i, i+1, p.words[i].value, 0); ok {
			return m, true
		}
		if m, ok := p.dayFirst(i, limit, inside); ok {
			return m, true
		}
		return p.year(i, inside)
	case articleWord:
		if p.kind(i+1) == vagueWord && p.joined(i+1) {
			return p.several(i, i+1)
		}
		return p.ago(i, i+1, 1, 0)
	case vagueWord:
		return p.several(i, i)
	case lastWord:
		return p.lastOf(i)
	case thisWord:
		return p.thisOf(i)
	case monthWord:
		return p.month(i, limit, inside)
	case weekdayWord:
		if !inside && !p.preposed(i) {
			break
		}
		on := limit - day((int(limit.weekday())-p.words[i].value+7)%7)
		m, ok := p.found(i, i+1, on, on, 0.6)
		m.floating, m.needs = true, !inside
		return m, ok
	case quarterNumber:
		return p.numbered(i, limit, inside)
	case relativeWord:
		if rest := p.text[p.words[i].end:]; len(rest) > 1 && (rest[:2] == "'s" || len(rest) > 3 && rest[:4] == "’s") && p.is(i, "today") {
			break // "today's convention" is the present one, see recencyIntent
		}
		next := i + 1
		if p.kind(next) == daytimeWord && p.joined(next) {
			next++
		}
		on := p.today - day(p.words[i].value)
		return p.found(i, next, on, on, 0.9)
	case unitWord:
		if p.is(i, "day") && p.is(i+1, "before") && p.is(i+2, "yesterday") && p.joined(i+1) && p.joined(i+2) {
			return p.found(i, i+3, p.today-2, p.today-2, 0.9)
		}
	case latelyWord:
		return p.found(i, i+1, p.today-14, p.today, 0.4)
	}
	return moment{}, false
}

func (p *parser) preposed(i int) bool {
	return p.joined(i) && p.kind(i-1) == prepositionWord
}

// several reads "couple of weeks ago": the words from first on, of which the
// one at says how vague.
func (p *parser) several(first, at int) (moment, bool) {
	next := at + 1
	if p.is(next, "of") && p.joined(next) {
		next++
	}
	return p.ago(first, next, p.words[at].value, p.words[at].value+2+p.words[at].value/2)
}

// ago reads "weeks ago" at word i, n of them, or n to most.
func (p *parser) ago(first, i, n, most int) (moment, bool) {
	if n < 1 || n > 999 || p.kind(i) != unitWord || !p.is(i+1, "ago") || !p.joined(i) || !p.joined(i+1) {
		return moment{}, false
	}
	days := p.words[i].value
	near, far := p.back(n, days), p.back(most, days)
	switch {
	case most > 0:
		return p.found(first, i+2, far, near, 0.6)
	case days <= 1:
		return p.found(first, i+2, near, near, 0.8)
	case days == 365:
		y, _, _ := p.today.date()
		from, to := years(y-n, y-n)
		return p.found(first, i+2, from, to, 0.7)
	case days == 7:
		return p.found(first, i+2, near, near+6, 0.7)
	}
	return p.found(first, i+2, near, near+day(days)-1, 0.6)
}

func years(a, b int) (from, to day) { return dayOf(a, 1, 1), dayOf(b, 12, 31) }

// months returns the days of n months from one on.
func months(y int, m time.Month, n int) (from, to day) {
	return dayOf(y, m, 1), dayOf(y, m+time.Month(n), 1) - 1
}
