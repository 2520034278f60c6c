package house_test

import (
	"os/exec"
	"testing"

	"anamnesis/lab/house"

	"github.com/google/go-cmp/cmp"
)

const root = "../.."

// TestSetting follows the worked example of a setting in CONTRIBUTING.md, word for word, in a copy of
// the checkout. It needs no network: a copy uses the same module cache, and compiles only what the example changes.
func TestSetting(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles and tests a copy of the repository")
	}
	follow(t, house.Setting)
}

// follow performs a worked example in a copy, compares the files that changed with those that the example names, and runs
// its commands.
func follow(t *testing.T, title string) {
	t.Helper()
	if out, err := exec.Command("git", "-C", root, "rev-parse", "--is-inside-work-tree").CombinedOutput(); err != nil {
		t.Skipf("this is no checkout of git: %v %s", err, out)
	}
	r, err := house.ReadRecipe(root, title)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := house.Copy(t.Context(), root, dir); err != nil {
		t.Fatal(err)
	}
	files, err := r.Perform(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(r.Files, files); d != "" {
		t.Errorf("files that %q names (-) and changes (+):\n%s", title, d)
	}
	if len(r.Try) == 0 {
		t.Errorf("%q has no command that shows that it works", title)
	}
	for _, args := range r.Try {
		if err := house.Run(t.Context(), dir, args); err != nil {
			t.Error(err)
		}
	}
}
