package text_test

import (
	"testing"
	"time"

	"anamnesis/internal/text"
)

func TestDay(t *testing.T) {
	now := time.Date(2026, 11, 27, 9, 0, 0, 0, time.UTC) // a Friday
	for at, want := range map[time.Time]string{
		now.Add(-time.Hour):        "today",
		now.Add(-10 * time.Hour):   "Thursday",
		now.AddDate(0, 0, -6):      "Saturday",
		now.AddDate(0, 0, -7):      "20 November",
		now.AddDate(0, -11, 0):     "27 December 2025",
		now.AddDate(0, 0, 2):       "29 November 2026",
		now.Add(-10 * time.Minute): "today",
	} {
		if got := text.Day(now, at); got != want {
			t.Errorf("%v: %q, want %q", at, got, want)
		}
	}
}
