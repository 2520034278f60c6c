package ingest_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"anamnesis/internal/ingest"
	"anamnesis/internal/ingest/ingesttest"
	"anamnesis/internal/note"
	"anamnesis/internal/store"

	"pgregory.net/rapid"
)

// A run is taken back, and nothing else: what a person changed before, in between and
// after it stays.
func TestUndoRun(t *testing.T) {
	d := newDoor(t)
	text := func(id note.ID) string { return d.read(id).Body }
	kept := d.add(note.Note{Title: "kept", Body: "as it was"}, false).Note.ID
	edited := d.add(note.Note{Title: "edited", Body: "as it was"}, false).Note.ID
	between := d.add(note.Note{Title: "between", Body: "as it was"}, false).Note.ID
	untouched := d.add(note.Note{Title: "untouched", Body: "as it was"}, false).Note.ID
	gone := d.add(note.Note{Title: "gone", Body: "as it was"}, false).Note.ID

	run := store.NewRun(d.store, "reflect")
	ctx := store.WithRun(t.Context(), run)
	write := func(n note.Note) note.ID {
		t.Helper()
		n.Type = note.Semantic
		out, err := d.Admit(ctx, ingesttest.DraftOf(&n))
		if err != nil {
			t.Fatal(err)
		}
		return out.Note.ID
	}
	for _, id := range []note.ID{kept, edited, between, gone} {
		write(note.Note{ID: id, Title: "by the run", Body: "the run wrote it"})
	}
	made := write(note.Note{Title: "made", Body: "the run made it"})
	//  During, and after: a person.
	d.edit(between, "the run wrote it", "a person wrote it")
	write(note.Note{ID: between, Title: "by the run", Body: "the run wrote it once more"})
	d.edit(untouched, "as it was", "a person wrote it meanwhile")
	write(note.Note{ID: kept, Title: "by the run", Body: "the run wrote it twice"})
	d.edit(edited, "the run wrote it", "a person wrote it after")
	d.forget(gone)

	l, err := store.ReadRun(d.store, run.ID)
	if err != nil || l.What != "reflect" || len(l.Notes()) != 5 {
		t.Fatalf("%+v %v", l, err)
	}
	want := map[note.ID]string{
		kept: ingest.UndoRestored, edited: ingest.UndoEdited, between: ingest.UndoEdited, gone: ingest.UndoGone, made: ingest.UndoArchived,
	}
	for _, apply := range []bool{false, true} {
		all, paths, err := ingest.UndoRun(t.Context(), d.store, l, apply)
		if err != nil || len(all) != len(want) || (len(paths) > 0) != apply {
			t.Fatalf("%+v %v %v", all, paths, err)
		}
		for _, u := range all {
			if want[u.ID] != u.Result {
				t.Errorf("apply %v: %s is %s, want %s", apply, u.ID, u.Result, want[u.ID])
			}
		}
		if !apply && (text(kept) != "the run wrote it twice" || d.read(made).Status != "") {
			t.Error("a look changed something")
		}
	}
	if text(kept) != "as it was" || d.read(kept).Title != "kept" || text(edited) != "a person wrote it after" ||
		text(between) != "the run wrote it once more" || text(untouched) != "a person wrote it meanwhile" || d.read(made).Status != "archived" {
		t.Errorf("%q %q %q %q %q", text(kept), text(edited), text(between), text(untouched), d.read(made).Status)
	}
	// Twice is once.
	all, paths, err := ingest.UndoRun(t.Context(), d.store, l, true)
	if err != nil || len(paths) > 0 {
		t.Errorf("%+v %v %v", all, paths, err)
	}
	if runs, err := store.Runs(d.store, 0); err != nil || len(runs) != 1 || runs[0].ID != run.ID {
		t.Errorf("%+v %v", runs, err)
	}
	if _, err := store.ReadRun(d.store, "../../etc/passwd"); err == nil {
		t.Error("a run of another folder was read")
	}
}

