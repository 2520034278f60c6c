package session_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"anamnesis/internal/session"

	"pgregory.net/rapid"
)

// askedAt is an exchange of a reading, its nth.
func askedAt(n, minute int, ask string, steps int) session.Exchange {
	e := session.Exchange{N: n, At: noon.Add(time.Duration(minute) * time.Minute), Ask: ask, Reply: "Done: " + ask}
	for i := range steps {
		e.Steps = append(e.Steps, session.Step{Run: fmt.Sprint("step ", i)})
	}
	return e
}

// reading numbers exchanges as they stand in a transcript.
func reading(all ...session.Exchange) []session.Exchange {
	all = slices.Clone(all)
	for i := range all {
		all[i].N = i + 1
	}
	return all
}

func (r *room) putAll(id string, all []session.Exchange) session.Head {
	r.Helper()
	h := session.Head{Session: id, Agent: "claude", Project: "shop", Started: noon, Ended: noon.Add(time.Hour)}
	if err := r.Put(r.Context(), h, all, strings.TrimSpace); err != nil {
		r.Fatal(err)
	}
	return h
}

// kept lists what is kept of a session: "number ask steps".
func (r *room) kept(h session.Head) (out []string) {
	r.Helper()
	_, all, err := r.Read(h.Key())
	if err != nil {
		return nil
	}
	for i := range all {
		out = append(out, fmt.Sprintf("%d %s %d", all[i].N, all[i].Ask, len(all[i].Steps)))
	}
	return out
}

// TestNeverShrinks: a session whose transcript got shorter keeps what it had, under the same numbers.
func TestNeverShrinks(t *testing.T) {
	alpha, bravo, charlie := askedAt(1, 1, "alpha", 2), askedAt(2, 2, "bravo", 2), askedAt(3, 3, "charlie", 2)
	delta := askedAt(4, 4, "delta", 1)
	untimed := func(e session.Exchange) session.Exchange {
		e.At = time.Time{}
		return e
	}
	masked := bravo
	masked.Ask, masked.Steps = "[REDACTED]", slices.Clone(bravo.Steps)
	short := charlie
	short.Steps = charlie.Steps[:1]
	longer := charlie
	longer.Steps = append(slices.Clone(charlie.Steps), session.Step{Run: "step 2"})
	for name, c := range map[string]struct {
		first, then []session.Exchange
		want        []string
	}{
		"the same":         {reading(alpha, bravo), reading(alpha, bravo), []string{"1 alpha 2", "2 bravo 2"}},
		"grown":            {reading(alpha, charlie), reading(alpha, longer, delta), []string{"1 alpha 2", "2 charlie 3", "3 delta 1"}},
		"the head is gone": {reading(alpha, bravo, charlie), reading(charlie), []string{"1 alpha 2", "2 bravo 2", "3 charlie 2"}},
		"the tail is gone": {reading(alpha, bravo, charlie), reading(alpha), []string{"1 alpha 2", "2 bravo 2", "3 charlie 2"}},
		"compacted":        {reading(alpha, bravo, charlie), reading(charlie, delta), []string{"1 alpha 2", "2 bravo 2", "3 charlie 2", "4 delta 1"}},
		"half a copy":      {reading(alpha, charlie), reading(alpha, short), []string{"1 alpha 2", "2 charlie 2"}},
		"nothing":          {reading(alpha, bravo), nil, []string{"1 alpha 2", "2 bravo 2"}},
		"the head comes":   {reading(charlie), reading(alpha, bravo, charlie), []string{"2 alpha 2", "3 bravo 2", "1 charlie 2"}},
		"masked later":     {reading(alpha, bravo), reading(alpha, masked), []string{"1 alpha 2", "2 [REDACTED] 2"}},
		"of unknown times": {reading(untimed(alpha), untimed(bravo)), reading(untimed(bravo)), []string{"1 alpha 2", "2 bravo 2"}},
		"asked twice at no time": {
			reading(untimed(alpha), untimed(alpha)), reading(untimed(alpha), untimed(alpha), untimed(delta)),
			[]string{"1 alpha 2", "2 alpha 2", "3 delta 1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRoom(t, session.Options{})
			r.putAll("a", c.first)
			h := r.putAll("a", c.then)
			if got := r.kept(h); !slices.Equal(got, c.want) {
				t.Errorf("kept %q, want %q", got, c.want)
			}
		})
	}
}

