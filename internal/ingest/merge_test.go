package ingest_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/fstest"
	"time"

	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
	"anamnesis/internal/store/storetest"
	"anamnesis/internal/store/tombstone"

	"github.com/google/go-cmp/cmp"
)

func changedNote(id note.ID, month int, change func(*note.Note)) []byte {
	n := draft(id)
	n.UpdatedAt = note.Stamp(fmt.Sprintf("2026-%02d-01T00:00:00+00:00", month))
	change(n)
	return n.Format()
}

func stone(t *testing.T, s *store.Store, id note.ID, statement string) string {
	t.Helper()
	if err := tombstone.Write(storetest.Writer(s), note.Portable, tombstone.New(id, statement, time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC))); err != nil {
		t.Fatal(err)
	}
	return string(read(t, s, "memory/tombstones/"+string(id)+".json"))
}

func TestMerger(t *testing.T) {
	s, _ := open(t)
	other, _ := open(t)
	mine := stone(t, s, "n7", "x\ny")
	theirStone := stone(t, other, "n8", "t\nsecret thing")
	theirs := fstest.MapFS{"tombstones/n8.json": {Data: []byte(theirStone)}}
	merge, err := ingest.NewIncoming(s).Merger(storetest.Tree{FS: theirs})
	if err != nil {
		t.Fatal(err)
	}
	base := changedNote("n1", 1, func(*note.Note) {})
	title := changedNote("n1", 2, func(n *note.Note) { n.Title = "A" })
	body := changedNote("n1", 3, func(n *note.Note) { n.Body = "B" })
	title2 := changedNote("n1", 4, func(n *note.Note) { n.Title = "C" })
	machine := changedNote("n1", 4, func(n *note.Note) { n.MachineID = "other" })
	machine2 := changedNote("n1", 3, func(n *note.Note) { n.MachineID = "third" })
	both := changedNote("n1", 3, func(n *note.Note) {
		n.Title, n.Body = "A", "B"
		n.Edits = []note.Edit{{Key: "title", At: "2026-02-01T00:00:00+00:00"}}
	})
	said := changedNote("n3", 3, func(n *note.Note) { n.Body = "secret thing" })
	forgot := changedNote("n7", 3, func(*note.Note) {})
	str := func(b []byte) any {
		if b == nil {
			return nil
		}
		return string(b)
	}
	for _, c := range []struct {
		name, path                string
		base, a, b, merged, other []byte
	}{
		{"fields", "semantic/n1.md", base, title, body, both, nil},
		{"one field", "semantic/n1.md", base, title, title2, title2, title},
		{"a field of ours", "semantic/n1.md", base, machine, machine2, machine, nil},
		{"deleted and unchanged", "semantic/n1.md", base, base, nil, nil, nil},
		{"deleted and edited", "semantic/n1.md", base, title, nil, title, nil},
		{"deleted on both sides", "semantic/n1.md", base, nil, nil, nil, nil},
		{"added by one", "semantic/n1.md", nil, nil, title, title, nil},
		{"forgotten and edited", "semantic/n7.md", base, forgot, nil, nil, forgot},
		{"forgotten and added", "semantic/n7.md", nil, forgot, nil, nil, forgot},
		{"forgotten, unchanged", "semantic/n7.md", forgot, forgot, nil, nil, nil},
		{"forgotten, the sidecar", "semantic/n7.entities.yaml", nil, []byte("entities: []\n"), nil, nil, nil},
		{"what was forgotten under another name, edited and deleted", "semantic/n3.md", base, said, nil, nil, said},
		{"what was forgotten under another name, added", "semantic/n3.md", nil, said, nil, said, nil},
		{"a tombstone deleted", "tombstones/n7.json", []byte(mine), []byte(mine), nil, []byte(mine), nil},
		{"a tombstone deleted on both sides", "tombstones/n7.json", []byte(mine), nil, nil, []byte(mine), nil},
		{"a tombstone and rubbish", "tombstones/n7.json", nil, []byte(mine), []byte("{"), []byte(mine), nil},
		{
			"aliases", "projects.yaml", []byte("aliases:\n- {from: a, to: b}\n- {from: q, to: r}\n"),
			[]byte("# mine\naliases:\n- {from: z, to: b}\n- {from: a, to: b}\n- {from: q, to: r}\n"), []byte("aliases:\n- {from: a, to: b}\n- {from: c, to: b}\n"),
			[]byte("aliases:\n- {from: 'a', to: 'b'}\n- {from: 'c', to: 'b'}\n- {from: 'z', to: 'b'}\n"), nil,
		},
		{"aliases, one broken", "projects.yaml", nil, []byte("aliases: 3\n"), []byte("aliases: []\n"), []byte("aliases: []\n"), []byte("aliases: 3\n")},
		{"a slot", "slots/one.md", base, title, body, both, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			for range 2 {
				m, o, err := merge(c.path, c.base, c.a, c.b)
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(str(c.merged), str(m)); d != "" {
					t.Errorf("merged -want +got:\n%s", d)
				}
				if c.name == "one field" && o != nil {
					n, _ := note.Parse(o)
					if n.Title != "A" {
						t.Errorf("the other version:\n%s", o)
					}
				} else if d := cmp.Diff(str(c.other), str(o)); d != "" {
					t.Errorf("other -want +got:\n%s", d)
				}
				c.a, c.b = c.b, c.a
			}
		})
	}
	// Text has a winner, whichever side asks.
	m1, o1, _ := merge("slots/x.txt", nil, []byte("one"), []byte("two"))
	m2, o2, _ := merge("slots/x.txt", nil, []byte("two"), []byte("one"))
	if !bytes.Equal(m1, m2) || !bytes.Equal(o1, o2) || bytes.Equal(m1, o1) {
		t.Errorf("%q %q, %q %q", m1, o1, m2, o2)
	}
	if _, _, err := merge("../config.json", nil, nil, []byte("x")); err == nil {
		t.Error("merged a file outside of the tree")
	}
}

