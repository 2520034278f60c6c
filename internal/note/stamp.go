package note

import (
	"strings"
	"time"
)

// Time returns the moment that s stands for. It understands the canonical form, RFC 3339 with any
// offset and fraction, a space instead of the T, and a bare date; a time without an offset is UTC.
func (s Stamp) Time() (time.Time, bool) {
	if t, ok := canonicalTime(string(s)); ok {
		return t, true
	}
	text := strings.TrimSpace(string(s))
	if len(text) < 8 || len(text) > 64 {
		return time.Time{}, false
	}
	if date, clock, ok := cutDate(text); ok {
		text = date + "T" + strings.TrimLeft(clock, " \t")
	}
	if body, ok := strings.CutSuffix(text, "z"); ok {
		text = body + "Z"
	}
	if i := strings.LastIndexAny(text, "Z+-"); i > len("2006-1-2T") {
		text = strings.TrimRight(text[:i], " \t") + text[i:]
	}
	for _, layout := range []string{
		"2006-1-2T15:04:05Z07:00",
		"2006-1-2T15:04:05",
		"2006-1-2",
		"2006-1-2T15:04:05Z0700",
		"2006-1-2T15:04:05Z07",
		"2006-1-2T15:04Z07:00",
		"2006-1-2T15:04",
	} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}

// cutDate splits "date time" and "dateTtime", in either case of the T.
func cutDate(s string) (date, clock string, ok bool) {
	i := strings.IndexAny(s, "Tt \t")
	if i < 0 || i > len("2006-01-02") {
		return "", "", false
	}
	return s[:i], s[i+1:], true
}

// canonicalTime reads what At writes, without the cost of time.Parse.
func canonicalTime(s string) (time.Time, bool) {
	if len(s) != len("2006-01-02T15:04:05+00:00") || s[19:] != "+00:00" ||
		s[4] != '-' || s[7] != '-' || s[10] != 'T' || s[13] != ':' || s[16] != ':' {
		return time.Time{}, false
	}
	year, ok1 := digits(s[0:4])
	month, ok2 := digits(s[5:7])
	day, ok3 := digits(s[8:10])
	hour, ok4 := digits(s[11:13])
	minute, ok5 := digits(s[14:16])
	second, ok6 := digits(s[17:19])
	if !ok1 || !ok2 || !ok3 || !ok4 || !ok5 || !ok6 || hour > 23 || minute > 59 || second > 59 {
		return time.Time{}, false
	}
	t := time.Date(year, time.Month(month), day, hour, minute, second, 0, time.UTC)
	// Date carries an excess over: the 31st of February becomes March.
	return t, t.Month() == time.Month(month) && t.Day() == day
}

func digits(s string) (n int, ok bool) {
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = n*10 + int(s[i]-'0')
	}
	return n, true
}
