package upgrade

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Both ways to replace a program leave the new one in its place, the former beside it, and
// nothing else, however often.
func TestSwap(t *testing.T) {
	for _, aside := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "anamnesis.exe")
		was := ""
		for _, text := range []string{"one", "two", "three"} {
			staged, err := Stage(path, []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			if err := swap(path, staged, aside); err != nil {
				t.Fatal(err)
			}
			if got := read(t, path); got != text {
				t.Errorf("aside %v: %q stands there, want %q", aside, got, text)
			}
			if was != "" && read(t, Former(path)) != was {
				t.Errorf("aside %v: the former is %q, want %q", aside, read(t, Former(path)), was)
			}
			was = text
		}
		if err := Rollback(path); err != nil || read(t, path) != "two" || read(t, Former(path)) != "three" {
			t.Errorf("aside %v: rolled back to %q, former %q, %v", aside, read(t, path), read(t, Former(path)), err)
		}
		if found, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); len(found) != 2 {
			t.Errorf("aside %v: %q", aside, found)
		}
		if hidden, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); len(hidden) != 0 {
			t.Errorf("aside %v: %q", aside, hidden)
		}
	}
}

// A new program that cannot be moved there leaves the old one.
func TestSwapFails(t *testing.T) {
	for _, aside := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "anamnesis")
		if err := os.WriteFile(path, []byte("one"), 0o700); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := swap(path, path+".missing", aside); err == nil {
				t.Error("no error")
			}
			if got := read(t, path); got != "one" {
				t.Errorf("aside %v: %q stands there", aside, got)
			}
		}
		if found, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); len(found) > 2 {
			t.Errorf("aside %v: %q", aside, found)
		}
	}
	if err := Rollback(filepath.Join(t.TempDir(), "anamnesis")); err == nil || !strings.Contains(err.Error(), "no former program") {
		t.Error(err)
	}
}

func TestFormer(t *testing.T) {
	for path, want := range map[string]string{"/x/anamnesis": "/x/anamnesis.former", "c/anamnesis.EXE": "c/anamnesis.former.EXE"} {
		if got := Former(path); got != want {
			t.Errorf("%s: %s", path, got)
		}
	}
}

func TestUnzip(t *testing.T) {
	if _, err := unpack([]byte("PK"), "windows"); err == nil {
		t.Error("no zip was read")
	}
}
