package capture_test

import (
	"testing"
	"time"

	"anamnesis/internal/ingest/ingesttest"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
	"anamnesis/internal/store/storetest"
	"anamnesis/internal/store/tombstone"
)

// A session that was captured before it ended, and about which somebody decided
// since, is not shown again from the spool.
func TestPreviewHeedsDecisions(t *testing.T) {
	change := func(r *room, id note.ID, do func(*note.Note)) {
		n := r.note(id)
		do(n)
		ref, _ := r.store.Find(id)
		if _, _, err := storetest.Put(r.store, n, ref, store.Update); err != nil {
			r.Fatal(err)
		}
	}
	forget := func(r *room, id note.ID) {
		if _, err := tombstone.Forget(storetest.Writer(r.store), id); err != nil {
			r.Fatal(err)
		}
	}
	const again = "s1"
	for _, c := range []struct {
		name    string
		do      func(*room, note.ID)
		session string // that ends next
		shown   int
	}{
		{"nothing", func(*room, note.ID) {}, again, 1},
		{"tagged", func(r *room, id note.ID) { change(r, id, func(n *note.Note) { n.AddTags("mine") }) }, again, 1},
		{"edited", func(r *room, id note.ID) { change(r, id, func(n *note.Note) { n.Body = "What really happened." }) }, again, 0},
		{"archived", func(r *room, id note.ID) {
			if _, _, err := ingesttest.Archive(r.store, id, "old"); err != nil {
				r.Fatal(err)
			}
		}, again, 0},
		{"in quarantine", func(r *room, id note.ID) { change(r, id, func(n *note.Note) { n.Quarantine = true }) }, again, 0},
		{"kept on this machine, edited", func(r *room, id note.ID) {
			change(r, id, func(n *note.Note) { n.Scope, n.Body = note.Local, "What really happened." })
		}, again, 0},
		{"forgotten", forget, again, 0},
		{"forgotten, and another says the same", forget, "s2", 0},
		{"archived, and another says the same", func(r *room, id note.ID) {
			if _, _, err := ingesttest.Archive(r.store, id, "old"); err != nil {
				r.Fatal(err)
			}
		}, "s2", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRoom(t)
			text := user(0, "Fix the tax") + assistant(1, "It is rounded once now.")
			id := r.capture(text).Outcome.Note.ID
			c.do(r, id)
			if c.session == again {
				text += assistant(2, "And the tests pass.")
			}
			r.notice(r.file("later.jsonl", text), c.session, "session-end", false)
			if got := r.Preview([]string{"app"}, time.Now().Add(time.Hour)); len(got) != c.shown {
				t.Errorf("%d previews, want %d", len(got), c.shown)
			}
		})
	}
}
