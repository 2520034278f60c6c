package replica_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"anamnesis/internal/replica"

	"github.com/google/go-cmp/cmp"
)

func TestUnmerged(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not here")
	}
	dir := t.TempDir()
	env := append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@example.org", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@example.org")
	for line := range strings.Lines(`init -q -b main
		commit -q --allow-empty -m one
		checkout -q -b merged
		commit -q --allow-empty -m two
		checkout -q -b open
		commit -q --allow-empty -m three
		checkout -q main
		merge -q --ff-only merged`) {
		cmd := exec.Command("git", append([]string{"-C", dir}, strings.Fields(line)...)...)
		cmd.Env = env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", line, err, out)
		}
	}
	for _, c := range []struct {
		name, dir, trunk string
		branches, want   []string
	}{
		{"of three", dir, "main", []string{"merged", "open", "gone", "main"}, []string{"open"}},
		{"of none", dir, "main", nil, nil},
		{"not asked about", dir, "main", []string{"merged"}, nil},
		{"no trunk", dir, "", []string{"open"}, nil},
		{"no such trunk", dir, "--upload-pack=x", []string{"open"}, nil},
		{"no repository", t.TempDir(), "main", []string{"open"}, nil},
		{"no folder", dir + "/none", "main", []string{"open"}, nil},
	} {
		if d := cmp.Diff(c.want, replica.Unmerged(t.Context(), c.dir, c.trunk, c.branches, env)); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}
