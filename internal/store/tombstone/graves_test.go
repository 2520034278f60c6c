package tombstone_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"testing"

	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
	"anamnesis/internal/store/storetest"
	"anamnesis/internal/store/tombstone"
)

// Each tree has its own word: what is forgotten or lifted for this machine says
// nothing about what travels.
func TestTombstonesOfTrees(t *testing.T) {
	for _, c := range []struct {
		name            string
		buried          note.Scope
		lifted          note.Scope // "" for not at all
		portable, local bool       // recognised
	}{
		{"forgotten everywhere", note.Portable, "", true, true},
		{"forgotten here", note.Local, "", false, true},
		{"forgotten everywhere, written again here", note.Portable, note.Local, true, false},
		{"forgotten everywhere, written again", note.Portable, note.Portable, false, false},
		{"forgotten here, written again here", note.Local, note.Local, false, false},
		{"forgotten here, and written portably", note.Local, note.Portable, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := at(t, 10)
			if err := tombstone.Write(storetest.Writer(s), c.buried, tombstone.New("old", "t\n"+fridays, s.Now().AddDate(0, 0, -1))); err != nil {
				t.Fatal(err)
			}
			n := draft("new")
			n.Body = fridays
			if c.lifted != "" {
				n.Scope = c.lifted
				if _, err := tombstone.Revoke(storetest.Writer(s), n); err != nil {
					t.Fatal(err)
				}
			}
			for scope, want := range map[note.Scope]bool{note.Portable: c.portable, note.Local: c.local} {
				stones, err := tombstone.For(s, scope)
				if err != nil {
					t.Fatal(err)
				}
				knows := func(t tombstone.Tombstone) bool { return t.Recognises(note.FingerprintOf(n.Statement())) }
				if got := slices.ContainsFunc(stones, knows); got != want {
					t.Errorf("a %s note is recognised: %v", scope, got)
				}
				back := draft("back")
				back.Body, back.Scope = fridays, scope
				if _, _, err := ingest.New(s, nil, nil, ingest.Options{}).Reinstate(context.Background(), "back", back.Format()); errors.Is(err, ingest.ErrForgotten) != want {
					t.Errorf("a %s note is restored: %v", scope, err)
				}
				for _, path := range []string{"memory/semantic/back.md", "local/semantic/back.md"} {
					remove(t, s, path)
				}
			}
			write(t, s.Path("memory/semantic/a.md"), string(noteBytes("a", fridays)))
			b := draft("b")
			b.Body, b.Scope = fridays, note.Local
			write(t, s.Path("local/semantic/b.md"), string(b.Format()))
			if _, err := tombstone.Apply(storetest.Writer(s)); err != nil {
				t.Fatal(err)
			}
			if gone := read(t, s, "memory/semantic/a.md") == nil; gone != c.portable {
				t.Errorf("the portable note is gone: %v", gone)
			}
			if gone := read(t, s, "local/semantic/b.md") == nil; gone != c.local {
				t.Errorf("the machine-local note is gone: %v", gone)
			}
		})
	}
}

// A tombstone of this machine leaves the history of a portable note of its id.
func TestLocalTombstoneLeavesPortableHistory(t *testing.T) {
	s := at(t, 10)
	write(t, s.Path("memory/semantic/n1.md"), string(noteBytes("n1", "now")))
	write(t, s.Path("history/n1/01K2M3N4P5Q6R7S8T9V0W1X2Y3-update.md"), string(noteBytes("n1", "before")))
	if err := tombstone.Write(storetest.Writer(s), note.Local, tombstone.New("n1", "t\nonce here", s.Now())); err != nil {
		t.Fatal(err)
	}
	if erased, err := tombstone.Apply(storetest.Writer(s)); err != nil || len(erased) > 0 {
		t.Errorf("erased %v %v", erased, err)
	}
	if revs, _ := s.History("n1"); len(revs) != 1 || read(t, s, "memory/semantic/n1.md") == nil {
		t.Error("it took what travels")
	}
}

// A file that is broken is replaced, and what stood there is kept.
func TestReinstateOverABrokenFile(t *testing.T) {
	for name, text := range map[string]string{"empty": "", "no note": "no front matter\n", "half of one": "---\nid: n1\ntype: sem"} {
		t.Run(name, func(t *testing.T) {
			s := at(t, 10)
			write(t, s.Path("memory/semantic/n1.md"), text)
			ref, changed, err := ingest.New(s, nil, nil, ingest.Options{}).Reinstate(context.Background(), "n1", noteBytes("n1", "one"))
			if err != nil || !changed || ref.Path != "memory/semantic/n1.md" || ref.Size == 0 {
				t.Fatalf("%+v %v %v", ref, changed, err)
			}
			if n, _, _, err := s.Read(ref.Path); err != nil || n.Body != "one" {
				t.Errorf("%+v %v", n, err)
			}
			revs, err := s.History("n1")
			if err != nil || len(revs) != 1 || revs[0].Reason != store.Restored {
				t.Fatalf("%+v %v", revs, err)
			}
			if got := string(read(t, s, revs[0].Path)); got != text {
				t.Errorf("kept %q", got)
			}
		})
	}
}

func remove(t *testing.T, s *store.Store, path string) {
	t.Helper()
	if err := os.Remove(s.Path(path)); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
}
