package mapped_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"anamnesis/internal/embed/mapped"
)

// A file that is cut under a reader is an error, and the process lives. A fault of the
// program stays one.
func TestRead(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	const size = 1 << 20
	if err := os.WriteFile(name, make([]byte, size), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data, release, err := mapped.File(f, size)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = release() }()
	sum := 0
	read := func() {
		for _, b := range data {
			sum += int(b)
		}
	}
	if err := mapped.Read(read); err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" {
		if err := os.Truncate(name, size/2); err != nil {
			t.Fatal(err)
		}
		if err := mapped.Read(read); !errors.Is(err, mapped.ErrCut) {
			t.Errorf("a file that was cut: %v", err)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("an index out of range is no cut file")
		}
	}()
	_ = mapped.Read(func() { _ = data[len(data):][sum] })
}
