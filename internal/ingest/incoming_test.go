package ingest_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

func TestAdopt(t *testing.T) {
	s, _ := open(t)
	old, changed, gone := noteBytes("n1", "old"), noteBytes("n1", "new"), noteBytes("n2", "gone")
	write(t, s.Path("memory/semantic/n1.md"), string(old))
	write(t, s.Path("memory/semantic/n2.md"), string(gone))
	write(t, s.Path("memory/tombstones/n9.json"), "{}\n")
	changes := []ingest.RemoteChange{
		{Path: "semantic/n1.md", Old: old, New: changed},
		{Path: "semantic/n2.md", Old: gone},
		{Path: "semantic/2026/11/n3.md", New: noteBytes("n3", "x")},
		{Path: "projects.yaml", New: []byte("aliases:\n")},
		{Path: "tombstones/n9.json", Old: []byte("{}\n")},
	}
	paths, err := ingest.NewIncoming(s).Apply(changes)
	if err != nil || len(paths) > 0 {
		t.Fatalf("%v %v", paths, err)
	}
	if read(t, s, "memory/semantic/2026/11/n3.md") == nil || read(t, s, "memory/projects.yaml") == nil {
		t.Error("new files are not there")
	}
	if string(read(t, s, "memory/semantic/n1.md")) != string(changed) || read(t, s, "memory/semantic/n2.md") != nil {
		t.Error("the files are not what they were to become")
	}
	if read(t, s, "memory/tombstones/n9.json") == nil {
		t.Error("a tombstone was deleted")
	}
	for id, want := range map[note.ID]string{"n1": store.Merged, "n2": store.Deleted} {
		revs, err := s.History(id)
		if err != nil || len(revs) != 1 || revs[0].Reason != want {
			t.Errorf("history of %s: %v %v", id, revs, err)
		}
	}
	if paths, err = ingest.NewIncoming(s).Apply(changes); err != nil || len(paths) != 0 {
		t.Errorf("a second time: %v %v", paths, err)
	}
	for _, id := range []note.ID{"n1", "n2"} {
		if revs, _ := s.History(id); len(revs) != 1 {
			t.Errorf("a second time: history of %s %v", id, revs)
		}
	}
	changes[0].New = []byte("third")
	paths, err = ingest.NewIncoming(s).Apply(append(changes[:1:1], ingest.RemoteChange{Path: "semantic/n4.md", New: old}))
	if err != nil || !slices.Equal(paths, []string{"semantic/n1.md"}) {
		t.Errorf("a file that changed: %v %v", paths, err)
	}
	if string(read(t, s, "memory/semantic/n1.md")) != string(changed) || read(t, s, "memory/semantic/n4.md") == nil {
		t.Error("the change of one file was not refused, or that of the other")
	}
}

