package note

import (
	"strings"
	"time"
)

// Time returns the moment that s stands for. It understands the canonical form, RFC 3339 with any
// offset and fraction, a space instead of the T, and a bare date; a time without an offset is UTC.
func (s Stamp) Time() (time.Time, bool) {
	if t, err := time.Parse(time.RFC3339, string(s)); err == nil { // what At writes, and cheap
		return t.UTC(), true
	}
	text := strings.TrimSpace(string(s))
	if len(text) < 8 || len(text) > 64 {
		return time.Time{}, false
	}
	if i := strings.IndexAny(text, "Tt \t"); i >= 0 && i <= len("2006-01-02") {
		text = text[:i] + "T" + strings.TrimLeft(text[i+1:], " \t")
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
