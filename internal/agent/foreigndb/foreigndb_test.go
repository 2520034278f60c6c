package foreigndb_test

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"anamnesis/internal/agent/foreigndb"
)

// A row of any size costs no memory of its size: its large cell counts as empty, and the rows
// beside it are read. What no question bounds is refused by SQLite.
func TestLargeCells(t *testing.T) {
	name := filepath.Join(t.TempDir(), "opencode.db")
	db, err := sql.Open("sqlite", name)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec(`CREATE TABLE part (id TEXT PRIMARY KEY, data TEXT);
		INSERT INTO part VALUES ('a', 'before'), ('b', replace(hex(zeroblob(24 << 20)), '0', 'x')), ('c', 'after'),
			('d', replace(hex(zeroblob(1 << 20)), '0', 'y'))`)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	d, err := foreigndb.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	want := map[string]string{"a": "before", "b": "", "c": "after", "d": strings.Repeat("y", 1<<20)}
	got := map[string]string{}
	err = d.Rows(t.Context(), "part", []string{"id", "data", "gone"}, func(r foreigndb.Row) error {
		got[r["id"]] = r["data"]
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for id, text := range want {
		if got[id] != text {
			t.Errorf("Rows: %s has %d characters, want %d", id, len(got[id]), len(text))
		}
	}
	n := 0
	err = d.Query(t.Context(), `SELECT id, `+foreigndb.Bounded("data")+` FROM part ORDER BY id`, func(c []string) error {
		if n++; c[0] == "b" && c[1] != "" {
			t.Errorf("Query reads %d bytes", len(c[1]))
		}
		return nil
	})
	if err != nil || n != 4 {
		t.Errorf("Query: %d rows, %v", n, err)
	}
	err = d.Query(t.Context(), `SELECT data FROM part WHERE id = 'b'`, func([]string) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "too big") {
		t.Errorf("an unbounded question: %v", err)
	}
	err = d.Query(t.Context(), `SELECT count(*) FROM part`, func(c []string) error {
		if c[0] != "4" {
			t.Errorf("%s rows", c[0])
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
