package note_test

import (
	"fmt"
	"testing"

	"anamnesis/internal/note"
)

// A third machine's edit that is younger than the title it meets wins, although the merged note is younger still.
func TestEditTimes(t *testing.T) {
	at := func(day int, change func(*note.Note)) []byte {
		return noteFile(func(n *note.Note) {
			n.UpdatedAt = note.Stamp(fmt.Sprintf("2026-02-%02dT00:00:00+00:00", day))
			change(n)
		})
	}
	a := at(1, func(n *note.Note) { n.Title = "A" })
	b := at(9, func(n *note.Note) { n.Project = "B" })
	c := at(5, func(n *note.Note) { n.Title = "C" })
	m := note.Reconcile(noteFile(nil), note.Reconcile(noteFile(nil), a, b).Data, c)
	n := mustParse(t, string(m.Data))
	if n.Title != "C" || n.Project != "B" {
		t.Errorf("%s", m.Data)
	}
	next := n.Clone()
	next.Title = "D"
	next.InheritEdits(n)
	if len(n.Edits) != 1 || len(next.Edits) != 0 {
		t.Errorf("edit times %v, after a new edit %v", n.Edits, next.Edits)
	}
}
