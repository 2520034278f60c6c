package inject_test

import (
	"testing"

	"anamnesis/internal/inject"
	"anamnesis/internal/note"
	"anamnesis/internal/store"

	"github.com/google/go-cmp/cmp"
)

func TestEconomics(t *testing.T) {
	sessions := map[note.ID]string{"a1": "a", "a2": "a", "b1": "b", "own": "s", "lost": "never captured"}
	var l inject.Ledger
	for _, r := range []store.Record{
		{Kind: store.Captured, Session: "a", In: 500},
		{Kind: store.Captured, Session: "a", In: 1000}, // captured again
		{Kind: store.Captured, Session: "b", In: 3000},
		{Kind: store.Captured, Session: "s", In: 9000},
		{Kind: store.Captured, Session: "t", Text: "trivial"},
		{Kind: store.Injected, Session: "s", Notes: []note.ID{"a1", "a2", "hand"}, Out: 100},
		{Kind: store.Injected, Session: "s", Notes: []note.ID{"hand", "own", "lost"}, Out: 70},
		{Kind: store.Prompted, Session: "s", Notes: []note.ID{"a1", "b1"}, Out: 200},
		{Kind: store.Prompted, Session: "s", Text: "no note is about it"},
		{Kind: store.Recalled, Text: "search", Notes: []note.ID{"a1"}, Out: 40}, // a person asked
		{Kind: store.Recalled, Text: "mcp", Notes: []note.ID{"b1"}, Out: 60},
		{Kind: store.Written, Notes: []note.ID{"a1"}, Out: 5},
	} {
		l.Take(r, true)
	}
	l.Take(store.Record{Kind: store.Injected, Notes: []note.ID{"a1"}, Out: 100}, false) // before the time that is asked about
	percent := func(n int) *int { return &n }
	want := inject.Economics{
		Surfaces: []inject.Surface{
			{Name: "start", Times: 2, Notes: 6, Tokens: 170, Known: 1, TokensKnown: 100, Sources: 1000, Saved: 900, Percent: percent(90)},
			{Name: "prompt", Times: 1, Notes: 2, Tokens: 200, Known: 1, TokensKnown: 200, Sources: 4000, Saved: 3800, Percent: percent(95)},
			{Name: "search", Times: 1, Notes: 1, Tokens: 60, Known: 1, TokensKnown: 60, Sources: 3000, Saved: 2940, Percent: percent(98)},
		},
		All: inject.Surface{Name: "all", Times: 4, Notes: 9, Tokens: 430, Known: 3, TokensKnown: 360, Sources: 8000, Saved: 7640, Percent: percent(96)},
	}
	if diff := cmp.Diff(want, l.Sum(func(id note.ID) string { return sessions[id] })); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var none inject.Ledger
	if e := none.Sum(func(note.ID) string { return "" }); len(e.Surfaces) > 0 || e.All.Percent != nil {
		t.Errorf("of nothing: %+v", e)
	}
}
