package recall

import "time"

// lastOf reads what begins with "last", "previous" or "past".
func (p *parser) lastOf(i int) (moment, bool) {
	at := i + 1
	if !p.joined(at) {
		return moment{}, false
	}
	y, m, _ := p.today.date()
	w := p.words[at]
	switch w.kind {
	case numberWord:
		if w.value >= 1 && w.value <= 999 && p.kind(at+1) == unitWord && p.joined(at+1) {
			return p.found(i, at+2, p.back(w.value, p.words[at+1].value), p.today, 0.8)
		}
	case vagueWord:
		next := at + 1
		if p.is(next, "of") && p.joined(next) {
			next++
		}
		if p.kind(next) == unitWord && p.joined(next) {
			return p.found(i, next+1, p.back(2*w.value+1, p.words[next].value), p.today, 0.6)
		}
	case unitWord:
		switch past := p.words[i].value == 1; {
		case w.text == "minute" || w.value == 1 && !past: // "at the last minute", "the last day of"
		case past || w.value == hours:
			return p.found(i, at+1, p.back(1, w.value), p.today, 0.8)
		case w.text == "week":
			return p.found(i, at+1, p.today.monday()-7, p.today.monday()-1, 0.9)
		case w.text == "month":
			from, to := months(y, m-1, 1)
			return p.found(i, at+1, from, to, 0.9)
		case w.text == "year":
			from, to := years(y-1, y-1)
			return p.found(i, at+1, from, to, 0.9)
		}
	case quarterWord:
		from, to := months(y, firstOf(m)-3, 3)
		return p.found(i, at+1, from, to, 0.9)
	case weekendWord:
		return p.found(i, at+1, p.today.monday()-2, p.today.monday()-1, 0.9)
	case weekdayWord:
		on := p.today - 1
		on -= day((int(on.weekday()) - w.value + 7) % 7)
		return p.found(i, at+1, on, on, 0.9)
	case sprintWord:
		return p.found(i, at+1, p.today-28, p.today-14, 0.5)
	case daytimeWord:
		if w.text == "night" {
			return p.found(i, at+1, p.today-1, p.today-1, 0.9)
		}
	case monthWord:
		if got, ok := p.month(at, p.today, true); ok {
			got.first, got.sure = i, min(got.sure, 0.6)
			return got, p.free(p.words[i].start, got.end)
		}
	}
	return moment{}, false
}

// back returns the day n units ago.
func (p *parser) back(n, days int) day {
	switch days {
	case minutes:
		n = (n + 59) / 60
	case hours:
	default:
		return p.today - day(n*days)
	}
	return p.today - day(max(0, n-p.hour+23)/24)
}

// half reads "half a year ago": a sixth of the unit around it.
func (p *parser) half(i int) (moment, bool) {
	if !p.is(i, "half") {
		return moment{}, false
	}
	at := i + 1
	if p.kind(at) == articleWord && p.joined(at) {
		at++
	}
	if p.kind(at) != unitWord || !p.is(at+1, "ago") || !p.joined(at) || !p.joined(at+1) || p.words[at].value < 7 {
		return moment{}, false
	}
	days := p.words[at].value
	middle, around := p.today-day(days/2), day(days/6)
	return p.found(i, at+2, middle-around, min(p.today, middle+around), 0.6)
}

// third reads "early march", "mid-june", "end-of-2025" and "late in april 2026": ten days
// of a month, or four months of a year.
func (p *parser) third(i int, limit day) (moment, bool) {
	part := -1
	for k, names := range [][]string{{"early", "beginning"}, {"mid", "middle"}, {"late", "end"}} {
		for _, name := range names {
			if p.is(i, name) {
				part = k
			}
		}
	}
	at := i + 1
	for (p.is(at, "of") || p.is(at, "in")) && p.linked(at) {
		at++
	}
	if part < 0 || !p.linked(at) {
		return moment{}, false
	}
	p.hyphen = p.words[at].start // before which one may stand: it is not that of a name
	defer func() { p.hyphen = 0 }()
	var whole moment
	ok := false
	if p.kind(at) == monthWord {
		whole, ok = p.month(at, limit, true)
	} else if y, is := p.yearAt(at); is {
		from, to := years(y, y)
		whole, ok = p.found(at, at+1, from, to, 0.9)
	}
	if !ok || whole.to-whole.from < 27 { // a day was meant
		return moment{}, false
	}
	length := whole.to - whole.from + 1
	from, to := whole.from+day(part)*(length/3), whole.to
	if part < 2 {
		to = from + length/3 - 1
	}
	return p.found(i, whole.next, from, to, min(whole.sure, 0.7))
}

