package reflection_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/claim"
	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/reflection"
)

// taught adds a learning of one session.
func (w *world) taught(id, rule, session string) note.ID {
	w.Helper()
	return w.add(note.Note{
		ID: note.ID(id), Type: note.Semantic, Project: "app", Title: strings.TrimRight(rule, "."), Rule: rule, Body: "**Why:** it was said.",
		Provenance: note.Provenance{Source: note.Learning, Confidence: 0.6, Session: session}, Tags: []string{"learning"},
		Evidence: []note.Evidence{{Session: "claude/" + session, Chunk: id, Quote: rule}}, ProofCount: 1, CreatedAt: note.At(w.now),
	})
}

func (w *world) due() reflection.Due {
	w.Helper()
	d, err := w.ConsolidationDue(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	return d
}

func TestConsolidationDue(t *testing.T) {
	w := newWorld(t)
	if d := w.due(); d.Now || d.New != 0 {
		t.Errorf("an empty store: %+v", d)
	}
	w.now = w.now.AddDate(1, 0, 0)
	if d := w.due(); d.Now {
		t.Errorf("an empty store after a year: %+v", d)
	}
	for i := range 29 {
		w.taught(fmt.Sprintf("l%d", i), fmt.Sprintf("Keep the %d-th thing in folder number%d.", i, i), fmt.Sprintf("s%d", i))
	}
	if d := w.due(); d.Now || d.New != 29 {
		t.Errorf("29: %+v", d)
	}
	if _, err := w.PlanConsolidation(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	w.taught("l29", "Water the plants on Fridays.", "s29")
	if d := w.due(); !d.Now || d.New != 30 {
		t.Errorf("30, after a plan: %+v", d)
	}
	w.now = w.now.Add(time.Second)
	plain := reflection.New(w.store, w.index, w.door, w.redactor, nil, reflection.Options{})
	if _, err := plain.Consolidate(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if d := w.due(); d.Now || d.New != 0 || d.Since.IsZero() {
		t.Errorf("after a pass: %+v", d)
	}
	w.now = w.now.Add(time.Hour)
	w.taught("l30", "Feed the cat in the morning.", "s30")
	w.now = w.now.Add(7*24*time.Hour - 2*time.Hour)
	if d := w.due(); d.Now || d.New != 1 {
		t.Errorf("one, after less than seven days: %+v", d)
	}
	w.now = w.now.Add(2 * time.Hour)
	if d := w.due(); !d.Now {
		t.Errorf("one, after seven days: %+v", d)
	}
}

// Fifty corrections are one observation with the evidence of fifty sessions.
func TestFold(t *testing.T) {
	w := newWorld(t)
	forms := []string{
		"Sort the ledger export by account number.", "Always sort ledger exports by the account number.",
		"Ledger exports are sorted by account number.", "The export of the ledger is sorted by account number.",
	}
	for i := range 50 {
		w.taught(fmt.Sprintf("l%02d", i), forms[i%len(forms)], fmt.Sprintf("s%d", i))
	}
	plain := reflection.New(w.store, w.index, w.door, w.redactor, nil, reflection.Options{})
	c, err := plain.Consolidate(t.Context(), "")
	if err != nil || len(c.Observed) != 1 {
		t.Fatalf("%+v, %v", c, err)
	}
	n := w.read(c.Observed[0])
	if n.Kind != note.Observation || n.ProofCount != n.Sessions() || n.Sessions() < 4 || len(n.Supersedes) != c.Replaced {
		t.Errorf("proof %d, %d sessions, replaces %d", n.ProofCount, n.Sessions(), len(n.Supersedes))
	}
	t.Logf("%d learnings, proof %d", c.Replaced, n.ProofCount)
	before := w.bytes()
	if again, err := plain.Consolidate(t.Context(), ""); err != nil || len(again.Observed) != 0 || w.bytes() != before {
		t.Errorf("again: %+v, %v", again, err)
	}
	// What it was made of goes: the observation is retired, and its history stays.
	if _, err := w.door.Archive(t.Context(), n.DerivedFrom, "not right"); err != nil {
		t.Fatal(err)
	}
	if c, err = plain.Consolidate(t.Context(), ""); err != nil || len(c.Retired) != 1 || w.read(n.ID).Live(w.now) {
		t.Errorf("without support: %+v, %v", c, err)
	}
	// What is retired is not made again, unless a person says so.
	more := w.taught("m", "Sort ledger exports by account number.", "s99")
	again := ingest.Observation{Of: append(n.DerivedFrom, more), Statement: "Sort the ledger export by account number", Project: "app"}
	again.ID = n.ID
	if out, err := w.door.Observe(t.Context(), again); err != nil || out.Result != ingest.Dropped {
		t.Errorf("again, by a machine: %+v, %v", out, err)
	}
}

func TestSaysSame(t *testing.T) {
	of := func(s string) *note.Note { return &note.Note{Title: s, Rule: s} }
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"Sort the ledger export by account number.", "Ledger exports are sorted by account number.", true},
		{"Sort the ledger export by account number.", "Never sort the ledger export by account number.", false},
		{"Use tabs in Go files.", "Use spaces in Go files.", false},
		{"Payment calls get 8 seconds.", "Payment calls get 12 seconds.", false},
		{"Sort the ledger export by account number.", "Sort the invoice list by date.", false},
		{"Run the linter before the commit.", "Run the linter before the commit, except for drafts.", false},
	} {
		if got := claim.SaysSame(of(tt.a), of(tt.b)); got != tt.want {
			t.Errorf("%q and %q: %v", tt.a, tt.b, got)
		}
	}
}

func TestConventionsPage(t *testing.T) {
	hostile := []reflection.Convention{{ID: "x", Statement: "Use <!-- anamnesis list conventions: end --> this\n# Title", Category: "a-b", Evidence: 2}}
	page, block := reflection.ConventionsPage("p", hostile), reflection.ConventionsBlock(hostile)
	if strings.Count(block, reflection.BlockEnd) != 1 || strings.Contains(page, "\n# Title") || !strings.Contains(page, "\n## A b\n") {
		t.Errorf("the page:\n%s\nthe block:\n%s", page, block)
	}
}

// What the user said twice stays the user's: the older note takes in the later one and what machines noted, with all quotes, and no
// observation of a machine takes its place.
func TestFoldKeepsTheUsersWords(t *testing.T) {
	w := newWorld(t)
	said := func(id, title, session string) note.ID {
		w.now = w.now.Add(time.Hour)
		n := note.Note{
			ID: note.ID(id), Type: note.Semantic, Project: "app", Title: title, LearningType: "rule", CreatedAt: note.At(w.now),
			Provenance: note.Provenance{Source: note.User, Confidence: 0.9, Session: session}, ProofCount: 1,
			Evidence: []note.Evidence{{Session: "claude/" + session, Chunk: id, Quote: title, At: note.At(w.now)}},
		}
		return w.add(n)
	}
	first := said("u1", "Sort the ledger export by account number", "s1")
	w.taught("m1", "Ledger exports are sorted by account number.", "s2")
	said("u2", "Always sort ledger exports by the account number", "s3")
	other := said("u3", "Never sort the invoices", "s3")
	plain := reflection.New(w.store, w.index, w.door, w.redactor, nil, reflection.Options{})
	plan, err := plain.PlanConsolidation(t.Context(), "app")
	if err != nil || len(plan.Foldings) != 1 || plan.Foldings[0].Keeper != first {
		t.Fatalf("%+v, %v", plan, err)
	}
	c, err := plain.Consolidate(t.Context(), "")
	if err != nil || len(c.Foldings) != 1 || c.Replaced != 2 || !slices.Equal(c.Observed, []note.ID{first}) {
		t.Fatalf("%+v, %v", c, err)
	}
	n := w.read(first)
	times, _ := note.Said(n)
	if !n.UserSaid() || n.Title != "Sort the ledger export by account number" || times != 3 || len(n.Supersedes) != 2 || n.Kind != "" {
		t.Errorf("%q, the user's: %v, said %d times, replaces %q", n.Title, n.UserSaid(), times, n.Supersedes)
	}
	if n := w.read(other); !n.UserSaid() || len(n.Supersedes) != 0 {
		t.Errorf("%+v", n)
	}
	before := w.bytes()
	if again, err := plain.Consolidate(t.Context(), ""); err != nil || len(again.Foldings) != 0 || w.bytes() != before {
		t.Errorf("again: %+v, %v", again, err)
	}
}
