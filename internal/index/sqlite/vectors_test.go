package sqlite_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"anamnesis/internal/index"
	"anamnesis/internal/index/sqlite"
	"anamnesis/internal/note"
	"anamnesis/internal/store"

	"github.com/google/go-cmp/cmp"
)

// vector is a unit vector near to the first axis, the nearer the smaller i is.
func vector(i int) index.Vector {
	v := make([]float32, 64)
	v[0], v[1+i%60] = 1, float32(i)/500
	return index.Quantize(v)
}

// filled makes an index of n notes without vectors, and returns their passages, oldest first.
func filled(t *testing.T, path string, n int) (db *sqlite.DB, keys []int64) {
	t.Helper()
	db = open(t, path)
	var b index.Batch
	for i := range n {
		x := &note.Note{ID: note.ID(fmt.Sprintf("n%04d", i)), Type: note.Semantic, Scope: note.Portable, Title: "t", Body: "b", Project: "p"}
		ref := store.Ref{Path: store.NotePath(x.Scope, x.Type, x.ID), Scope: x.Scope}
		b.Put = append(b.Put, index.NewEntry(x, ref, x.Format(), nil))
	}
	if err := db.Apply(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	some, _, _, err := db.Unembedded(t.Context(), "m", n)
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range some {
		keys = append(keys, u.Passage)
	}
	return db, keys
}

func embed(t *testing.T, db *sqlite.DB, keys []int64, first int) {
	t.Helper()
	given := make(map[int64]index.Vector)
	for i, k := range keys {
		given[k] = vector(first + i)
	}
	if err := db.Embed(t.Context(), "m", given); err != nil {
		t.Fatal(err)
	}
	if err := db.Tidy(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func nearest(t *testing.T, db *sqlite.DB) (keys []int64) {
	t.Helper()
	question := make([]float32, 64)
	question[0] = 1
	got, err := db.Nearest(t.Context(), "m", question, index.Filter{}, 5, -1)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range got {
		keys = append(keys, c.Passage)
	}
	return keys
}

// A copy of the vectors that is broken is not believed.
func TestBrokenVectors(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "index.db")
	db, keys := filled(t, path, 700)
	embed(t, db, keys, 0)
	countStatements := nearest(t, db)
	copies, _ := filepath.Glob(filepath.Join(dir, "vectors-*.bin"))
	if len(copies) != 1 || len(countStatements) != 5 {
		t.Fatalf("%d copies, %d answers", len(copies), len(countStatements))
	}
	whole, err := os.ReadFile(copies[0])
	if err != nil {
		t.Fatal(err)
	}
	db.Close()
	flipped := append([]byte{}, whole...)
	flipped[9] ^= 1
	for what, data := range map[string][]byte{"cut": whole[:len(whole)/2], "empty": {}, "foreign": []byte("SQLite format 3"), "of another model": flipped, "whole": whole} {
		if err := os.WriteFile(copies[0], data, 0o600); err != nil {
			t.Fatal(err)
		}
		db := open(t, path)
		if d := cmp.Diff(countStatements, nearest(t, db)); d != "" {
			t.Errorf("%s (-want +got):\n%s", what, d)
		}
		if err := db.Tidy(t.Context()); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		db.Close()
	}
}

// Vectors come newest first: those that come after the copy was made are found too.
func TestLateVectors(t *testing.T) {
	db, keys := filled(t, filepath.Join(t.TempDir(), "index.db"), 2000)
	embed(t, db, keys[1000:], 500)
	embed(t, db, keys[:1000], 0)
	if got := nearest(t, db); len(got) != 5 || got[0] != keys[0] {
		t.Errorf("nearest %v, want %d first", got, keys[0])
	}
}
