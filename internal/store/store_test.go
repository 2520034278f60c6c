package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"anamnesis/internal/note"
	"anamnesis/internal/store"
	"anamnesis/internal/store/storetest"
	"anamnesis/internal/store/tombstone"

	"pgregory.net/rapid"
)

func TestPut(t *testing.T) {
	s, _ := open(t)
	n := draft("n1")
	ref, changed, err := storetest.Put(s, n, store.Ref{}, store.Update)
	if err != nil || !changed || ref.Path != "memory/semantic/n1.md" {
		t.Fatalf("%+v %v %v", ref, changed, err)
	}
	if fi, _ := os.Stat(s.Path(ref.Path)); fi.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", fi.Mode())
	}
	if _, changed, err = storetest.Put(s, n, ref, store.Update); changed || err != nil {
		t.Errorf("the same note again: changed %v, %v", changed, err)
	}
	if _, _, err := storetest.Put(s, draft("n1"), store.Ref{}, store.Update); err == nil {
		t.Error("a new note took the place of another")
	}
	first, _ := os.ReadFile(s.Path(ref.Path))
	write(t, s.Path("memory/semantic/n1.entities.yaml"), "entities: []\n")
	n.Body = "changed"
	n.Type = note.Procedural
	moved, changed, err := storetest.Put(s, n, ref, store.Update)
	if err != nil || !changed || moved.Path != "memory/procedural/n1.md" {
		t.Fatalf("%+v %v %v", moved, changed, err)
	}
	if _, err := os.Stat(s.Path(ref.Path)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the former place is still there: %v", err)
	}
	if _, err := os.Stat(s.Path("memory/procedural/n1.entities.yaml")); err != nil {
		t.Errorf("the sidecar did not come along: %v", err)
	}
	revs, err := s.History("n1")
	if err != nil || len(revs) != 1 || revs[0].Reason != store.Update {
		t.Fatalf("history %+v %v", revs, err)
	}
	if kept, _ := os.ReadFile(s.Path(revs[0].Path)); string(kept) != string(first) {
		t.Errorf("history holds %q, want %q", kept, first)
	}
	n.Body = "changed again"
	if _, _, err := storetest.Put(s, n, moved, store.Restored); err != nil {
		t.Fatal(err)
	}
	if revs, err := s.History("n1"); err != nil || len(revs) != 2 || revs[0].Reason != store.Restored || revs[1].Reason != store.Update {
		t.Errorf("history %+v %v, want the newest first", revs, err)
	}
}

// A note somebody moved by hand stays where they put it.
func TestPutKeepsPlace(t *testing.T) {
	s, _ := open(t)
	write(t, s.Path("memory/semantic/2026-01/n1.md"), string(draft("n1").Format()))
	ref, err := s.Find("n1")
	if err != nil || ref.Path != "memory/semantic/2026-01/n1.md" {
		t.Fatalf("%+v %v", ref, err)
	}
	n := draft("n1")
	n.Tags = []string{"x"}
	if ref, _, err = storetest.Put(s, n, ref, store.Update); err != nil || ref.Path != "memory/semantic/2026-01/n1.md" {
		t.Errorf("%+v %v", ref, err)
	}
}

func TestTreeDecidesScope(t *testing.T) {
	s, _ := open(t)
	write(t, s.Path("local/semantic/n1.md"), string(draft("n1").Format())) // says portable
	n, _, _, err := s.Read("local/semantic/n1.md")
	if err != nil || n.Scope != note.Local {
		t.Errorf("scope %q %v", n.Scope, err)
	}
}

func TestReadRefuses(t *testing.T) {
	s, home := open(t)
	write(t, filepath.Join(home, "secret.md"), string(draft("n1").Format()))
	write(t, s.Path("memory/semantic/big.md"), strings.Repeat("x", store.MaxNoteSize+1))
	if err := os.Symlink(filepath.Join(home, "secret.md"), s.Path("memory/semantic/link.md")); err != nil {
		t.Skip("no symbolic links here")
	}
	if err := os.Symlink(home, s.Path("memory/out")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		"memory/semantic/link.md", "memory/out/secret.md", "../secret.md", "memory/../../secret.md", "/etc/passwd", "memory/semantic/big.md", "memory/semantic",
	} {
		if _, _, _, err := s.Read(path); err == nil {
			t.Errorf("read %s", path)
		}
	}
	for ref := range s.Walk() {
		if ref.Path != "memory/semantic/big.md" {
			t.Errorf("walked into %s", ref.Path)
		}
	}
	if _, links, _ := store.LookUnseen(s); len(links) != 2 {
		t.Errorf("links %v", links)
	}
	n := draft("link")
	if _, _, err := storetest.Put(s, n, store.Ref{}, store.Update); err == nil {
		t.Error("wrote through a symbolic link")
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "file"), "x")
	for _, root := range []string{"", "relative", filepath.Join(dir, "file"), filepath.Join(dir, "file", "below")} {
		if _, err := store.Open(store.Options{Root: root}); err == nil {
			t.Errorf("opened %q", root)
		}
	}
	s, err := store.Open(store.Options{Root: filepath.Join(dir, "new")})
	if err != nil {
		t.Fatal(err)
	}
	if fi, _ := os.Stat(s.Root()); fi.Mode().Perm() != 0o700 {
		t.Errorf("mode %v", fi.Mode())
	}
	if _, err := os.Stat(s.Path("memory/.git")); err == nil {
		t.Error("opening made a repository")
	}
}

