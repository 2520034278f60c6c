package session_test

import (
	"slices"
	"testing"
	"time"

	"anamnesis/internal/session"
)

// What a sub-agent did stands behind the exchange during which it began, with numbers that nothing changes but its id.
func TestReports(t *testing.T) {
	at := func(minute int) time.Time { return time.Date(2026, 11, 20, 9, minute, 0, 0, time.UTC) }
	own := []session.Exchange{{N: 1, At: at(0), Ask: "one"}, {N: 2, At: at(10), Ask: "two"}}
	sub := func(id string, place, minute, n int) (all []session.Exchange) {
		for i := range n {
			all = append(all, session.Exchange{N: i + 1, At: at(minute + i), Ask: id})
		}
		return session.Reports(all, id, place)
	}
	numbers := func(all []session.Exchange) (out []int) {
		for i := range all {
			out = append(out, all[i].N)
		}
		return out
	}
	for _, c := range []struct {
		name    string
		reports []session.Exchange
		want    []int
	}{
		{"none", nil, []int{1, 2}},
		{"during the first", sub("a", 5, 3, 1), []int{1, 1_000_501, 2}},
		{"goes on into the second", sub("a", 5, 9, 2), []int{1, 1_000_501, 1_000_502, 2}},
		{"one each", slices.Concat(sub("a", 5, 3, 1), sub("b", 7, 12, 1)), []int{1, 1_000_501, 2, 1_000_701}},
		{"before the first", sub("a", 5, -3, 1), []int{1, 1_000_501, 2}},
		{"undated", session.Reports([]session.Exchange{{N: 1}}, "a", 0), []int{1, 2, 1_000_001}},
	} {
		if got := numbers(session.Insert(own, c.reports)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	long := sub("a", 0, 0, 150)
	seen := make(map[int]bool)
	for i := range long {
		seen[long[i].N] = true
	}
	if len(long) != 100 || len(seen) != 100 || long[0].N != 1_000_051 {
		t.Errorf("%d exchanges with %d numbers from %d", len(long), len(seen), long[0].N)
	}
}