func TestConflicts(t *testing.T) {
	s, _ := open(t)
	won := changedNote("n1", 3, func(n *note.Note) { n.Title = "W"; n.Body = "won" })
	lost := changedNote("n1", 2, func(n *note.Note) { n.Title = "L"; n.Body = "lost" })
	half := changedNote("n1", 3, func(n *note.Note) { n.Title = "L"; n.Body = "won" })
	write(t, s.Path("memory/semantic/n1.md"), string(won))
	add := func(winner, loser []byte) (store.Conflict, bool) {
		c, added, err := storetest.Writer(s).AddConflict("semantic/n1.md", winner, loser)
		if err != nil {
			t.Fatal(err)
		}
		return c, added
	}
	c, added := add(won, lost)
	if !added || c.Why != store.WhyBody || !slices.Equal(c.Fields, []string{"title", "body"}) || c.NoteID != "n1" {
		t.Fatalf("%+v %v", c, added)
	}
	for _, again := range [][]byte{lost, half} { // a merge that is repeated after a crash
		if old, added := add(won, again); added || old.ID != c.ID {
			t.Errorf("kept a second time: %+v", old)
		}
	}
	if all, err := s.Conflicts().List(); err != nil || len(all) != 1 || !cmp.Equal(all[0], c) {
		t.Fatalf("%+v %v", all, err)
	}
	if _, err := ingest.New(s, nil, nil, ingest.Options{}).ResolveConflict(context.Background(), c.ID, "neither", nil); err == nil {
		t.Error("a choice that is none")
	}
	if _, err := ingest.New(s, nil, nil, ingest.Options{}).ResolveConflict(context.Background(), "../x", ingest.KeepWinner, nil); err == nil {
		t.Error("resolved a path")
	}
	paths, err := ingest.New(s, nil, nil, ingest.Options{}).ResolveConflict(context.Background(), c.ID, ingest.TakeLoser, nil)
	n, _, _, rerr := s.Read("memory/semantic/n1.md")
	if err != nil || rerr != nil || n.Body != "lost" || n.Title != "L" || !slices.Equal(paths, []string{"memory/semantic/n1.md"}) {
		t.Fatalf("take: %v %v %v\n%+v", paths, err, rerr, n)
	}
	if all, _ := s.Conflicts().List(); len(all) != 0 {
		t.Errorf("left %+v", all)
	}

	now := read(t, s, "memory/semantic/n1.md")
	third := changedNote("n1", 2, func(n *note.Note) { n.Title = "L"; n.Body = "third" })
	c, _ = add(now, third)
	if _, err := ingest.New(s, nil, nil, ingest.Options{}).ResolveConflict(context.Background(), c.ID, ingest.KeepWinner, nil); err != nil || !bytes.Equal(now, read(t, s, "memory/semantic/n1.md")) {
		t.Errorf("keep: %v", err)
	}
	revs, _ := s.History("n1")
	if len(revs) != 2 || revs[0].Reason != store.Conceded || !bytes.Equal(read(t, s, revs[0].Path), third) {
		t.Errorf("history %+v", revs)
	}

	c, _ = add(now, won)
	paths, err = ingest.New(s, nil, nil, ingest.Options{}).ResolveConflict(context.Background(), c.ID, ingest.KeepBoth, nil)
	if err != nil || len(paths) != 1 {
		t.Fatalf("both: %v %v", paths, err)
	}
	if n, _, _, err = s.Read(paths[0]); err != nil || n.ConflictOf != "n1" || n.Body != "won" || n.ID == "n1" {
		t.Errorf("both: %+v %v", n, err)
	}

	c, _ = add(now, won)
	if _, err := ingest.New(s, nil, nil, ingest.Options{}).ResolveConflict(context.Background(), c.ID, ingest.TakeEdited, []byte("no note")); err == nil {
		t.Error("took what is no note")
	}
	if _, err := ingest.New(s, nil, nil, ingest.Options{}).ResolveConflict(context.Background(), c.ID, ingest.TakeEdited, changedNote("n2", 1, func(*note.Note) {})); err == nil {
		t.Error("took another note")
	}
	if _, err := ingest.New(s, nil, nil, ingest.Options{}).ResolveConflict(context.Background(), c.ID, ingest.TakeEdited, changedNote("n1", 1, func(n *note.Note) { n.Body = "made of both" })); err != nil {
		t.Fatal(err)
	}
	if n, _, _, _ = s.Read("memory/semantic/n1.md"); n.Body != "made of both" {
		t.Errorf("edit: %+v", n)
	}
}

