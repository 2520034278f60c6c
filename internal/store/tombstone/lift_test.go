package tombstone_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
	"anamnesis/internal/store/storetest"
	"anamnesis/internal/store/tombstone"
)

const fridays = "never deploy on friday because the engineer on call is alone over the weekend and nobody answers"

// again writes a note that its owner wants in spite of a tombstone.
func again(t *testing.T, s *store.Store, n *note.Note) []string {
	t.Helper()
	paths, err := tombstone.Revoke(storetest.Writer(s), n)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := storetest.Put(s, n, store.Ref{}, store.Update); err != nil {
		t.Fatal(err)
	}
	return paths
}

func recognised(t *testing.T, s *store.Store, statement string) bool {
	t.Helper()
	stones, err := tombstone.For(s, note.Local)
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(stones, func(t tombstone.Tombstone) bool { return t.Recognises(note.FingerprintOf(statement)) })
}

func TestLift(t *testing.T) {
	s := at(t, 10)
	stone(t, s, "old", "t\n"+fridays)
	n := draft("new")
	n.Body = fridays
	if other := draft("other"); len(again(t, s, other)) != 0 {
		t.Error("what nobody forgot lifts something")
	}
	want := []string{"memory/tombstones/new.json", "memory/tombstones/old.json"}
	if paths := again(t, s, n); !slices.Equal(paths, want) {
		t.Errorf("changed %v", paths)
	}
	if recognised(t, s, n.Statement()) {
		t.Error("it is forgotten still")
	}
	if erased, err := tombstone.Apply(storetest.Writer(s)); err != nil || len(erased) > 0 {
		t.Errorf("erased %v %v", erased, err)
	}
	for _, path := range want {
		if text := string(read(t, s, path)); !strings.Contains(text, `"v":2`) || strings.Contains(text, "friday") {
			t.Errorf("%s: %s", path, text)
		}
	}
	// To forget it again is the later decision, also within the same second.
	if _, err := tombstone.Forget(storetest.Writer(s), "new"); err != nil {
		t.Fatal(err)
	}
	if !recognised(t, s, n.Statement()) || read(t, s, "memory/semantic/new.md") != nil {
		t.Error("it cannot be forgotten again")
	}
	// So it is when a copy of it is what was forgotten.
	again(t, s, n)
	n.ID = "copy"
	again(t, s, n)
	if _, err := tombstone.Forget(storetest.Writer(s), "copy"); err != nil {
		t.Fatal(err)
	}
	if !recognised(t, s, n.Statement()) || read(t, s, "memory/semantic/new.md") != nil {
		t.Error("the copy cannot be forgotten")
	}
}

// What nearly says the forgotten is written; the forgotten stays so.
func TestLiftNearCopy(t *testing.T) {
	s := at(t, 10)
	n := draft("new")
	n.Body = strings.Replace(fridays, "and nobody", "where nobody", 1)
	// Which copies are near depends on the salt.
	near := tombstone.Tombstone{}
	for range 100_000 {
		if near = tombstone.New("old", "t\n"+fridays, s.Now().Add(-time.Hour)); near.Recognises(note.FingerprintOf(n.Statement())) {
			break
		}
	}
	if err := tombstone.Write(storetest.Writer(s), note.Portable, near); err != nil || !recognised(t, s, n.Statement()) {
		t.Fatal("no salt makes it a near-copy", err)
	}
	if paths := again(t, s, n); !slices.Equal(paths, []string{"memory/tombstones/new.json"}) {
		t.Errorf("changed %v", paths)
	}
	if recognised(t, s, n.Statement()) || !recognised(t, s, "t\n"+fridays) {
		t.Error("not the one was lifted that was written")
	}
}

func TestLiftLocal(t *testing.T) {
	s := at(t, 10)
	before := stone(t, s, "old", "t\n"+fridays)
	n := draft("new")
	n.Body, n.Scope = fridays, note.Local
	if paths := again(t, s, n); !slices.Equal(paths, []string{"local/tombstones/new.json"}) {
		t.Errorf("changed %v", paths)
	}
	if recognised(t, s, n.Statement()) {
		t.Error("it is forgotten here")
	}
	if string(read(t, s, "memory/tombstones/old.json")) != before {
		t.Error("a note of this machine changed what travels")
	}
}