// firstOf returns the first month of the quarter of m.
func firstOf(m time.Month) time.Month { return (m-1)/3*3 + 1 }

// thisOf reads what begins with "this" or "current".
func (p *parser) thisOf(i int) (moment, bool) {
	at := i + 1
	if !p.joined(at) {
		return moment{}, false
	}
	y, m, _ := p.today.date()
	w := p.words[at]
	from, sure := p.today, 0.9
	switch w.kind {
	case unitWord:
		switch w.text {
		case "week":
			from = p.today.monday()
		case "month":
			from = dayOf(y, m, 1)
		case "year":
			from = dayOf(y, 1, 1)
		default:
			return moment{}, false
		}
	case quarterWord:
		from = dayOf(y, firstOf(m), 1)
	case sprintWord:
		from, sure = p.today-14, 0.5
	case weekendWord:
		from = p.today.monday() + 5 // in the future until Saturday
	case weekdayWord:
		on := p.today.monday() + day((w.value+6)%7)
		return p.found(i, at+1, on, on, 0.9)
	case daytimeWord:
		if w.text == "night" {
			return moment{}, false
		}
	default:
		return moment{}, false
	}
	got, ok := p.found(i, at+1, from, p.today, sure)
	got.to = max(from, p.today)
	return got, ok
}

// month reads "march", "march 2026", "march 1st" and "march 1, 2026".
func (p *parser) month(i int, limit day, inside bool) (moment, bool) {
	m := time.Month(p.words[i].value)
	at := i + 1
	if p.is(at, "of") && p.joined(at) {
		at++
	}
	if y, ok := p.yearAt(at); ok && p.near(at) {
		from, to := months(y, m, 1)
		return p.found(i, at+1, from, to, 0.9)
	}
	preposed := inside || p.preposed(i)
	if p.kind(i+1) == numberWord && p.joined(i+1) {
		d := p.words[i+1].value
		if _, ok := p.yearAt(i + 2); d < 0 || d > 0 && (preposed || ok && p.near(i+2)) {
			if got, ok := p.dayIn(i, i+2, m, max(d, -d), limit); ok {
				return got, true
			}
		}
	}
	if !preposed {
		return moment{}, false
	}
	y, now, _ := limit.date()
	if m > now {
		y--
	}
	from, to := months(y, m, 1)
	got, ok := p.found(i, i+1, from, to, 0.6)
	got.floating, got.needs = true, !inside
	return got, ok
}

// near reports whether word i follows the one before it after blanks and at most a comma.
func (p *parser) near(i int) bool {
	if p.joined(i) {
		return true
	}
	return i > 0 && i < len(p.words) && p.text[p.words[i-1].end:p.words[i].start] == ", "
}

// dayIn makes a moment of a day of a month, and of the year behind it if there is one.
func (p *parser) dayIn(first, next int, m time.Month, d int, limit day) (moment, bool) {
	y, ok := p.yearAt(next)
	if ok && p.near(next) {
		on := dayOf(y, m, d)
		if _, got, _ := on.date(); got != m {
			return moment{}, false
		}
		return p.found(first, next+1, on, on, 1)
	}
	y, _, _ = limit.date()
	for tries := 0; tries < 9 && d <= 31; tries++ { // the 29th of February is rare
		on := dayOf(y-tries, m, d)
		if _, got, _ := on.date(); got == m && on <= limit {
			found, ok := p.found(first, next, on, on, 0.8)
			found.floating = true
			return found, ok
		}
	}
	return moment{}, false
}

// dayFirst reads "1st of march", and "1 march" where it cannot be a verb.
func (p *parser) dayFirst(i int, limit day, inside bool) (moment, bool) {
	d := p.words[i].value
	at := i + 1
	if p.is(at, "of") && p.joined(at) {
		at++
	}
	if p.kind(at) != monthWord || !p.joined(at) || d == 0 || d > 31 || d < -31 {
		return moment{}, false
	}
	verb := p.is(at, "may", "march", "mar")
	if _, ok := p.yearAt(at + 1); d > 0 && verb && !inside && !p.preposed(i) && !ok {
		return moment{}, false
	}
	return p.dayIn(i, at+1, time.Month(p.words[at].value), max(d, -d), limit)
}

