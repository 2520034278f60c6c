package ingest_test

import (
	"fmt"
	"testing"

	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
)

// A field of a persona is as sure as its sessions, loses those that say otherwise, and is not
// changed by a machine once a person wrote it.
func TestField(t *testing.T) {
	d := newDoor(t)
	b := d.Ingester
	taught := 0
	learn := func(n int) (of []note.ID) {
		for range n {
			taught++
			l := learning(1, fmt.Sprintf("Write the subject of commit %d in the imperative", taught))
			l.Note.Evidence[0].Session = fmt.Sprint("claude/s", taught)
			of = append(of, d.learn(l).Note.ID)
		}
		return of
	}
	observe := func(o ingest.Observation) *note.Note {
		t.Helper()
		o.Project, o.Field = "p", "commit_style"
		out, err := b.Observe(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		return out.Note
	}
	ten := learn(10)
	n := observe(ingest.Observation{Statement: "imperative", Of: ten, Model: "m"})
	if n.Body != "imperative" || n.Provenance.Confidence < 0.8 || !n.HasTag("persona") || !n.HasTag("field:commit_style") {
		t.Fatalf("ten sessions: %+v", n)
	}
	if again := observe(ingest.Observation{Statement: "imperative", Of: ten, Model: "m"}); again.Provenance.Confidence != n.Provenance.Confidence {
		t.Errorf("said again by the same sessions: %v", again.Provenance.Confidence)
	}
	other := observe(ingest.Observation{Statement: "conventional commits", Of: learn(2), Model: "m"})
	if other.ID != n.ID || other.Body != "conventional commits" || other.Provenance.Confidence >= 0.8 {
		t.Errorf("two sessions say otherwise: %q, %v", other.Body, other.Provenance.Confidence)
	}
	mine := observe(ingest.Observation{Statement: "imperative, no prefix", Human: true})
	if mine.ID != n.ID || mine.Provenance.Source != note.Human || mine.Provenance.Confidence != 1 {
		t.Errorf("a person: %+v", mine.Provenance)
	}
	if kept := observe(ingest.Observation{Statement: "conventional commits", Of: learn(3), Model: "m"}); kept.Body != "imperative, no prefix" {
		t.Errorf("a machine changed what a person wrote: %q", kept.Body)
	}
	if _, err := b.Observe(t.Context(), ingest.Observation{Statement: "x", Project: "p", Field: "../x", Human: true}); err == nil {
		t.Error("a field without a name is written")
	}
}