// A machine forgot the statement under another id before it was written again on
// purpose. Whatever arrives first, the later decision holds on both.
func TestLiftTravels(t *testing.T) {
	n := draft("new")
	n.Body = fridays
	for _, c := range []struct {
		name   string
		other  string // when the other machine forgot it
		erased bool
	}{
		{"forgotten there before", "2026-06-09T12:00:00Z", false},
		{"forgotten there at the same time", "2026-06-10T12:00:00Z", false},
		{"forgotten there since", "2026-06-11T12:00:00Z", true},
	} {
		when, _ := time.Parse(time.RFC3339, c.other)
		for _, toThem := range []bool{true, false} {
			ours, theirs := at(t, 10), at(t, 12)
			stone(t, ours, "mine", n.Statement())
			again(t, ours, n)
			if err := tombstone.Write(storetest.Writer(theirs), note.Portable, tombstone.New("theirs", n.Statement(), when)); err != nil {
				t.Fatal(err)
			}
			if _, err := tombstone.Apply(storetest.Writer(theirs)); err != nil {
				t.Fatal(err)
			}
			from, to := theirs, ours
			if toThem {
				from, to = ours, theirs
			}
			merge, err := ingest.NewIncoming(to).Merger(storetest.Tree{FS: os.DirFS(from.Path("memory"))})
			if err != nil {
				t.Fatal(err)
			}
			var changes []ingest.RemoteChange
			err = walkFiles(os.DirFS(from.Path("memory")), func(name string) {
				old := read(t, to, "memory/"+name)
				now, _, err := merge(name, nil, old, read(t, from, "memory/"+name))
				if err != nil {
					t.Fatal(err)
				}
				changes = append(changes, ingest.RemoteChange{Path: name, Old: old, New: now})
			})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := ingest.NewIncoming(to).Apply(changes); err != nil {
				t.Fatal(err)
			}
			if _, err := tombstone.Apply(storetest.Writer(to)); err != nil {
				t.Fatal(err)
			}
			stands := read(t, to, "memory/semantic/new.md") != nil
			if !toThem && stands == c.erased {
				t.Errorf("%s, arriving here: the note stands: %v", c.name, stands)
			}
			// Where it arrives written again on purpose, it stands until its own machine erases it.
			if toThem && !c.erased && !stands {
				t.Errorf("%s, arriving there: the note is gone", c.name)
			}
			if got := recognised(t, to, n.Statement()); got != c.erased {
				t.Errorf("%s, to them %v: recognised %v", c.name, toThem, got)
			}
		}
	}
}

// Files of lifts come from elsewhere, too.
func TestLiftHostile(t *testing.T) {
	s := at(t, 10)
	stone(t, s, "old", "t\n"+fridays)
	for name, text := range map[string]string{
		"a": `{"v":2,"id":"a","at":"2099-01-01T00:00:00Z","salt":"","hmac":"","tokens":18}`,
		"b": `{"v":2,"id":"b","at":"2099-01-01T00:00:00Z","salt":"zz","hmac":"00","tokens":18}`,
		"c": `{"v":2,"id":"c","at":"yesterday","salt":"00","hmac":"00","tokens":-1}`,
		"d": `{"v":3,"id":"d","at":"2099-01-01T00:00:00Z"}`,
		"e": `[]`,
	} {
		write(t, s.Path("memory/tombstones/"+name+".json"), text)
	}
	if !recognised(t, s, "t\n"+fridays) {
		t.Error("lifted by a file that knows nothing")
	}
	if _, err := ingest.NewIncoming(s).Merger(storetest.Tree{FS: fstest.MapFS{"tombstones/e.json": {Data: []byte("[]")}}}); err != nil {
		t.Error(err)
	}
}
