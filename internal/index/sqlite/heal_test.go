package sqlite_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"anamnesis/internal/index"
	"anamnesis/internal/index/sqlite"
)

// A lost database for whose file there is no place any more is replaced by one in memory.
func TestHealWithoutAPlace(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows removes no folder in which a file is open")
	}
	dir := filepath.Join(t.TempDir(), "gone")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	shown := 0
	db, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(dir, "index.db"), Degraded: func(string) { shown++ }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := db.Heal(errors.New("damaged")); !errors.Is(err, index.ErrLost) {
		t.Errorf("healed with %v, want ErrLost", err)
	}
	if db.Degraded() == "" || shown != 1 {
		t.Errorf("degraded %q, shown %d times", db.Degraded(), shown)
	}
	if rows, err := db.Select(t.Context(), index.Filter{}, 0); err != nil || len(rows) > 0 {
		t.Errorf("the database in memory answers %v, %v", rows, err)
	}
}
