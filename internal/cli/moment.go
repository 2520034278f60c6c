package cli

import (
	"strconv"
	"time"
)

// moment reads a time that a person typed: a time stamp, a day, or how long ago
// (90m, 12h, 3d, 2w).
func moment(flag, text string, now time.Time) (time.Time, error) {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04"} {
		if t, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return t, nil
		}
	}
	if t, err := time.ParseInLocation(time.DateOnly, text, time.Local); err == nil {
		return t, nil
	}
	units := map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour}
	if text != "" {
		if unit, ok := units[text[len(text)-1]]; ok {
			if n, err := strconv.Atoi(text[:len(text)-1]); err == nil && n >= 0 && n < 1e6 {
				return now.Add(-time.Duration(n) * unit), nil
			}
		}
	}
	return time.Time{}, usage("%s %q: give a time such as 2026-03-31, 2026-03-31T14:00:00Z, 90m, 12h, 3d or 2w", flag, text)
}
