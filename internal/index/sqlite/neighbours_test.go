package sqlite_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/index/sqlite"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// notesOfOneSecond makes an index of n notes of one second, and returns their keys; session
// says in which session the i-th was made.
func notesOfOneSecond(t testing.TB, db *sqlite.DB, n int, session func(i int) string) (keys []int64) {
	t.Helper()
	at := note.At(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	var b index.Batch
	for i := range n {
		x := &note.Note{
			ID: note.ID(fmt.Sprintf("n%06d", i)), Type: note.Semantic, Scope: note.Portable, Title: "t", Body: "b",
			Project: "p", CreatedAt: at, UpdatedAt: at, Provenance: note.Provenance{Session: session(i)},
		}
		ref := store.Ref{Path: store.NotePath(x.Scope, x.Type, x.ID), Scope: x.Scope}
		b.Put = append(b.Put, index.NewEntry(x, ref, x.Format(), nil))
	}
	if err := db.Apply(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	rows, err := db.Select(t.Context(), index.Filter{}, n)
	if err != nil || len(rows) != n {
		t.Fatal(len(rows), err)
	}
	for _, r := range rows {
		keys = append(keys, r.Key)
	}
	return keys
}

// What was written in the same second belongs together when a session wrote
// it, and not when an import did.
func TestCompany(t *testing.T) {
	for _, tt := range []struct {
		name    string
		notes   int
		session func(i int) string
		want    int // pairs of the first twenty
	}{
		{"a conversation", 64, func(int) string { return "s" }, 40},
		{"an import", 65, func(int) string { return "s" }, 0},
		{"by hand, one after the other", 30, func(int) string { return "" }, 0},
		{"an import that says of which session each is", 30, func(i int) string { return fmt.Sprint(i) }, 0},
		{"two sessions at once", 30, func(i int) string { return fmt.Sprint(i % 2) }, 40},
	} {
		t.Run(tt.name, func(t *testing.T) {
			db := open(t, filepath.Join(t.TempDir(), "index.db"))
			keys := notesOfOneSecond(t, db, tt.notes, tt.session)
			pairs, err := db.Neighbours(t.Context(), keys[5:25], index.Filter{})
			if err != nil || len(pairs) != tt.want {
				t.Errorf("%d pairs, want %d; %v", len(pairs), tt.want, err)
			}
		})
	}
}
