package tombstone_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"anamnesis/internal/ingest"
	"anamnesis/internal/ingest/ingesttest"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
	"anamnesis/internal/store/storetest"
	"anamnesis/internal/store/tombstone"
)

// stone writes a tombstone and returns its file.
func stone(t *testing.T, s *store.Store, id note.ID, statement string) string {
	t.Helper()
	if err := tombstone.Write(storetest.Writer(s), note.Portable, tombstone.New(id, statement, time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC))); err != nil {
		t.Fatal(err)
	}
	return string(read(t, s, "memory/tombstones/"+string(id)+".json"))
}

func TestArchive(t *testing.T) {
	s, _ := open(t)
	write(t, s.Path("memory/semantic/n1.md"), string(noteBytes("n1", "b")))
	ref, changed, err := ingesttest.Archive(s, "n1", "old")
	if err != nil || !changed {
		t.Fatal(changed, err)
	}
	n, _, _, _ := s.Read(ref.Path)
	if n.Status != "archived" || n.StatusReason != "old" || n.Live(time.Now()) {
		t.Errorf("%+v", n)
	}
	if _, changed, _ := ingesttest.Archive(s, "n1", "again"); changed {
		t.Error("archived twice")
	}
	if _, changed, err := ingesttest.Unarchive(s, "n1"); err != nil || !changed {
		t.Error(changed, err)
	}
	if n, _, _, _ = s.Read(ref.Path); n.Status != "" || n.StatusReason != "" {
		t.Errorf("%+v", n)
	}
	revs, _ := s.History("n1")
	if len(revs) != 2 || revs[0].Reason != store.Archived {
		t.Errorf("history %+v", revs)
	}
	if _, _, err := ingesttest.Archive(s, "n9", ""); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("archived what is not there: %v", err)
	}

	if _, changed, err := ingesttest.Restore(s, "n1", revs[0].Name); err != nil || !changed {
		t.Fatal(changed, err)
	}
	if n, _, _, _ = s.Read(ref.Path); n.Status != "archived" {
		t.Errorf("restored %+v", n)
	}
	if revs, _ = s.History("n1"); len(revs) != 3 || revs[0].Reason != store.Restored {
		t.Errorf("history %+v", revs)
	}
	for _, name := range []string{"", "../n2/x", "01K2M3N4P5Q6R7S8T9V0W1X2Y3-update"} {
		if _, _, err := ingesttest.Restore(s, "n1", name); err == nil {
			t.Errorf("restored %q", name)
		}
	}
}

