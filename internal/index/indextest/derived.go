package indextest

import (
	"testing"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

func twins(t *testing.T, s *suite) {
	words := "when the payments proto changes run make proto gen and commit the generated clients in the same change or staging breaks again"
	a := entry(&note.Note{ID: "a", Title: "gRPC", Body: words})
	s.apply(index.Batch{Put: []index.Entry{a, entry(&note.Note{ID: "b", Title: "other", Body: "nothing alike at all here"})}})
	got, err := s.Twins(s.ctx, a.Statement, a.Simhash)
	if err != nil || len(got) != 1 || got[0].Row.ID != "a" || !got[0].Exact {
		t.Fatalf("Twins = %+v, %v", got, err)
	}
	for flip := range 64 {
		sim := a.Simhash ^ 1<<flip ^ 1<<((flip+21)%64) ^ 1<<((flip+42)%64)
		got, err := s.Twins(s.ctx, [16]byte{}, sim)
		if err != nil || len(got) != 1 || got[0].Exact || got[0].Bits != 3 {
			t.Fatalf("three bits away: %+v, %v", got, err)
		}
	}
	if got, _ := s.Twins(s.ctx, [16]byte{}, a.Simhash^0x8001000100010001); len(got) != 0 {
		t.Errorf("four bits away: %+v", got)
	}
}

func counters(t *testing.T, s *suite) {
	none := map[string]int64{}
	one := map[note.ID]store.Tally{"a": {Injected: 2, Recalled: 1, Last: noon}}
	step := func(from, to map[string]int64) {
		t.Helper()
		if err := s.Count(s.ctx, one, from, to); err != nil {
			t.Fatal(err)
		}
	}
	step(none, map[string]int64{"2026-07.jsonl": 10})
	step(none, map[string]int64{"2026-07.jsonl": 10}) // another process was faster
	step(map[string]int64{"2026-07.jsonl": 10}, map[string]int64{"2026-07.jsonl": 20})
	got, err := s.Counters(s.ctx, []note.ID{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "counters", map[note.ID]store.Tally{"a": {Injected: 4, Recalled: 2, Last: noon}}, got)
	at, err := s.Cursors(s.ctx)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "cursors", map[string]int64{"2026-07.jsonl": 20}, at)
}

func check(t *testing.T, s *suite) {
	for _, want := range [][]note.ID{{}, {"a"}} {
		if err := s.Check(s.ctx); err != nil {
			t.Errorf("with %d notes: %v", len(want), err)
		}
		equal(t, "notes", want, s.selected(index.Filter{}))
		s.put(&note.Note{ID: "a", Title: "title"})
	}
}
