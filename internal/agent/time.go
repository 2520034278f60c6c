package agent

import (
	"strconv"
	"strings"
	"time"
)

// stampForms are the forms of a time in words.
var stampForms = []string{
	time.RFC3339, "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05Z07", "2006-01-02 15:04:05Z07:00", "2006-01-02T15:04:05",
	"2006-01-02 15:04:05",
}

// timeOf reads the time of a record: in words, with any offset, or as a count of seconds, milliseconds, microseconds or
// nanoseconds since 1970. It reports false for one that no record can have: before there were agents, or later than now.
func timeOf(value []byte) (time.Time, bool) {
	s := string(value)
	if isString(value) {
		s = unquote(value)
	}
	for _, form := range stampForms {
		if t, err := time.Parse(form, s); err == nil {
			return possible(t)
		}
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || n <= 0 {
		return time.Time{}, false
	}
	for _, unit := range []float64{1, 1e3, 1e6, 1e9} { // in a second
		if t, ok := possible(time.UnixMilli(int64(min(n/unit*1e3, 1e15)))); ok {
			return t, true
		}
	}
	return time.Time{}, false
}

// ahead is how far in the future a time may be: clocks differ, and some programs write local time as UTC.
const ahead = 24 * time.Hour

// possible returns a time, and whether a session can have taken place then.
func possible(t time.Time) (time.Time, bool) {
	if t.Year() < 2000 || t.After(time.Now().Add(ahead)) {
		return time.Time{}, false
	}
	return t.UTC(), true
}

// A span is the first and the last time of records. Where the last one is before the first one, a record is damaged. Records
// are in order, so those times count then that are in the longest chain that does not go back.
type span struct {
	first  time.Time
	last   time.Time
	ends   []time.Time // of the chains of each length, the earliest end
	begins []time.Time // where those chains begin
}

// maxSpan bounds the chains that are kept apart.
const maxSpan = 4096

// add takes the time of the next record.
func (s *span) add(t time.Time) {
	if s.first.IsZero() {
		s.first = t
	}
	s.last = t
	n := len(s.ends)
	if n == 0 || !t.Before(s.ends[n-1]) {
		begin := t
		if n > 0 {
			begin = s.begins[n-1]
		}
		if n < maxSpan {
			s.ends, s.begins = append(s.ends, t), append(s.begins, begin)
		} else {
			s.ends[n-1] = t
		}
		return
	}
	low, high := 0, n-1 // the shortest chain that ends later
	for low < high {
		if mid := (low + high) / 2; s.ends[mid].After(t) {
			high = mid
		} else {
			low = mid + 1
		}
	}
	s.ends[low] = t
	if s.begins[low] = t; low > 0 {
		s.begins[low] = s.begins[low-1]
	}
}

// within returns the first and the last time. What a fork copied is older than its first record.
func (s *span) within() (first, last time.Time) {
	if n := len(s.ends) - 1; s.last.Before(s.first) {
		return s.begins[n], s.ends[n]
	}
	return s.first, s.last
}