// numbered reads "q1" and "q1 2026".
func (p *parser) numbered(i int, limit day, inside bool) (moment, bool) {
	q := time.Month(p.words[i].value)
	at := i + 1
	if p.is(at, "of") && p.joined(at) {
		at++
	}
	if y, ok := p.yearAt(at); ok && p.joined(at) {
		from, to := months(y, 3*q-2, 3)
		return p.found(i, at+1, from, to, 0.9)
	}
	if !inside && !p.preposed(i) {
		return moment{}, false
	}
	y, now, _ := limit.date()
	if 3*q-2 > now {
		y--
	}
	from, to := months(y, 3*q-2, 3)
	m, ok := p.found(i, i+1, from, to, 0.6)
	m.floating, m.needs = true, !inside
	return m, ok
}

// yearAt returns the year that stands at word i and is none of another thing.
func (p *parser) yearAt(i int) (int, bool) {
	if p.kind(i) != numberWord || len(p.words[i].text) != 4 {
		return 0, false
	}
	y := p.words[i].value
	now, _, _ := p.today.date()
	return y, y >= 1900 && y <= now+1 && p.free(p.words[i].start, p.words[i].end)
}

// counted reports whether the number at word i belongs to what stands before
// it ("port 2024") or counts what comes behind it ("after 2000 requests").
func (p *parser) counted(i int) bool {
	if p.is(i-1, "version", "versions", "v", "api", "line", "lines", "port", "ports", "pr", "issue", "ticket", "error", "code", "http",
		"build", "release", "rfc", "cve", "row", "id", "pid", "status", "page", "top", "size", "exit", "err") {
		return true
	}
	if !p.joined(i + 1) {
		return false
	}
	next := p.words[i+1].text
	switch next {
	case "is", "was", "has", "does", "as", "this", "its", "us", "always", "unless", "versus", "across":
		return false
	case "kb", "mb", "gb", "px", "percent", "byte", "bit":
		return true
	}
	return len(next) > 1 && next[len(next)-1] == 's'
}

// year reads a year behind a preposition, and "2025 q3".
func (p *parser) year(i int, inside bool) (moment, bool) {
	y, ok := p.yearAt(i)
	if !ok || p.counted(i) {
		return moment{}, false
	}
	if p.kind(i+1) == quarterNumber && p.joined(i+1) {
		from, to := months(y, 3*time.Month(p.words[i+1].value)-2, 3)
		return p.found(i, i+2, from, to, 0.9)
	}
	if !inside && (!p.preposed(i) || p.is(i-1, "on")) {
		return moment{}, false
	}
	from, to := years(y, y)
	m, ok := p.found(i, i+1, from, to, 0.7)
	m.needs = !inside
	return m, ok
}

// written reads "2026-06-10", "2026/6/10", "2026-06-10T12:00:00Z" and "2026-06".
func (p *parser) written(i int) (moment, bool) {
	if len(p.words[i].text) != 4 || p.words[i].value < 1900 || p.counted(i) || p.kind(i+1) != numberWord {
		return moment{}, false
	}
	between := func(i int) string { return p.text[p.words[i].end:p.words[i+1].start] }
	dash := between(i)
	y, m := p.words[i].value, time.Month(p.words[i+1].value)
	if dash != "-" && dash != "/" || m < 1 || m > 12 || len(p.words[i+1].text) > 2 {
		return moment{}, false
	}
	if i+2 < len(p.words) && between(i+1) == dash {
		w := p.words[i+2]
		d, end, next := w.value, w.end, i+3
		if w.kind != numberWord {
			if d, end = clock(p.text, w); d == 0 {
				return moment{}, false
			}
			for next < len(p.words) && p.words[next].start < end {
				next++
			}
		}
		on := dayOf(y, m, d)
		if _, got, _ := on.date(); got != m || d < 1 {
			return moment{}, false
		}
		got := moment{from: on, to: on, sure: 1, exact: true, first: i, next: next, end: end}
		return got, p.free(p.words[i].start, end)
	}
	if dash == "/" || len(p.words[i+1].text) != 2 {
		return moment{}, false
	}
	from, to := months(y, m, 1)
	return p.found(i, i+2, from, to, 0.9)
}

// clock reads the day of a word such as "10T12", and where the time behind it ends.
func clock(text string, w word) (d, end int) {
	i := 0
	for ; i < len(w.text) && i < 2 && '0' <= w.text[i] && w.text[i] <= '9'; i++ {
		d = 10*d + int(w.text[i]-'0')
	}
	if i+1 >= len(w.text) || w.text[i] != 't' || w.text[i+1] < '0' || w.text[i+1] > '9' {
		return 0, 0
	}
	for end = w.end; end+1 < len(text) && (text[end] == ':' || text[end] == '.' || text[end] == '+') && '0' <= text[end+1] &&
		text[end+1] <= '9'; {
		for end++; end < len(text) && inWord(text[end:]) == 1; end++ {
		}
	}
	return d, end
}
