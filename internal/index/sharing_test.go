package index_test

import (
	"errors"
	"io/fs"
	"os"
	"testing"

	"anamnesis/internal/index"
	"anamnesis/internal/index/sqlite"
)

// shares makes a bench whose index stands in the database of another one.
func shares(t *testing.T, path, origin string) *bench {
	t.Helper()
	b := newBench(t)
	db, err := sqlite.Open(t.Context(), sqlite.Options{Path: path, Origin: origin})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	b.Index = index.New(db, b.store, index.Embedding{})
	return b
}

// Two machines share a database: a walk of one leaves the notes of the other,
// and each reads the notes of both.
func TestSharedDatabase(t *testing.T) {
	path := t.TempDir() + "/shared.db"
	ada, bob := shares(t, path, "ada"), shares(t, path, "bob")
	ada.file("memory/semantic/a.md", "a", "apple", false)
	ada.file("memory/semantic/both.md", "both", "kumquat of ada", false)
	bob.file("memory/semantic/b.md", "b", "banana", false)
	bob.file("memory/semantic/elsewhere.md", "both", "kumquat of bob", false)
	for range 2 {
		for _, who := range []*bench{ada, bob} {
			if rep, err := who.Sync(t.Context(), index.SyncOptions{All: true}); err != nil || rep.Files != 2 || rep.Removed != 0 || len(rep.Problems) != 0 {
				t.Fatalf("%+v, %v", rep, err)
			}
		}
	}
	read := func(who *bench, want map[string]string) {
		t.Helper()
		rows, err := who.Select(t.Context(), index.Filter{Dead: true}, 0)
		if err != nil || len(rows) != len(want) {
			t.Errorf("%d rows, want %d (%v)", len(rows), len(want), err)
		}
		for i, c := range who.Contents(t.Context(), rows) {
			if r := rows[i]; c.Err != nil || c.Note.Body != want[string(r.ID)] {
				t.Errorf("%s of %s says %+v (%v), want %q", r.ID, r.Origin, c.Note, c.Err, want[string(r.ID)])
			}
		}
	}
	read(ada, map[string]string{"a": "body of apple", "b": "body of banana", "both": "body of kumquat of ada"})
	read(bob, map[string]string{"a": "body of apple", "b": "body of banana", "both": "body of kumquat of bob"})

	if err := os.Remove(bob.store.Path("memory/semantic/b.md")); err != nil {
		t.Fatal(err)
	}
	ada.file("memory/semantic/a.md", "a", "apricot", true)
	row, _, err := ada.Lookup(t.Context(), "a")
	if c := ada.Content(t.Context(), row); err != nil || c.Err != nil || c.Note.Body != "body of apricot" {
		t.Errorf("a change of ours that is not indexed: %+v, %v", c.Note, errors.Join(err, c.Err))
	}
	if c := bob.Content(t.Context(), row); c.Err != nil || c.Note.Body != "body of apple" {
		t.Errorf("a change of another machine that is not indexed: %+v, %v", c.Note, c.Err)
	}
	row, _, _ = bob.Lookup(t.Context(), "b")
	if c := bob.Content(t.Context(), row); !errors.Is(c.Err, fs.ErrNotExist) {
		t.Errorf("a file of ours that is gone: %v", c.Err)
	}
	bob.sync()
	read(ada, map[string]string{"a": "body of apricot", "both": "body of kumquat of ada"})
	if _, ok, err := ada.Lookup(t.Context(), "b"); ok || err != nil {
		t.Errorf("what bob deleted is still there: %v, %v", ok, err)
	}
	if err := ada.Refresh(t.Context(), "memory/semantic/b.md", "memory/semantic/a.md"); err != nil {
		t.Fatal(err)
	}
	read(bob, map[string]string{"a": "body of apricot", "both": "body of kumquat of bob"})
}
