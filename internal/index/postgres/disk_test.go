package postgres_test

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"anamnesis/internal/index"
	"anamnesis/internal/index/postgres"
	"anamnesis/internal/index/postgres/postgrestest"
	"anamnesis/internal/index/postgres/schema"
	"anamnesis/internal/note"
)

// A server whose disk is full: a write says so and changes nothing, questions are answered,
// and after somebody has made room the same write is done.
func TestFullDisk(t *testing.T) {
	cluster := postgrestest.Tiny(t)
	dsn := cluster.TinyDatabase(t)
	prepare(t, dsn)
	db := open(t, postgres.Options{DSN: dsn, Origin: "here"})
	put(t, db, &note.Note{ID: "first", Title: "kestrel"})
	cluster.Fill(t)
	var b index.Batch
	for i := range 200 {
		b.Put = append(b.Put, entry(&note.Note{ID: note.ID(fmt.Sprint("n", i)), Title: "kestrel", Body: noise(t)}, nil))
	}
	for range 3 {
		err := db.Apply(t.Context(), b)
		if err == nil || schema.Code(err) != "53100" || !strings.Contains(err.Error(), "the disk of the database server is full") {
			t.Fatalf("a write to a full disk: %v", err)
		}
		keepsSecrets(t, "a full disk", err)
	}
	rows, err := db.Select(t.Context(), index.Filter{}, 0)
	if err != nil || len(rows) != 1 || rows[0].ID != "first" {
		t.Errorf("%d notes, %v; want the first alone", len(rows), err)
	}
	if err := db.Check(t.Context()); err != nil {
		t.Error(err)
	}
	cluster.Room(t)
	apply(t, db, b)
	if rows, err := db.Select(t.Context(), index.Filter{}, 0); err != nil || len(rows) != 201 {
		t.Errorf("%d notes, %v; want 201", len(rows), err)
	}
	if err := db.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

// noise is a text that no server can make smaller.
func noise(t *testing.T) string {
	t.Helper()
	b := make([]byte, 2000)
	if _, err := rand.Read(b); err != nil {
		t.Fatal(err)
	}
	return strings.Join(slices.Collect(words(hex.EncodeToString(b))), " ")
}

func words(s string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for len(s) > 8 && yield(s[:8]) {
			s = s[8:]
		}
	}
}
