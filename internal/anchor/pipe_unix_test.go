//go:build unix

package anchor_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"anamnesis/internal/anchor"
)

// A pipe in the place of a file is not waited for.
func TestCheckPipe(t *testing.T) {
	root := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(root, "seats.go"), 0o644); err != nil {
		t.Fatal(err)
	}
	got := open(t, root).Check(t.Context(), []anchor.Stamp{{File: "seats.go", Name: "parseRow", Hash: "0123456789abcdef"}})
	if got[0].State != anchor.Unknown {
		t.Errorf("got %s, want unknown", got[0].State)
	}
}
