package ingest_test

import (
	"fmt"
	"testing"

	"anamnesis/internal/index"
	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/note/notetest"
	"anamnesis/internal/store"
	"anamnesis/internal/store/tombstone"
)

// A draft is known already when a note says the same, and only then: a person's, an
// agent's, and one that is to be kept out because it was forgotten.
func TestAddPairs(t *testing.T) {
	d := newDoor(t)
	for i, p := range notetest.Pairs(t) {
		project := fmt.Sprintf("p%d", i)
		n := note.Note{Title: "A rule", Body: p.A, Project: project}
		first := d.add(n, false).Note.ID
		n.Body = p.B
		if i%2 == 0 {
			n.Provenance = machine(note.Agent)
		}
		out := d.add(n, false)
		want := ingest.Created
		if p.Same {
			want = ingest.Unchanged
		}
		if out.Result == ingest.Held && !p.Same { // it waits, and its owner sees both
			continue
		}
		if out.Result != want || p.Same != (out.Note.ID == first) {
			t.Errorf("%q and %q: %v %s", p.A, p.B, out.Result, out.Why)
		}
	}
}

// Forgetting a note takes along what says the same, and nothing else; what says
// the same does not come in again, and a correction does. Duplicates are the same.
func TestForgetPairs(t *testing.T) {
	for i, p := range notetest.Pairs(t) {
		d := newDoor(t)
		place := func(id note.ID, body string) {
			n := note.Note{
				ID: id, Title: "A rule", Body: body, Project: "p", Type: note.Semantic, Scope: note.Portable,
				CreatedAt: "2026-11-01T00:00:00Z", UpdatedAt: "2026-11-01T00:00:00Z", Provenance: note.Provenance{Source: note.Human, Confidence: 1},
			}
			write(t, d.store.Path(store.NotePath(note.Portable, note.Semantic, id)), string(n.Format()))
		}
		place("n1", p.A)
		place("n2", p.B)
		if _, err := d.index.Sync(t.Context(), index.SyncOptions{}); err != nil {
			t.Fatal(err)
		}
		plan, err := d.PlanDedup(t.Context(), false)
		if err != nil || len(plan) == 1 != p.Same {
			t.Errorf("%q and %q: duplicates %+v %v", p.A, p.B, plan, err)
		}
		f, err := tombstone.Plan(d.store, "n1")
		if err != nil || len(f.Notes) == 2 != p.Same {
			t.Errorf("%q and %q: forgets %v %v", p.A, p.B, f.Notes, err)
		}
		if i%4 > 0 { // the rest of it is slow
			continue
		}
		d.forget("n1")
		if d.store.Has("memory/semantic/n2.md") == p.Same {
			t.Errorf("%q and %q: the other stands: %v", p.A, p.B, !p.Same)
		}
		if p.Same {
			out := d.add(note.Note{Title: "A rule", Body: p.B, Project: "p", Provenance: machine(note.Agent)}, false)
			if out.Result != ingest.Dropped {
				t.Errorf("%q after %q was forgotten: %v", p.B, p.A, out.Result)
			}
		}
	}
}