// lore fills a store with everything that a note leaves behind.
func lore(t *testing.T, s *store.Store) {
	t.Helper()
	secret := "the password of the staging host is swordfish and Ada knows it"
	write(t, s.Path("memory/semantic/n1.md"), string(noteBytes("n1", secret)))
	write(t, s.Path("memory/semantic/n1.entities.yaml"), "entities:\n- name: swordfish\n")
	write(t, s.Path("memory/episodic/copy.md"), string(noteBytes("copy", "the password of the staging host\nis swordfish and Ada knows it!")))
	write(t, s.Path("local/semantic/here.md"), string(noteBytes("here", secret)))
	write(t, s.Path("memory/semantic/n2.md"), string(noteBytes("n2", "something else")))
	for _, id := range []string{"n1", "copy"} {
		write(t, s.Path("history/"+id+"/01K2M3N4P5Q6R7S8T9V0W1X2Y3-update.md"), string(noteBytes(note.ID(id), "swordfish once")))
	}
	write(t, s.Path("history/n2/01K2M3N4P5Q6R7S8T9V0W1X2Y3-update.md"), string(noteBytes("n2", "another")))
	held := draft("held")
	held.Body = secret
	if err := storetest.Writer(s).Hold(held); err != nil {
		t.Fatal(err)
	}
	if _, _, err := storetest.Writer(s).AddConflict("semantic/n1.md", noteBytes("n1", secret), noteBytes("n1", "swordfish?")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := storetest.Writer(s).AddConflict("semantic/n2.md", noteBytes("n2", "x"), noteBytes("n2", "y")); err != nil {
		t.Fatal(err)
	}
}

// TestMarks forgets notes that can be brought back.
func TestMarks(t *testing.T) {
	s, _ := open(t)
	lore(t, s)
	w, door := storetest.Writer(s), tombstone.NewDoor(s)
	m, f, err := tombstone.PlanMark(s, "n1", slices.Collect(s.Walk()))
	if err != nil || !slices.Equal(m.Paths, f.Notes) || m.Scope != note.Portable || !m.Until.Equal(m.At.Add(tombstone.Grace)) {
		t.Fatalf("%+v %+v %v", m, f, err)
	}
	n, _, _, err := s.Read("memory/semantic/n1.md")
	if err != nil {
		t.Fatal(err)
	}
	twin := *n
	twin.ID = "twin"
	other, _, _, err := s.Read("memory/semantic/n2.md")
	if err != nil {
		t.Fatal(err)
	}
	marked := func(n *note.Note) bool { _, ok := door.Forgotten(note.Portable, n); return ok }
	refused := func() bool {
		stones, err := tombstone.Refusing(s, note.Local)
		if err != nil {
			t.Fatal(err)
		}
		_, ok := tombstone.Match(stones, &twin)
		return ok
	}
	if marked(n) || refused() {
		t.Fatal("it is forgotten before it is marked")
	}
	for range 2 { // a second mark takes the place of the first one
		if err := tombstone.AddMark(w, m); err != nil {
			t.Fatal(err)
		}
	}
	if all, err := tombstone.Marks(s); err != nil || len(all) != 1 {
		t.Fatalf("%+v %v", all, err)
	}
	if !marked(n) || !marked(&twin) || marked(other) || !refused() {
		t.Error("the mark does not know what is forgotten")
	}
	if stones, err := tombstone.For(s, note.Local); err != nil || len(stones) != 0 {
		t.Errorf("a mark is a tombstone before its time: %+v %v", stones, err)
	}
	for now, over := range map[time.Duration]bool{0: false, tombstone.Grace - 1: false, tombstone.Grace: true, -time.Hour: true} {
		if m.Over(m.At.Add(now)) != over {
			t.Errorf("after %v: over is %v", now, !over)
		}
	}
	if dropped, err := tombstone.DropMarks(w, "n2", "n1"); err != nil || len(dropped) != 1 || marked(n) || refused() {
		t.Errorf("brought back: %+v %v", dropped, err)
	}
	if _, err := s.ReadFile("forgetting.json", 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file is left: %v", err)
	}
}

func TestForget(t *testing.T) {
	s, _ := open(t)
	lore(t, s)
	_, plan, err := tombstone.PlanMark(s, "n1", slices.Collect(s.Walk()))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"memory/episodic/copy.md", "memory/semantic/n1.md", "local/semantic/here.md"}
	if !slices.Equal(plan.Notes, want) || plan.History != 2 || plan.Sidecars != 1 || len(plan.Held) != 1 || len(plan.Conflicts) != 1 ||
		plan.Tombstone != "memory/tombstones/n1.json" {
		t.Fatalf("%+v", plan)
	}
	if !holds(t, s, "swordfish") || read(t, s, plan.Tombstone) != nil {
		t.Fatal("the plan was carried out")
	}
	done, err := tombstone.Forget(storetest.Writer(s), "n1")
	if err != nil || !slices.Equal(done.Notes, want) {
		t.Fatalf("%+v %v", done, err)
	}
	if holds(t, s, "swordfish") || holds(t, s, "SWORDFISH") {
		t.Errorf("left: %v", files(t, s))
	}
	if revs, _ := s.History("n2"); len(revs) != 1 {
		t.Error("the history of another note is gone")
	}
	if all, _ := s.Conflicts().List(); len(all) != 1 || all[0].NoteID != "n2" {
		t.Errorf("conflicts %+v", all)
	}
	if erased, err := tombstone.Apply(storetest.Writer(s)); err != nil || len(erased) != 0 {
		t.Errorf("%v %v", erased, err)
	}
	if _, err := tombstone.Forget(storetest.Writer(s), "n9"); err == nil {
		t.Error("forgot what is not there")
	}
}

// A note that is deleted is still in the history, and can be forgotten there.
func TestForgetDeleted(t *testing.T) {
	s, _ := open(t)
	write(t, s.Path("history/n1/01K2M3N4P5Q6R7S8T9V0W1X2Y3-delete.md"), string(noteBytes("n1", "swordfish")))
	if f, err := tombstone.Forget(storetest.Writer(s), "n1"); err != nil || f.History != 1 || f.Tombstone != "memory/tombstones/n1.json" {
		t.Fatalf("%+v %v", f, err)
	}
	if holds(t, s, "swordfish") {
		t.Errorf("left: %v", files(t, s))
	}
}

// Whatever step fails: once there is a tombstone, Obey ends what Forget began.
func TestForgetCrash(t *testing.T) {
	prepare := func() string {
		root := t.TempDir()
		lore(t, on(t, root, nil))
		return root
	}
	d := newCrashDisk(0)
	s := on(t, prepare(), d)
	opened := d.Steps()
	if _, err := tombstone.Forget(storetest.Writer(s), "n1"); err != nil {
		t.Fatal(err)
	}
	total := d.Steps() - opened
	for stop := 1; stop <= total; stop++ {
		root := prepare()
		if _, err := tombstone.Forget(storetest.Writer(on(t, root, newCrashDisk(opened+stop))), "n1"); !errors.Is(err, errCrash) {
			t.Fatalf("step %d: %v", stop, err)
		}
		s := on(t, root, nil)
		if read(t, s, "memory/tombstones/n1.json") == nil {
			if read(t, s, "memory/semantic/n1.md") == nil {
				t.Errorf("step %d: erased before there is a tombstone", stop)
			}
			continue
		}
		if _, err := tombstone.Apply(storetest.Writer(s)); err != nil {
			t.Fatalf("step %d: %v", stop, err)
		}
		if holds(t, s, "swordfish") || holds(t, s, "SWORDFISH") {
			t.Errorf("step %d: left %v", stop, files(t, s))
		}
	}
}