func TestForgottenConflict(t *testing.T) {
	s, _ := open(t)
	stone(t, s, "n1", "t\nb")
	edit := changedNote("n1", 3, func(n *note.Note) { n.Body = "better" })
	c, _, err := storetest.Writer(s).AddConflict("semantic/n1.md", nil, edit)
	if err != nil || c.Why != store.WhyForgotten {
		t.Fatalf("%+v %v", c, err)
	}
	if _, err := tombstone.Apply(storetest.Writer(s)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Conflicts().Get(c.ID); err != nil {
		t.Fatalf("obeying a tombstone took the edit away: %v", err)
	}
	before := read(t, s, "memory/tombstones/n1.json")
	paths, err := ingest.New(s, nil, nil, ingest.Options{}).ResolveConflict(context.Background(), c.ID, ingest.TakeLoser, nil)
	if err != nil || !slices.Equal(paths, []string{"memory/tombstones/n1.json", "memory/semantic/n1.md"}) {
		t.Fatalf("%v %v", paths, err)
	}
	if stones, _ := tombstone.For(s, note.Local); len(stones) != 0 {
		t.Errorf("still forgotten: %v", stones)
	}
	// The machine that still has the tombstone does not bring it back.
	lifted := read(t, s, "memory/tombstones/n1.json")
	merge, err := ingest.NewIncoming(s).Merger(storetest.Tree{FS: fstest.MapFS{"tombstones/n1.json": {Data: before}}})
	if err != nil {
		t.Fatal(err)
	}
	if m, _, err := merge("tombstones/n1.json", before, before, lifted); err != nil || !bytes.Equal(m, lifted) {
		t.Errorf("%s %v", m, err)
	}
	if m, _, err := merge("tombstones/n1.json", nil, before, lifted); err != nil || !bytes.Equal(m, lifted) {
		t.Errorf("%s %v", m, err)
	}
	if m, o, err := merge("semantic/n1.md", nil, nil, edit); err != nil || m == nil || o != nil {
		t.Errorf("%s %s %v", m, o, err)
	}
	// And it can be forgotten again.
	if _, err := tombstone.Forget(storetest.Writer(s), "n1"); err != nil {
		t.Fatal(err)
	}
	again := read(t, s, "memory/tombstones/n1.json")
	if m, _, err := merge("tombstones/n1.json", nil, again, lifted); err != nil || !bytes.Equal(m, again) {
		t.Errorf("%s %v", m, err)
	}

	c, _, err = storetest.Writer(s).AddConflict("semantic/n1.md", nil, edit)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ingest.New(s, nil, nil, ingest.Options{}).ResolveConflict(context.Background(), c.ID, ingest.KeepWinner, nil); err != nil {
		t.Fatal(err)
	}
	if holds(t, s, "better") {
		t.Error("the edit of a forgotten note is still there")
	}
}

// Two machines move a note to different places, or one moves and one changes it.
func TestSettle(t *testing.T) {
	edit := changedNote("n1", 3, func(n *note.Note) { n.Body = "edited" })
	old := changedNote("n1", 1, func(*note.Note) {})
	moved := changedNote("n1", 2, func(n *note.Note) { n.Type = note.Procedural })
	for range 2 {
		s, _ := open(t)
		write(t, s.Path("memory/semantic/n1.md"), string(edit))
		write(t, s.Path("memory/procedural/n1.md"), string(moved))
		write(t, s.Path("memory/procedural/n1.entities.yaml"), "entities: []\n")
		write(t, s.Path("memory/procedural/n2.md"), string(noteBytes("n2", "x")))
		write(t, s.Path("history/n1/01K2M3N4P5Q6R7S8T9V0W1X2Y3-update.md"), string(old))
		paths, err := onePlace(t, s)
		if err != nil || !slices.Equal(paths, []string{"memory/procedural/n1.md"}) {
			t.Fatalf("%v %v", paths, err)
		}
		if !bytes.Equal(read(t, s, "memory/semantic/n1.md"), edit) || read(t, s, "memory/semantic/n1.entities.yaml") == nil {
			t.Error("the later form is not in its place, with its sidecar")
		}
		if all, _ := s.Conflicts().List(); len(all) != 0 {
			t.Errorf("an older form became a conflict: %+v", all)
		}
		if paths, err := onePlace(t, s); err != nil || len(paths) != 0 {
			t.Errorf("again: %v %v", paths, err)
		}
		moved = changedNote("n1", 2, func(n *note.Note) { n.Type = note.Procedural })
	}
	s, _ := open(t)
	write(t, s.Path("memory/semantic/n1.md"), string(edit))
	write(t, s.Path("memory/semantic/2026/n1.md"), string(changedNote("n1", 2, func(n *note.Note) { n.Body = "edited too" })))
	if _, err := onePlace(t, s); err != nil {
		t.Fatal(err)
	}
	if all, _ := s.Conflicts().List(); len(all) != 1 || all[0].Path != "semantic/n1.md" {
		t.Errorf("what both say differs, and nobody is told: %+v", all)
	}
}

// onePlace carries out tombstones and gives every note of a store one place.
func onePlace(t interface{ Context() context.Context }, s *store.Store) ([]string, error) {
	return ingest.NewIncoming(s).Finish(t.Context(), func([]string) error { return nil }, func() bool { return true })
}
