package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/index/indextest"
	"anamnesis/internal/index/sqlite"
)

func open(t *testing.T, path string) *sqlite.DB {
	t.Helper()
	db, err := sqlite.Open(t.Context(), sqlite.Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// TestFormerStore wants a store of each schema, for the test that opens them all.
func TestFormerStore(t *testing.T) {
	for version := 1; version <= sqlite.SchemaVersion; version++ {
		file := filepath.Join("..", "..", "cli", "testdata", "stores", fmt.Sprintf("schema-%d.tar.gz", version))
		if _, err := os.Stat(file); err != nil {
			t.Errorf("%v: make.sh beside it makes one", err)
		}
	}
}

func TestContract(t *testing.T) {
	indextest.Run(t, func(t *testing.T) indextest.Database {
		path := filepath.Join(t.TempDir(), "index.db")
		return indextest.Database{
			Open: func(t *testing.T, origin string) index.Backend {
				return openWith(t, sqlite.Options{Path: path, Origin: origin, Busy: 50 * time.Millisecond})
			},
			Hold: func(t *testing.T) func() { return hold(t, path) },
		}
	})
}

// A database of one tree alone, and one that is not written at all.
func TestContractPrivate(t *testing.T) {
	for _, readOnly := range []bool{false, true} {
		indextest.Run(t, func(t *testing.T) indextest.Database {
			path := filepath.Join(t.TempDir(), "index.db")
			return indextest.Database{Private: true, Open: func(t *testing.T, origin string) index.Backend {
				return openWith(t, sqlite.Options{Path: path, Origin: origin, ReadOnly: readOnly})
			}}
		})
	}
}

func openWith(t *testing.T, o sqlite.Options) *sqlite.DB {
	t.Helper()
	db, err := sqlite.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// hold begins to write to a database, and does not end until it is released.
func hold(t *testing.T, path string) (release func()) {
	t.Helper()
	db, err := sql.Open("sqlite", path+"?_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	tx, err := db.BeginTx(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := errors.Join(tx.Rollback(), db.Close()); err != nil {
			t.Error(err)
		}
	}
}

func TestOpenWhatOthersLeft(t *testing.T) {
	for _, c := range []struct {
		name   string
		make   func(t *testing.T, path string)
		notice string // part of Notice; "" means none
		uses   string // base name of the file in use
		keeps  string // glob of what must still be there
	}{
		{"nothing", func(*testing.T, string) {}, "", "index.db", ""},
		{"an empty file", func(t *testing.T, p string) { write(t, p, "") }, "", "index.db", ""},
		{"garbage", func(t *testing.T, p string) { write(t, p, strings.Repeat("garbage ", 4000)) }, "not an anamnesis index", "index.db", "index.db.foreign-*"},
		{"another program's database", func(t *testing.T, p string) {
			run(t, p, "CREATE TABLE memories (id TEXT); INSERT INTO memories VALUES ('x'); PRAGMA user_version=3")
		}, "not an anamnesis index", "index.db", "index.db.foreign-*"},
		{"an older version of ours", func(t *testing.T, p string) {
			open(t, p).Close()
			run(t, p, "PRAGMA user_version=0")
		}, "", "index.db", ""},
		{"a newer version of ours", func(t *testing.T, p string) {
			open(t, p).Close()
			run(t, p, "PRAGMA user_version=99")
		}, "newer version", "index.v16.db", "index.db"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "index.db")
			c.make(t, path)
			db := open(t, path)
			if got := db.Notice(); !strings.Contains(got, c.notice) || c.notice == "" && got != "" {
				t.Errorf("notice %q, want %q in it", got, c.notice)
			}
			if got := filepath.Base(db.Path()); got != c.uses {
				t.Errorf("uses %s, want %s", got, c.uses)
			}
			if found, _ := filepath.Glob(filepath.Join(filepath.Dir(path), c.keeps)); c.keeps != "" && len(found) != 1 {
				t.Errorf("%s: %v", c.keeps, found)
			}
			if _, _, _, err := db.State(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// A long-lived process must notice that another one replaced the file.
func TestReplacedFileIsReopened(t *testing.T) {
	dir := t.TempDir()
	path, other := filepath.Join(dir, "index.db"), filepath.Join(dir, "other.db")
	db := open(t, path)
	o := open(t, other)
	if err := o.Apply(t.Context(), index.Batch{Problems: map[string]index.FileState{"memory/x.md": {Problem: "seen"}}}); err != nil {
		t.Fatal(err)
	}
	o.Close()
	for _, ext := range []string{"-wal", "-shm"} {
		_ = os.Remove(path + ext)
	}
	if err := os.Rename(other, path); err != nil {
		t.Fatal(err)
	}
	got, err := db.Problems(t.Context())
	if err != nil || len(got) != 1 {
		t.Errorf("Problems = %v, %v; want those of the new file", got, err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func run(t *testing.T, path, statements string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(context.Background(), statements); err != nil {
		t.Fatal(err)
	}
}

// Files of other programs that stand in the index's place one after the other are
// all kept.
func TestAsideIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index.db")
	for i := range 4 {
		write(t, path, fmt.Sprintf("the %d. file of another program", i))
		db, err := sqlite.Open(t.Context(), sqlite.Options{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := filepath.Glob(path + ".foreign-*[0-9]")
	if err != nil || len(kept) != 4 {
		t.Errorf("kept %q, %v; want 4 files", kept, err)
	}
}

// TestFirstOpens: processes that open a database at once that is not there find a whole one, and the same. (They found a file without tables, and set it aside.)
func TestFirstOpens(t *testing.T) {
	dir := t.TempDir()
	for round := range 10 {
		path := filepath.Join(dir, strconv.Itoa(round), "index.db")
		if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		var wait sync.WaitGroup
		epochs := make([]any, 8)
		for i := range epochs {
			wait.Go(func() {
				db, err := sqlite.Open(t.Context(), sqlite.Options{Path: path})
				if err != nil {
					t.Error(err)
					return
				}
				defer db.Close()
				if notice := db.Notice(); notice != "" {
					t.Error(notice)
				}
				generation, err := db.Generation(t.Context())
				if err != nil {
					t.Error(err)
				}
				epochs[i] = generation
			})
		}
		wait.Wait()
		if files, err := filepath.Glob(path + ".*"); err != nil || len(files) > 0 {
			t.Errorf("left behind: %q, %v", files, err)
		}
		for _, epoch := range epochs[1:] {
			if epoch != epochs[0] {
				t.Fatalf("not one database: %v", epochs)
			}
		}
	}
}