// A tombstone arrives from another machine.
func TestObey(t *testing.T) {
	s, _ := open(t)
	lore(t, s)
	other, _ := open(t)
	secret := "t\nthe password of the staging host is swordfish and Ada knows it"
	arrived := stone(t, other, "n1", secret)
	write(t, s.Path("memory/semantic/near.md"), string(noteBytes("near", "the password of the staging host is swordfish, which Ada knows")))
	evil := `{"v":1,"id":"../../memory","at":"2026-05-01T00:00:00Z","salt":"","hmac":"","simhash":"","tokens":0}`
	if _, err := ingest.NewIncoming(s).Apply([]ingest.RemoteChange{
		{Path: "tombstones/n1.json", New: []byte(arrived)}, {Path: "tombstones/evil.json", New: []byte(evil)},
	}); err != nil {
		t.Fatal(err)
	}
	erased, err := tombstone.Apply(storetest.Writer(s))
	want := []string{"memory/episodic/copy.md", "memory/semantic/n1.md", "local/semantic/here.md"}
	if err != nil || !slices.Equal(erased, want) {
		t.Fatalf("%v %v", erased, err)
	}
	if revs, _ := s.History("copy"); len(revs) != 0 || read(t, s, "spool/held/held.md") != nil || read(t, s, "memory/semantic/n1.entities.yaml") != nil {
		t.Errorf("left: %v", files(t, s))
	}
	if read(t, s, "memory/semantic/near.md") == nil || read(t, s, "memory/semantic/n2.md") == nil {
		t.Error("another note is gone")
	}
	// What came by the id of a forgotten note but says something else was meant by somebody.
	write(t, s.Path("memory/semantic/n3.md"), string(noteBytes("n3", "changed since")))
	stone(t, s, "n3", "t\nbefore")
	if erased, err = tombstone.Apply(storetest.Writer(s)); err != nil || !slices.Equal(erased, []string{"memory/semantic/n3.md"}) {
		t.Fatalf("%v %v", erased, err)
	}
	all, _ := s.Conflicts().List()
	if len(all) != 2 || all[1].Why != store.WhyForgotten || all[1].NoteID != "n3" {
		t.Errorf("conflicts %+v", all)
	}
	if erased, err = tombstone.Apply(storetest.Writer(s)); err != nil || erased != nil {
		t.Errorf("obeyed twice: %v %v", erased, err)
	}
}

// A note that was forgotten here comes back with a file that only they have: it
// does not stand there again, and leaves nothing in the history.
func TestMergeOfWhatWasForgotten(t *testing.T) {
	s, _ := open(t)
	secret := "the password of the staging host is swordfish and Ada knows it"
	write(t, s.Path("memory/semantic/n1.md"), string(noteBytes("n1", secret)))
	if _, err := tombstone.Forget(storetest.Writer(s), "n1"); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, path   string
		data         []byte
		stays, loses bool
	}{
		{"itself", "semantic/n1.md", noteBytes("n1", secret), false, false},
		{"elsewhere", "episodic/n1.md", noteBytes("n1", secret), false, false},
		{"written again on purpose", "semantic/n2.md", noteBytes("n2", secret), true, false},
		{"changed without knowing", "semantic/n1.md", noteBytes("n1", "something else by now"), false, true},
		{"another", "semantic/n3.md", noteBytes("n3", "something else"), true, false},
		{"its sidecar", "semantic/n1.entities.yaml", []byte("entities: []\n"), false, false},
	} {
		merge, err := ingest.NewIncoming(s).Merger(storetest.Tree{FS: os.DirFS(t.TempDir())})
		if err != nil {
			t.Fatal(err)
		}
		merged, other, err := merge(tt.path, nil, nil, tt.data)
		if err != nil || (merged != nil) != tt.stays || (other != nil) != tt.loses {
			t.Errorf("%s: %q %q %v", tt.name, merged, other, err)
		}
	}

	// Whoever brought it back has lifted the tombstone, and that is the later decision.
	theirs := t.TempDir()
	write(t, filepath.Join(theirs, "tombstones", "n1.json"), `{"v":2,"id":"n1","at":"2100-01-01T00:00:00Z"}`)
	merge, err := ingest.NewIncoming(s).Merger(storetest.Tree{FS: os.DirFS(theirs)})
	if err != nil {
		t.Fatal(err)
	}
	data := noteBytes("n1", "something else by now")
	if merged, other, err := merge("semantic/n1.md", nil, nil, data); string(merged) != string(data) || other != nil || err != nil {
		t.Errorf("lifted: %q %q %v", merged, other, err)
	}

	write(t, s.Path("memory/semantic/n1.md"), string(noteBytes("n1", secret)))
	if late, err := ingest.NewIncoming(s).Apply([]ingest.RemoteChange{{Path: "semantic/n1.md", Old: noteBytes("n1", secret)}}); len(late) > 0 || err != nil {
		t.Fatal(late, err)
	}
	if revs, _ := s.History("n1"); len(revs) > 0 {
		t.Errorf("what was forgotten is in the history again: %+v", revs)
	}
}
