package agent

import (
	"fmt"
	"testing"
	"time"
)

func TestTimeOf(t *testing.T) {
	want := time.Date(2026, 5, 1, 9, 30, 0, 0, time.UTC)
	for _, value := range []string{
		`"2026-05-01T09:30:00Z"`, `"2026-05-01T09:30:00.000Z"`, `"2026-05-01T11:30:00+02:00"`, `"2026-05-01T04:00:00-0530"`, `"2026-05-01 09:30:00"`,
		fmt.Sprint(want.Unix()), fmt.Sprint(want.UnixMilli()), fmt.Sprint(want.UnixMicro()), fmt.Sprint(want.UnixNano()),
		fmt.Sprintf("%q", fmt.Sprint(want.UnixMilli())), fmt.Sprintf("%d.0", want.Unix()),
	} {
		if got, ok := timeOf([]byte(value)); !ok || !got.Equal(want) {
			t.Errorf("%s: %v %v", value, got, ok)
		}
	}
	next := time.Now().Add(3 * ahead)
	for _, value := range []string{
		``, `null`, `""`, `"soon"`, `0`, `-5`, `-1777627800000`, `"1970-01-01T00:00:00Z"`, `"0001-01-01T00:00:00Z"`, `12345`, `1e300`, `{}`,
		`"` + next.Format(time.RFC3339) + `"`, fmt.Sprint(next.UnixMilli()), `"2999-01-01T00:00:00Z"`,
	} {
		if got, ok := timeOf([]byte(value)); ok {
			t.Errorf("%s: %v", value, got)
		}
	}
}

func TestSpan(t *testing.T) {
	for _, c := range []struct{ days, want string }{
		{"1 2 3", "1 3"},
		{"1 2 9 3 4", "1 4"},   // a damaged one in the middle is neither end
		{"2 3 4 1", "2 4"},     // the last one
		{"9 2 3 4", "2 4"},     // the first one
		{"8 1 2 3 8 9", "8 9"}, // a fork: opened after what it copied was said
		{"5", "5 5"},
	} {
		var s span
		for _, d := range c.days {
			if d != ' ' {
				s.add(time.Date(2026, 5, int(d-'0'), 0, 0, 0, 0, time.UTC))
			}
		}
		first, last := s.within()
		if got := fmt.Sprint(first.Day(), last.Day()); got != c.want {
			t.Errorf("%s: %s, want %s", c.days, got, c.want)
		}
	}
}
