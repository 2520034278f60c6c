package store

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// TestContents reads files whose size is not what was said: they may change at the same time.
func TestContents(t *testing.T) {
	name := filepath.Join(t.TempDir(), "note.md")
	for _, size := range []int{0, 1, 511, 512, 5000, 100_000} {
		want := bytes.Repeat([]byte("a line\n"), size/7+1)[:size]
		if err := os.WriteFile(name, want, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, said := range []int{0, size / 2, size, 2 * size} {
			if got, err := contents(name, int64(said)); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%d bytes, said to be %d: %d bytes, %v", size, said, len(got), err)
			}
		}
	}
	if _, err := contents(name+".none", 10); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of a file that is not there: %v", err)
	}
	if runtime.GOOS == "windows" {
		return // links are looked for before, and nowhere else
	}
	if err := os.Symlink(name, name+".link"); err != nil {
		t.Fatal(err)
	}
	if got, err := contents(name+".link", 10); err == nil {
		t.Errorf("a link was followed to %d bytes", len(got))
	}
}
