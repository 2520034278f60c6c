package inject_test

import (
	"slices"
	"testing"

	"anamnesis/internal/inject"
	"anamnesis/internal/note"
	"anamnesis/internal/recall"
	"anamnesis/internal/store"
)

// The rules that the session knows come first, other rules then, the rest last; what was
// written in the session itself is news to its sub-agent.
func TestBriefTellsTheSessionsRulesFirst(t *testing.T) {
	in, s := open(t, inject.Options{},
		note.Note{Title: "broker", Body: "The broker restarts.", Provenance: note.Provenance{Source: note.Import, Confidence: 1}},
		note.Note{Title: "broker rule", Body: "Never restart the broker."},
		note.Note{Title: "broker told", Body: "The broker must log."},
		note.Note{Title: "broker written", Body: "Always stop the broker.", When: []string{"cmd:broker stop"}, Provenance: note.Provenance{Source: note.Agent, Session: "s", Confidence: 1}},
		note.Note{Title: "cats", Body: "They always sleep."},
		note.Note{Title: "Rates are signed off", When: []string{"path:tax/**"}},
		note.Note{Title: "Retries hide it", When: []string{"error:EPIPE"}},
		note.Note{Title: "The mock is enough", When: []string{"cmd:make serve"}})
	if _, err := s.Spool().ShownLog("s", "").Claim(store.InjectionOf(&note.Note{ID: "n002", Title: "broker told", Body: "The broker must log."})); err != nil {
		t.Fatal(err)
	}
	p := place
	p.Session, p.Agent = "s", "a"
	b, err := in.Brief(t.Context(), p, recall.Query{Projects: p.Projects}, "Why does the broker restart?")
	if err != nil {
		t.Fatal(err)
	}
	var ids []note.ID
	for _, n := range b.Notes {
		ids = append(ids, n.ID)
	}
	if len(ids) != 4 || slices.Contains(ids, "n004") || !slices.Contains(ids[:2], "n002") || !slices.Contains(ids[:2], "n003") || ids[2] != "n001" {
		t.Errorf("the brief is %v", ids)
	}
	for want := range slices.Values([]int{4, 0}) {
		r, err := in.Subagent(t.Context(), p, nil, b.Notes)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Shown) != want || (r.Silent == "") != (want > 0) || r.Tokens > 200 {
			t.Errorf("shown %v of %d, %q, %d tokens", r.Shown, want, r.Silent, r.Tokens)
		}
	}
	if b, err := in.Brief(t.Context(), p, recall.Query{}, "/review it"); err != nil || b.Silent != "a command of the agent" {
		t.Errorf("%+v, %v", b, err)
	}
	task := "Split tax/vat.go in two; run `make serve`, which says: write EPIPE."
	b, err = in.Brief(t.Context(), p, recall.Query{Projects: p.Projects}, task)
	for _, id := range []note.ID{"n005", "n006", "n007"} {
		if err != nil || !slices.ContainsFunc(b.Notes, func(n *note.Note) bool { return n.ID == id }) {
			t.Errorf("%s is not in the brief of %q: %v, %v", id, task, b.Notes, err)
		}
	}
}
