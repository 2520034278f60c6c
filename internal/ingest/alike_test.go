package ingest_test

import (
	"slices"
	"strings"
	"testing"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
)

// What nearly says the forgotten lives on under other ids; whoever forgets is told.
func TestAlike(t *testing.T) {
	near := strings.Replace(long, "day", "date", 1)
	base := note.Note{Title: "grpc clients", Body: long, Project: "p"}
	for _, c := range []struct {
		name   string
		change func(*note.Note)
		want   bool
	}{
		{"nearly the same", func(*note.Note) {}, true},
		{"of another type", func(n *note.Note) { n.Type = note.Episodic }, true},
		{"on this machine alone", func(n *note.Note) { n.Scope = note.Local }, true},
		{"of every project", func(n *note.Note) { n.Project = note.Global }, true},
		{"of another project", func(n *note.Note) { n.Project = "q" }, false},
		{"archived", func(n *note.Note) { n.Status = "archived" }, false},
		{"exactly the same, which goes with it", func(n *note.Note) { n.Body, n.Type = long, note.Procedural }, false},
		{"another number", func(n *note.Note) { n.Body = near + " within 60 minutes" }, false},
		{"something else", func(n *note.Note) { n.Body = "quite another matter altogether" }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDoor(t)
			gone := d.add(base, false)
			other := base
			other.Body = near
			c.change(&other)
			stays := d.add(other, true)
			rows, err := d.Alike(t.Context(), gone.Note)
			if err != nil {
				t.Fatal(err)
			}
			if got := slices.ContainsFunc(rows, func(r index.Row) bool { return r.ID == stays.Note.ID }); got != c.want || len(rows) > 1 {
				t.Errorf("alike: %+v", rows)
			}
			// The note need not be there any more, nor anything else.
			if _, err := d.store.Forget(gone.Note.ID); err != nil {
				t.Fatal(err)
			}
			if rows, err := d.Alike(t.Context(), gone.Note); err != nil || (len(rows) > 0) != c.want {
				t.Errorf("afterwards: %+v %v", rows, err)
			}
		})
	}
	d := newDoor(t)
	if rows, err := d.Alike(t.Context(), &note.Note{}); err != nil || len(rows) > 0 {
		t.Errorf("like nothing: %+v %v", rows, err)
	}
	// A note for every project is like one of any.
	one := d.add(base, false)
	all := base
	all.Body, all.Project = near, note.Global
	rows, err := d.Alike(t.Context(), d.add(all, false).Note)
	if err != nil || len(rows) != 1 || rows[0].ID != one.Note.ID {
		t.Errorf("like a global note: %+v %v", rows, err)
	}
}