// TestForgottenStaysForgotten: what was forgotten of a session is recognised by what it was, not by its number, also in a copy
// of the session with another id.
func TestForgottenStaysForgotten(t *testing.T) {
	alpha, bravo, charlie := askedAt(1, 1, "alpha", 2), askedAt(2, 2, "bravo", 2), askedAt(3, 3, "charlie", 2)
	delta := askedAt(4, 4, "delta", 1)
	r := newRoom(t, session.Options{})
	h := r.putAll("a", reading(alpha, bravo, charlie))
	if err := r.Forget(t.Context(), map[string][]int{h.Key(): {3}}); err != nil {
		t.Fatal(err)
	}
	masked := charlie
	masked.Ask = "[REDACTED]"
	for _, all := range [][]session.Exchange{
		reading(alpha, bravo, charlie), reading(bravo, charlie), reading(charlie), reading(alpha, masked), reading(charlie, delta),
	} {
		r.putAll("a", all)
	}
	if got := r.kept(h); !slices.Equal(got, []string{"1 alpha 2", "2 bravo 2", "4 delta 1"}) {
		t.Errorf("kept %q", got)
	}
	if got := r.kept(r.putAll("fork", reading(alpha, charlie))); !slices.Equal(got, []string{"1 alpha 2"}) {
		t.Errorf("of the copy is kept %q", got)
	}
	again := askedAt(1, 50, "charlie", 2) // the same words at another time are another question
	if got := r.kept(r.putAll("later", reading(again))); !slices.Equal(got, []string{"1 charlie 2"}) {
		t.Errorf("of a later question is kept %q", got)
	}
}

// TestForgetAgainstPut: words that are forgotten while their session is captured do not come back.
func TestForgetAgainstPut(t *testing.T) {
	for range 20 {
		r := newRoom(t, session.Options{})
		all := reading(askedAt(1, 1, "alpha", 50), askedAt(2, 2, "bravo", 50))
		h := r.putAll("a", all)
		var wait sync.WaitGroup
		for range 3 {
			wait.Go(func() { r.putAll("a", all) })
		}
		wait.Go(func() {
			if err := r.Forget(t.Context(), map[string][]int{h.Key(): nil}); err != nil {
				t.Error(err)
			}
		})
		wait.Wait()
		if got := r.kept(h); len(got) > 0 {
			t.Fatalf("kept %q", got)
		}
	}
}

// TestReadings reads parts of a session in any order, and forgets some of it in between: what was read and not forgotten is there
// under one number that never changes, and what was forgotten is not.
func TestReadings(t *testing.T) {
	cases := 0
	rapid.Check(t, func(rt *rapid.T) {
		if cases++; cases > 25 {
			return
		}
		r := newRoom(t, session.Options{})
		var h session.Head
		numbers, gone, seen := make(map[string]int), make(map[string]bool), make(map[string]bool)
		for range rapid.IntRange(1, 6).Draw(rt, "steps") {
			from := rapid.IntRange(0, 7).Draw(rt, "from")
			var all []session.Exchange
			for i := from; i < rapid.IntRange(from, 8).Draw(rt, "to"); i++ {
				e := askedAt(0, i, fmt.Sprint("ask ", i), rapid.IntRange(0, 3).Draw(rt, "steps of it"))
				all, seen[e.Ask] = append(all, e), true
			}
			h = r.putAll("a", reading(all...))
			_, kept, _ := r.Read(h.Key())
			used := make(map[int]bool)
			for i := range kept {
				e := &kept[i]
				if was, ok := numbers[e.Ask]; ok && was != e.N || used[e.N] || gone[e.Ask] {
					rt.Fatalf("%q has the number %d, had %d; forgotten: %v", e.Ask, e.N, was, gone[e.Ask])
				}
				numbers[e.Ask], used[e.N] = e.N, true
			}
			for ask := range seen {
				if !gone[ask] && !slices.ContainsFunc(kept, func(e session.Exchange) bool { return e.Ask == ask }) {
					rt.Fatalf("%q is lost", ask)
				}
			}
			if len(kept) > 0 && rapid.Bool().Draw(rt, "forget") {
				e := rapid.SampledFrom(kept).Draw(rt, "what")
				if err := r.Forget(t.Context(), map[string][]int{h.Key(): {e.N}}); err != nil {
					rt.Fatal(err)
				}
				gone[e.Ask] = true
			}
		}
	})
}