func TestAdoptRefuses(t *testing.T) {
	s, home := open(t)
	for _, path := range []string{
		"", "/etc/passwd", "../local/semantic/n.md", "semantic/../../x.md", "semantic//n.md", "semantic/.git/n.md", ".git/config", "semantic/n.txt",
		"n.md", "local/n.md", "tombstones/a/b.json", "semantic/a\\b.md", "semantic/a\nb.md", "semantic/\xff.md", ".gitattributes/x", "semantic",
	} {
		if _, err := ingest.NewIncoming(s).Apply([]ingest.RemoteChange{{Path: path, New: noteBytes("n", "x")}}); err == nil {
			t.Errorf("adopted %q", path)
		}
	}
	one := ingest.RemoteChange{Path: "semantic/n.md", New: noteBytes("n", "x")}
	if _, err := ingest.NewIncoming(s).Apply([]ingest.RemoteChange{one, one}); err == nil {
		t.Error("adopted one path twice")
	}
	if err := os.MkdirAll(filepath.Join(home, "elsewhere"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(home, "elsewhere"), s.Path("memory/semantic")); err != nil {
		t.Skip("no symbolic links here")
	}
	if _, err := ingest.NewIncoming(s).Apply([]ingest.RemoteChange{one}); !errors.Is(err, store.ErrNotRegular) {
		t.Errorf("wrote through a link: %v", err)
	}
	write(t, s.Path("memory/procedural/real.md"), "x")
	if err := os.Symlink(s.Path("memory/procedural/real.md"), s.Path("memory/procedural/link.md")); err != nil {
		t.Fatal(err)
	}
	if _, err := ingest.NewIncoming(s).Apply([]ingest.RemoteChange{{Path: "procedural/link.md", Old: []byte("x"), New: one.New}}); !errors.Is(err, store.ErrNotRegular) {
		t.Errorf("replaced a link: %v", err)
	}
	if left, _ := os.ReadDir(filepath.Join(home, "elsewhere")); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

// Whatever step fails, each file is whole, what is replaced is in the history,
// and a second run brings everything to its end.
func TestAdoptCrash(t *testing.T) {
	var changes []ingest.RemoteChange
	for i := range 3 {
		id := note.ID(fmt.Sprintf("n%d", i))
		changes = append(changes, ingest.RemoteChange{Path: "semantic/" + string(id) + ".md", Old: noteBytes(id, "old"), New: noteBytes(id, "new")})
	}
	changes = append(changes, ingest.RemoteChange{Path: "semantic/gone.md", Old: noteBytes("gone", "old")}, ingest.RemoteChange{Path: "episodic/a/b.md", New: noteBytes("b", "new")})
	prepare := func() string {
		root := t.TempDir()
		s := on(t, root, nil)
		for _, c := range changes {
			if c.Old != nil {
				write(t, s.Path("memory/"+c.Path), string(c.Old))
			}
		}
		return root
	}
	d := newCrashDisk(0)
	s := on(t, prepare(), d)
	opened := d.Steps()
	if _, err := ingest.NewIncoming(s).Apply(changes); err != nil {
		t.Fatal(err)
	}
	total := d.Steps() - opened
	for stop := 1; stop <= total; stop++ {
		root := prepare()
		_, err := ingest.NewIncoming(on(t, root, newCrashDisk(opened+stop))).Apply(changes)
		done := err == nil // the last steps are the ledger's, which the next writer mends
		if !done && !errors.Is(err, errCrash) {
			t.Fatalf("step %d: %v", stop, err)
		}
		s := on(t, root, nil)
		for _, c := range changes {
			now := read(t, s, "memory/"+c.Path)
			switch string(now) {
			case string(c.Old):
				if done {
					t.Errorf("step %d: %s was not replaced, and there was no error", stop, c.Path)
				}
			case string(c.New):
				if revs, _ := s.History(note.ID(strings.TrimSuffix(filepath.Base(c.Path), ".md"))); c.Old != nil && len(revs) != 1 {
					t.Errorf("step %d: %s was replaced and is in no history", stop, c.Path)
				}
			default:
				t.Errorf("step %d: %s is neither old nor new: %q", stop, c.Path, now)
			}
		}
		again := slices.Clone(changes)
		for i := range again {
			again[i].Old = read(t, s, "memory/"+again[i].Path)
		}
		if _, err := ingest.NewIncoming(s).Apply(again); err != nil {
			t.Fatalf("step %d, again: %v", stop, err)
		}
		for _, c := range changes {
			if string(read(t, s, "memory/"+c.Path)) != string(c.New) {
				t.Errorf("step %d: %s did not come to its end", stop, c.Path)
			}
			if revs, _ := s.History(stem(c.Path)); len(revs) > 1 {
				t.Errorf("step %d: history of %s twice: %v", stop, c.Path, revs)
			}
		}
	}
}

func stem(path string) note.ID { return note.ID(strings.TrimSuffix(filepath.Base(path), ".md")) }

func BenchmarkAdopt(b *testing.B) {
	s, err := store.Open(store.Options{Root: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	changes := make([]ingest.RemoteChange, 1000)
	for i := range changes {
		changes[i].Path = fmt.Sprintf("semantic/n%d.md", i)
	}
	round := 0
	for b.Loop() {
		for i := range changes {
			c := &changes[i]
			c.Old, c.New = c.New, noteBytes(note.ID(fmt.Sprintf("n%d", i)), fmt.Sprint("round ", round, strings.Repeat(" word", 100)))
		}
		round++
		if _, err := ingest.NewIncoming(s).Apply(changes); err != nil {
			b.Fatal(err)
		}
	}
}

// Whatever name another machine sends, nothing is written outside of memory/.
func FuzzAdoptPath(f *testing.F) {
	for _, p := range []string{"semantic/n.md", "../x", "semantic/../../../etc/x.md", "slots/a", "tombstones/x.json", "semantic/./n.md", "projects.yaml"} {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, path string) {
		root := t.TempDir()
		s, err := store.Open(store.Options{Root: filepath.Join(root, "store")})
		if err != nil {
			t.Fatal(err)
		}
		if len(path) > 200 {
			return
		}
		_, err = ingest.NewIncoming(s).Apply([]ingest.RemoteChange{{Path: path, New: []byte("mark")}})
		var found []string
		if werr := walkFiles(os.DirFS(root), func(name string) { found = append(found, name) }); werr != nil {
			t.Fatal(werr)
		}
		for _, name := range found {
			if !strings.HasPrefix(name, "store/memory/") || strings.Contains(name, "/.git/") || err != nil {
				t.Errorf("%q wrote %s, %v", path, name, err)
			}
		}
	})
}

// What a merge makes of a form that is not the user's word is none either, whatever hash it has.
func TestMergedClaims(t *testing.T) {
	const path = "semantic/n1.md"
	form := func(words, hashed string) []byte {
		n, err := note.Parse(noteBytes("n1", hashed))
		if err != nil {
			t.Fatal(err)
		}
		note.Vouch(n)
		sum := n.Vouched
		if n, err = note.Parse(noteBytes("n1", words)); err != nil {
			t.Fatal(err)
		}
		n.Vouched = sum
		return n.Format()
	}
	for _, c := range []struct {
		name         string
		here, theirs []byte
		merged       []byte // nil: it is theirs
		known        bool   // the ledger has the form here
		want         bool   // the note is the user's word afterwards
	}{
		{"new", nil, form("b", "b"), nil, false, true},
		{"both vouched for", form("a", "a"), form("b", "b"), form("ab", "ab"), true, true},
		{"forged here", form("a", "a"), form("b", "b"), form("ab", "ab"), false, false},
		{"forged here, and their words stay", form("a", "a"), form("b", "b"), form("b", "b"), false, true},
		{"edited there, and a hash made for what the merge says", form("a", "a"), form("b", "ab"), form("ab", "ab"), true, false},
		{"edited here, and a hash made for what the merge says", form("a", "ab"), form("b", "b"), form("ab", "ab"), false, false},
		{"edited on both sides, and such a hash", form("a", "ab"), form("b", "ab"), form("ab", "ab"), false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, _ := open(t)
			if c.known {
				if _, err := ingest.NewIncoming(s).Apply([]ingest.RemoteChange{{Path: path, New: c.here}}); err != nil {
					t.Fatal(err)
				}
			} else if c.here != nil {
				write(t, s.Path("memory/"+path), string(c.here))
			}
			ch := ingest.RemoteChange{Path: path, Old: c.here, New: c.theirs, Theirs: c.theirs}
			if c.merged != nil {
				ch.New, ch.Merged = c.merged, string(c.merged) != string(c.theirs)
			}
			if late, err := ingest.NewIncoming(s).Apply([]ingest.RemoteChange{ch}); err != nil || len(late) > 0 {
				t.Fatalf("%v %v", late, err)
			}
			n, _, _, err := s.Read("memory/" + path)
			if err != nil || n.Trusted != c.want {
				t.Errorf("trusted %v %v", n != nil && n.Trusted, err)
			}
		})
	}
}