// Whatever a run and a person write, in whatever order: undoing the run never takes
// away what the person wrote last, and an undo that is itself a run is undone by it.
func TestUndoRunProperty(t *testing.T) {
	root, cases := t.TempDir(), 0
	rapid.Check(t, func(t *rapid.T) {
		cases++
		dir := filepath.Join(root, fmt.Sprint(cases))
		s, err := store.Open(store.Options{Root: dir, Disk: quickDisk{}})
		if err != nil {
			t.Fatal(err)
		}
		run := store.NewRun(s, "merge")
		ctx := store.WithRun(t.Context(), run)
		ids := []note.ID{"a", "b", "c"}
		last := make(map[note.ID]string)   // the text of a note
		before := make(map[note.ID]string) // before the run touched it
		byRun := make(map[note.ID]bool)    // who wrote last
		clean := map[note.ID]bool{"a": true, "b": true, "c": true}
		for i := range rapid.IntRange(1, 12).Draw(t, "steps") {
			id := rapid.SampledFrom(ids).Draw(t, "note")
			by := rapid.Bool().Draw(t, "run")
			c := t.Context()
			if by {
				c = ctx
			}
			w, err := s.BeginWrite(c)
			if err != nil {
				t.Fatal(err)
			}
			text := fmt.Sprintf("text %d of %s", i, id)
			n := &note.Note{ID: id, Type: note.Semantic, Title: "t", Body: text, Scope: note.Portable}
			ref, _ := s.Find(id)
			if _, _, err := w.Put(n, ref, store.Update); err != nil {
				t.Fatal(err)
			}
			w.End()
			if by {
				if _, touched := before[id]; !touched {
					before[id] = last[id]
				} else if !byRun[id] {
					clean[id] = false // a person wrote between two writes of the run
				}
			}
			last[id], byRun[id] = text, by
		}
		l, err := store.ReadRun(s, run.ID)
		if err != nil {
			if len(before) > 0 {
				t.Fatal(err)
			}
			return
		}
		if _, _, err := ingest.UndoRun(t.Context(), s, l, true); err != nil {
			t.Fatal(err)
		}
		for id, text := range last {
			ref, err := s.Find(id)
			if err != nil {
				t.Fatal(err)
			}
			n, _, _, err := s.Read(ref.Path)
			if err != nil {
				t.Fatal(err)
			}
			was, touched := before[id]
			switch {
			case touched && byRun[id] && clean[id] && was == "":
				if n.Status != "archived" {
					t.Fatalf("%s was made by the run and is not archived", id)
				}
			case touched && byRun[id] && clean[id]:
				if n.Body != was {
					t.Fatalf("%s: %q, want %q", id, n.Body, was)
				}
			case n.Body != text:
				t.Fatalf("%s: %q, want %q", id, n.Body, text)
			}
		}
	})
}

// A crash at any write of a run leaves no change that its file does not name.
func TestRunCrash(t *testing.T) {
	for step := 1; ; step++ {
		root := t.TempDir()
		s, err := store.Open(store.Options{Root: root})
		if err != nil {
			t.Fatal(err)
		}
		write(t, s.Path("memory/semantic/n1.md"), string(noteBytes("n1", "before")))
		disk := newCrashDisk(step)
		crashing, err := store.Open(store.Options{Root: root, Disk: disk})
		if err != nil {
			continue
		}
		run := store.NewRun(crashing, "reflect")
		err = func() error {
			w, err := crashing.BeginWrite(store.WithRun(t.Context(), run))
			if err != nil {
				return err
			}
			defer w.End()
			n, _, ref, err := crashing.Read("memory/semantic/n1.md")
			if err != nil {
				return err
			}
			n.Body = "by the run"
			_, _, err = w.Put(n, ref, store.Update)
			return err
		}()
		n, _, _, rerr := s.Read("memory/semantic/n1.md")
		if rerr != nil {
			t.Fatal(rerr)
		}
		l, lerr := store.ReadRun(s, run.ID)
		if n.Body != "before" && (lerr != nil || !slices.Contains(l.Notes(), "n1")) {
			t.Errorf("step %d: changed, and nobody knows: %v", step, lerr)
		}
		if lerr == nil {
			if _, _, err := ingest.UndoRun(t.Context(), s, l, true); err != nil {
				t.Errorf("step %d: %v", step, err)
			}
			if n, _, _, _ := s.Read("memory/semantic/n1.md"); n == nil || n.Body != "before" {
				t.Errorf("step %d: %+v", step, n)
			}
		}
		if err == nil {
			return
		}
	}
}
