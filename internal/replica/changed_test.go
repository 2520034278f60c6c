package replica_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"anamnesis/internal/replica"
)

// What differs from the last commit is seen from any folder, staged or not; what git
// does not track is not, and a folder without a repository has nothing.
func TestChanged(t *testing.T) {
	dir := t.TempDir()
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1"}
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=x", "-c", "user.email=x@example.org"}, args...)...)
		cmd.Env = env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Skipf("git %v: %v\n%s", args, err, out)
		}
	}
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := replica.Changed(t.Context(), dir, env); got != nil {
		t.Errorf("without a repository: %q", got)
	}
	git("init", "-q")
	for _, name := range []string{"a b.go", "sub/c.go", "same.go"} {
		write(name, "1")
	}
	git("add", ".")
	git("commit", "-qm", "first")
	write("a b.go", "longer")
	write("sub/c.go", "longer too")
	write("new.go", "1")
	git("add", "sub/c.go")
	if got := replica.Changed(t.Context(), dir, env); !slices.Equal(got, []string{"a b.go", "sub/c.go"}) {
		t.Errorf("changed: %q", got)
	}
	if got := replica.Changed(t.Context(), filepath.Join(dir, "sub"), env); !slices.Contains(got, "sub/c.go") {
		t.Errorf("from a folder: %q", got)
	}
	late, cancel := context.WithCancel(t.Context())
	cancel()
	if got := replica.Changed(late, dir, env); got != nil {
		t.Errorf("too late: %q", got)
	}
}
