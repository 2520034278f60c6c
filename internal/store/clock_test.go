package store_test

import (
	"os"
	"testing"
	"time"

	"anamnesis/internal/store"
)

// TestAge: what ends by age does not end because a clock is wrong, and ends after a machine was off for long.
func TestAge(t *testing.T) {
	const day = 24 * time.Hour
	begin := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	type look struct {
		at     time.Duration // of the clock, since the beginning
		want   time.Duration
		jumped bool
	}
	for name, looks := range map[string][]look{
		"days pass":              {{day, day, false}, {2 * day, 2 * day, false}, {15 * day, 15 * day, false}},
		"a year ahead, and back": {{day, day, false}, {366 * day, day, true}, {367 * day, day, true}, {2 * day, 2 * day, false}},
		"off for two months":     {{60 * day, 0, true}, {61 * day, 0, true}, {64 * day, 64 * day, false}, {65 * day, 65 * day, false}},
		"behind":                 {{10 * day, 10 * day, false}, {-300 * day, -300 * day, false}, {11 * day, 11 * day, false}},
		"ahead twice":            {{366 * day, 0, true}, {day, day, false}, {369 * day, day, true}, {370 * day, day, true}},
	} {
		t.Run(name, func(t *testing.T) {
			now := begin
			s, err := store.Open(store.Options{Root: t.TempDir(), Now: func() time.Time { return now }})
			if err != nil {
				t.Fatal(err)
			}
			if got, _, err := store.Age(s); !got.Equal(begin) || err != nil {
				t.Fatalf("the first look judges by %v, %v", got, err)
			}
			for i, l := range looks {
				now = begin.Add(l.at)
				got, jumped, err := store.Age(s)
				if err != nil || !got.Equal(begin.Add(l.want)) || jumped != l.jumped {
					t.Errorf("look %d: %v, jumped %v, %v; want %v", i, got.Sub(begin), jumped, err, l.want)
				}
			}
			if err := os.WriteFile(s.Path("clock.json"), []byte("{"), 0o600); err != nil {
				t.Fatal(err)
			}
			if got, _, err := store.Age(s); !got.IsZero() || err != nil {
				t.Errorf("a damaged file judges by %v, %v", got, err)
			}
		})
	}
}
