package text

import "time"

// Day names the day of a time for a person who reads it now: "today", "Tuesday", "24 October", "24 October 2025".
func Day(now, at time.Time) string {
	at = at.In(now.Location())
	y, m, d := now.Date()
	switch since := time.Date(y, m, d, 0, 0, 0, 0, now.Location()).Sub(at); {
	case at.After(now) || since > 300*24*time.Hour:
		return at.Format("2 January 2006")
	case since <= 0:
		return "today"
	case since < 6*24*time.Hour:
		return at.Weekday().String()
	}
	return at.Format("2 January")
}