func TestLock(t *testing.T) {
	s, _ := open(t)
	unlock, err := s.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	other, err := store.Open(store.Options{Root: s.Root()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if _, err := other.Lock(ctx); !errors.Is(err, store.ErrLocked) {
		t.Errorf("a second holder: %v", err)
	}
	if _, err := s.Lock(ctx); !errors.Is(err, store.ErrLocked) {
		t.Errorf("the same process again: %v", err)
	}
	unlock()
	if unlock, err = other.Lock(t.Context()); err != nil {
		t.Errorf("after it was freed: %v", err)
	} else {
		unlock()
	}
	free, ok, err := s.TryLock("drain")
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	if _, ok, _ := other.TryLock("drain"); ok {
		t.Error("two drains")
	}
	free()
}

func TestLogAndRecords(t *testing.T) {
	now := time.Date(2026, 11, 20, 10, 0, 0, 123e6, time.UTC)
	s, err := store.Open(store.Options{Root: t.TempDir(), Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("é", 5000)
	var many []note.ID
	for i := range 500 {
		many = append(many, note.ID(fmt.Sprintf("%026d", i)))
	}
	for _, r := range []store.Record{{Kind: "a"}, {Kind: "b", Query: long, Text: long, Error: long, Notes: many}, {Kind: "c"}} {
		if err := s.Events().Log(r); err != nil {
			t.Fatal(err)
		}
	}
	name := s.Path("events/2026-11.jsonl")
	data, _ := os.ReadFile(name)
	for line := range strings.Lines(string(data)) {
		if len(line) > 4096 {
			t.Errorf("a line of %d bytes", len(line))
		}
	}
	// A crash tore the last line; garbage and a foreign record stand between.
	write(t, name, string(data)+"not json\n{\"v\":2,\"kind\":\"later\",\"new\":true}\n\n{\"v\":1,\"kind\":\"to")
	kinds := func(from int64) (got []string, next int64) {
		next, err := s.Events().Records("2026-11.jsonl", from, func(r store.Record) { got = append(got, r.Kind) })
		if err != nil {
			t.Fatal(err)
		}
		return got, next
	}
	got, next := kinds(0)
	if want := []string{"a", "b", "c", "later"}; !slices.Equal(got, want) {
		t.Errorf("records %v, want %v", got, want)
	}
	if err := s.Events().Log(store.Record{Kind: "d"}); err != nil { // the torn line spoils only itself
		t.Fatal(err)
	}
	if got, _ := kinds(next); !slices.Equal(got, []string{"d"}) {
		t.Errorf("after the tear: %v", got)
	}
	if got, _ := kinds(1 << 40); len(got) != 5 {
		t.Errorf("a cursor behind the end of a shorter file: %v", got)
	}
}

// Old months are folded and dropped; what they counted is not lost, and not counted twice.
func TestCompact(t *testing.T) {
	now := time.Date(2026, 1, 15, 0, 0, 0, 0, time.UTC)
	s, err := store.Open(store.Options{Root: t.TempDir(), Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	for range 11 {
		for _, kind := range []string{store.Injected, store.Recalled, store.Written} {
			if err := s.Events().Log(store.Record{Kind: kind, Notes: []note.ID{"a"}}); err != nil {
				t.Fatal(err)
			}
		}
		now = now.AddDate(0, 1, 0)
	}
	now = now.AddDate(0, -1, 0) // November
	january, _ := os.ReadFile(s.Path("events/2026-01.jsonl"))
	for range 2 {
		if _, err := s.Events().Compact(); err != nil {
			t.Fatal(err)
		}
		files, _ := s.Events().Files()
		if want := []string{"2026-08.jsonl", "2026-09.jsonl", "2026-10.jsonl", "2026-11.jsonl"}; !slices.Equal(files, want) {
			t.Errorf("left %v, want %v", files, want)
		}
		c, err := s.Events().Checkpoint()
		if err != nil || len(c.Months) != 7 || c.Months["2026-01.jsonl"]["a"].Injected != 1 || c.Months["2026-07.jsonl"]["a"].Recalled != 1 {
			t.Errorf("%+v %v", c, err)
		}
		write(t, s.Path("events/2026-01.jsonl"), string(january)) // a crash kept a month that is in the checkpoint
	}
}

// A damaged checkpoint holds up nothing, and its bytes are kept.
func TestDamagedCheckpoint(t *testing.T) {
	for _, damaged := range []string{"", "\n", "{", "null", "[]", strings.Repeat("\x00", 100)} {
		now := time.Date(2026, 1, 15, 0, 0, 0, 0, time.UTC)
		s, err := store.Open(store.Options{Root: t.TempDir(), Now: func() time.Time { return now }})
		if err != nil {
			t.Fatal(err)
		}
		for range 6 {
			if err := s.Events().Log(store.Record{Kind: store.Injected, Notes: []note.ID{"a"}}); err != nil {
				t.Fatal(err)
			}
			now = now.AddDate(0, 1, 0)
		}
		write(t, s.Path("events/checkpoint.json"), damaged)
		c, err := s.Events().Checkpoint()
		if err != nil || c.Damaged == nil || c.Months == nil {
			t.Errorf("%q: %+v %v", damaged, c, err)
		}
		if n, err := s.Events().Compact(); err != nil || n != 2 {
			t.Errorf("%q: %d %v", damaged, n, err)
		}
		if kept, err := os.ReadFile(s.Path("events/checkpoint.damaged.json")); err != nil || string(kept) != damaged {
			t.Errorf("%q: kept %q", damaged, kept)
		}
		if c, err = s.Events().Checkpoint(); err != nil || c.Damaged != nil || len(c.Months) != 2 {
			t.Errorf("%q: then %+v %v", damaged, c, err)
		}
	}
}

// A clock that jumps ahead makes no month old: this month is written on when it is right again.
func TestClockAhead(t *testing.T) {
	now := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	s, err := store.Open(store.Options{Root: t.TempDir(), Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []time.Time{now.AddDate(0, -1, 0), now, now.AddDate(1, 0, 0), now.AddDate(30, 0, 0), now} {
		real := now
		now = at
		for range 2 {
			if err := s.Events().Log(store.Record{Kind: store.Injected, Notes: []note.ID{"a"}}); err != nil {
				t.Fatal(err)
			}
			if n, err := s.Events().Compact(); err != nil || n > 0 {
				t.Errorf("%s: dropped %d %v", at, n, err)
			}
		}
		now = real
	}
	counts := make(map[note.ID]store.Tally)
	files, _ := s.Events().Files()
	for _, f := range files {
		if _, err := s.Events().Records(f, 0, func(r store.Record) { r.Add(counts) }); err != nil {
			t.Fatal(err)
		}
	}
	if counts["a"].Injected != 10 {
		t.Errorf("%+v", counts)
	}
}

func TestLogConcurrent(t *testing.T) {
	s, _ := open(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if err := s.Events().Log(store.Record{Kind: "x", Text: strings.Repeat("y", 300)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	files, _ := s.Events().Files()
	n := 0
	for _, f := range files {
		if _, err := s.Events().Records(f, 0, func(store.Record) { n++ }); err != nil {
			t.Fatal(err)
		}
	}
	if n != 400 {
		t.Errorf("%d records of 400", n)
	}
}

// What the spool is asked to touch stands in it, and is not reached through a link.
func TestSpool(t *testing.T) {
	s, err := store.Open(store.Options{Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	q := s.Spool()
	if err := q.Write("spool/a.0.json", []byte("{}"), false); err != nil {
		t.Fatal(err)
	}
	write(t, s.Path("config.json"), "{}")
	if err := os.Symlink(t.TempDir(), s.Path("spool/link")); err != nil {
		t.Skip("no links here")
	}
	for _, path := range []string{"config.json", "spool", "spool/../config.json", "/spool/a", "spool/link/a.json", "memory/x.md", ""} {
		if q.Write(path, nil, false) == nil || q.Rename("spool/a.0.json", path) == nil || path != "spool/link/a.json" && q.Rename(path, "spool/b.json") == nil ||
			q.Remove(path) == nil {
			t.Errorf("%q was touched", path)
		}
	}
	if _, err := q.Entries("spool/link"); err == nil {
		t.Error("a link was listed")
	}
	if err := q.Rename("spool/a.0.json", "spool/new/a.1.json"); err != nil || !s.Has("spool/new/a.1.json") {
		t.Errorf("moving: %v", err)
	}
	for range 2 { // the second finds nothing to remove
		if err := q.Remove("spool/new/a.1.json"); err != nil {
			t.Error(err)
		}
	}
}

func TestTombstone(t *testing.T) {
	said := "Never deploy on Friday\nThe on-call engineer for the weekend is alone, and the last three outages began on a Friday evening after a deploy."
	stone := tombstone.New("n1", said, time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC))
	for _, c := range []struct {
		name, text string
		want       bool
	}{
		{"itself", said, true},
		{"other case, white space and punctuation", "NEVER deploy on friday!\n\n  The on-call engineer for the weekend\nis alone, and the last three outages began on a friday evening after a deploy", true},
		{"something else", "Deploy whenever you like\nThe pipeline checks everything, and rolling back takes ten seconds on any day of the week.", false},
		{"half of it", "Never deploy on Friday", false},
		{"nothing", "", false},
	} {
		if got := stone.Recognises(note.FingerprintOf(c.text)); got != c.want {
			t.Errorf("%s: recognised %v", c.name, got)
		}
	}
	s, _ := open(t)
	if err := tombstone.Write(storetest.Writer(s), note.Portable, stone); err != nil {
		t.Fatal(err)
	}
	data, _ := os.ReadFile(s.Path("memory/tombstones/n1.json"))
	for _, w := range strings.Fields(note.Normalize(said)) {
		if len(w) > 4 && strings.Contains(string(data), w) {
			t.Errorf("the tombstone holds the word %q", w)
		}
	}
	write(t, s.Path("memory/tombstones/bad.json"), "{")
	if all, err := tombstone.For(s, note.Local); err != nil || len(all) != 1 || all[0] != stone {
		t.Errorf("%v %v", all, err)
	}
	if a, b := tombstone.New("a", "x", time.Now()), tombstone.New("a", "x", time.Now()); a.HMAC == b.HMAC {
		t.Error("two tombstones of one statement can be told to be of one statement")
	}
}

// A statement is recognised whatever it says, and one word of a long one may differ
// without the salt making the answer a matter of luck too often.
func TestTombstoneRecognisesItself(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "statement")
		stone := tombstone.New("x", text, time.Now())
		if !stone.Recognises(note.FingerprintOf(text)) {
			t.Fatalf("%q is not recognised", text)
		}
	})
}

func TestSweep(t *testing.T) {
	s, _ := open(t)
	old, young := s.Path("memory/semantic/.tmp-anamnesis-1"), s.Path("memory/semantic/.tmp-anamnesis-2")
	write(t, old, "x")
	write(t, young, "x")
	copied := s.Path(".tmp-anamnesis-3") // of the index
	write(t, copied, "x")
	past := time.Now().Add(-2 * time.Hour)
	for _, name := range []string{old, copied} {
		if err := os.Chtimes(name, past, past); err != nil {
			t.Fatal(err)
		}
	}
	if n := store.Sweep(s); n != 2 {
		t.Errorf("swept %d", n)
	}
	if _, err := os.Stat(young); err != nil {
		t.Errorf("a write that may be under way was swept: %v", err)
	}
}

// fullDisk fails every write, as a full disk does.
type fullDisk struct{ store.OS }

type fullFile struct{ store.File }

var errFull = errors.New("no space left on device")

func (d fullDisk) Create(dir string) (store.File, error) {
	f, err := d.OS.Create(dir)
	return fullFile{f}, err
}

func (fullFile) Write([]byte) (int, error) { return 0, errFull }

func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	s, err := store.Open(store.Options{Root: dir})
	if err != nil {
		t.Fatal(err)
	}
	ref, _, err := storetest.Put(s, draft("n1"), store.Ref{}, store.Update)
	if err != nil {
		t.Fatal(err)
	}
	before, _ := os.ReadFile(s.Path(ref.Path))
	if s, err = store.Open(store.Options{Root: dir, Disk: fullDisk{}}); err != nil {
		t.Fatal(err)
	}
	n := draft("n1")
	n.Body = "longer"
	if _, _, err := storetest.Writer(s).Put(n, ref, store.Update); !errors.Is(err, errFull) || !strings.Contains(err.Error(), "n1.md") {
		t.Errorf("error %v", err)
	}
	if after, _ := os.ReadFile(s.Path(ref.Path)); string(after) != string(before) {
		t.Error("the note changed")
	}
	left, _ := filepath.Glob(s.Path("*/*/.tmp-anamnesis-*"))
	if len(left) > 0 {
		t.Errorf("temporary files left: %v", left)
	}
}

func TestWalkUntil(t *testing.T) {
	s, _ := open(t)
	const files = 1000
	for i := range files {
		write(t, s.Path(fmt.Sprintf("memory/semantic/n%04d.md", files-i)), "x")
	}
	walk := func(asked int) (paths []string) {
		for ref := range s.WalkUntil(func() bool { asked--; return asked < 0 }) {
			paths = append(paths, ref.Path)
		}
		return paths
	}
	if got := walk(1); len(got) != 0 {
		t.Errorf("stopped in the first folder, and %d files were yielded", len(got))
	}
	if got := walk(files); len(got) != files || !slices.IsSorted(got) {
		t.Errorf("%d files, in order: %v", len(got), slices.IsSorted(got))
	}
}
