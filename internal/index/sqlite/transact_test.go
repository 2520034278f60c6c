package sqlite_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

func batch(id, body string) index.Batch {
	n := &note.Note{ID: note.ID(id), Type: note.Semantic, Scope: note.Portable, Title: "t", Body: body, Project: "p"}
	ref := store.Ref{Path: store.NotePath(n.Scope, n.Type, n.ID), Scope: n.Scope}
	return index.Batch{Put: []index.Entry{index.NewEntry(n, ref, n.Format(), nil)}}
}

// One process writes many times, at once too, and goes on after a reset and
// after its file was replaced.
func TestManyTransactions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index.db")
	db := open(t, path)
	fill := func(what string) {
		t.Helper()
		var wg sync.WaitGroup
		for w := range 3 {
			wg.Go(func() {
				for i := range 6 {
					if err := db.Apply(t.Context(), batch(fmt.Sprintf("w%di%d", w, i), "body")); err != nil {
						t.Error(what, err)
					}
				}
			})
		}
		wg.Wait()
		if st, err := db.Statistics(t.Context()); st.Notes != 18 || err != nil {
			t.Errorf("%s: %d notes, want 18, %v", what, st.Notes, err)
		}
	}
	fill("new")
	fill("again")
	if err := db.Lose(t.Context()); err != nil {
		t.Fatal(err)
	}
	fill("after a reset")
	for _, ext := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(path + ext); err != nil {
			t.Fatal(err)
		}
	}
	open(t, path)
	if st, err := db.Statistics(t.Context()); st.Notes != 0 || err != nil { // a question notices it
		t.Fatalf("a new file has %d notes, %v", st.Notes, err)
	}
	fill("after the file was replaced")
}

// A long log is folded into the file, where questions find its pages mapped.
func TestTidyFoldsTheLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index.db")
	db := open(t, path)
	for i := range 6 {
		if err := db.SetMemo(t.Context(), "kind", fmt.Sprint(i), index.Memo{Value: make([]byte, 1<<20)}, 0); err != nil {
			t.Fatal(err)
		}
	}
	size := func() int64 {
		fi, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return fi.Size()
	}
	before := size()
	if err := db.Tidy(t.Context()); err != nil {
		t.Fatal(err)
	}
	if after := size(); after <= before || after < 1<<20 {
		t.Errorf("the file had %d bytes and has %d", before, after)
	}
	if m, ok, err := db.Memo(t.Context(), "kind", "3"); !ok || len(m.Value) != 1<<20 || err != nil {
		t.Errorf("%d bytes, %v %v", len(m.Value), ok, err)
	}
}
