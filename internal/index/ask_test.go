package index_test

import (
	"fmt"
	"strings"
	"testing"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
)

// Long notes whose every passage holds a word leave room for a note that says it once.
func TestAskCountsNotes(t *testing.T) {
	b := newBench(t)
	add := func(id, title, body string) {
		n := note.Note{ID: note.ID(id), Type: note.Semantic, Title: title, Project: "p", Body: body, UpdatedAt: "2026-07-01T10:00:00+00:00"}
		b.raw("memory/semantic/"+id+".md", string(n.Format()), false)
	}
	const long = 4
	for i := range long {
		add(fmt.Sprintf("long%d", i), "The kumquat in the kumquat press", strings.Repeat("Each day the kumquat is pressed, and the kumquat is stored.\n\n", 200))
	}
	add("short", "Where fruit is kept", "In the cellar; a kumquat, too.")
	b.sync()
	st, err := b.Statistics(t.Context())
	if err != nil || st.Passages < 8*long {
		t.Fatalf("%d passages, %v", st.Passages, err)
	}
	limit := st.Passages * 3 / 5
	m, err := b.Ask(t.Context(), "kumquat", index.Filter{Now: b.now}, limit)
	if err != nil || len(m.Candidates) > 2*limit {
		t.Fatalf("%d candidates for %d, %v", len(m.Candidates), limit, err)
	}
	notes := make(map[int64]bool)
	for i := range m.Candidates {
		notes[m.Candidates[i].Key] = true
	}
	if len(notes) != long+1 {
		t.Errorf("passages of %d notes were found, want %d", len(notes), long+1)
	}
}
