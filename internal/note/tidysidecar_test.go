package note_test

import (
	"strings"
	"testing"

	"anamnesis/internal/note"

	"github.com/google/go-cmp/cmp"
)

// A sidecar that is tidied says the same, once; tidying it again changes nothing.
func TestTidy(t *testing.T) {
	key := func(s string) string { return strings.ToLower(strings.ReplaceAll(s, "-", " ")) }
	gone := func(id note.ID) bool { return id == "01KGONE" }
	s := &note.Sidecar{
		Entities: []note.Entity{
			{Name: "Job queue", Type: note.Concept, Description: "short"},
			{Name: "job-queue", Type: "config", Description: "the longer"},
			{Name: "stall", Type: "error"},
			{Name: "01KGONE", Type: note.Concept},
			{Name: "", Type: note.Concept},
			{Name: "", Type: "tool"},
		},
		Edges: []note.Edge{
			{Source: "job queue", Target: "stall", Relation: note.Causes, Strength: 3},
			{Source: "job-queue", Target: "Stall", Relation: note.Causes, Strength: 8},
			{Source: "job-queue", Target: "Stall", Relation: note.Causes, Strength: 8, Valid: "2026-01-01"},
			{Source: "Job queue", Target: "JOB-QUEUE", Relation: note.Uses},
			{Source: "stall", Target: "01KGONE", Relation: note.Uses},
			{Source: "Cron", Target: "job queue", Relation: note.Uses},
			{Source: "cron", Target: "job queue", Relation: note.Uses},
		},
	}
	want := &note.Sidecar{
		Entities: []note.Entity{
			{Name: "Job queue", Type: "config", Description: "the longer"},
			{Name: "stall", Type: "error"},
			{Name: "", Type: note.Concept},
			{Name: "", Type: "tool"},
		},
		Edges: []note.Edge{
			{Source: "Job queue", Target: "stall", Relation: note.Causes, Strength: 8},
			{Source: "Job queue", Target: "stall", Relation: note.Causes, Strength: 8, Valid: "2026-01-01"},
			{Source: "Cron", Target: "Job queue", Relation: note.Uses},
		},
	}
	got, did := s.Tidy(key, gone)
	if d := cmp.Diff(want, got); d != "" || did != (note.Tidied{Entities: 1, Edges: 3, Ends: 2}) {
		t.Errorf("%+v %s", did, d)
	}
	again, did := got.Tidy(key, gone)
	if d := cmp.Diff(want, again); d != "" || did.Any() {
		t.Errorf("a second time: %+v %s", did, d)
	}
	if len(s.Entities) != 6 || len(s.Edges) != 7 || s.Edges[1].Source != "job-queue" {
		t.Error("what was given is changed")
	}
}
