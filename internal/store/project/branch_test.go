package project_test

import (
	"os"
	"path/filepath"
	"testing"

	"anamnesis/internal/store/project"
)

func TestTrunk(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		trunk string
		sides map[string]string // branch → what a note of it carries
	}{
		{"what origin says", map[string]string{
			"HEAD": "ref: refs/heads/x\n", "refs/heads/main": "1", "refs/remotes/origin/HEAD": "ref: refs/remotes/origin/develop\n",
		}, "develop", map[string]string{"develop": "", "main": "main", "": "", "HEAD": ""}},
		{"main", map[string]string{"HEAD": "ref: refs/heads/x\n", "refs/heads/x": "1", "refs/heads/main": "1"}, "main", map[string]string{"main": "", "x": "x", "master": "master"}},
		{"master, packed", map[string]string{
			"HEAD": "ref: refs/heads/x\n", "packed-refs": "# pack-refs\n11 refs/heads/master\n22 refs/heads/x\n33 refs/tags/main\n",
		}, "master", map[string]string{"master": ""}},
		{"the only one", map[string]string{"HEAD": "ref: refs/heads/dev\n", "refs/heads/dev": "1"}, "dev", map[string]string{"dev": ""}},
		{"nothing committed", map[string]string{"HEAD": "ref: refs/heads/dev\n"}, "dev", map[string]string{"dev": ""}},
		{"nobody says", map[string]string{"HEAD": "ref: refs/heads/a\n", "refs/heads/a": "1", "refs/heads/b/c": "1"}, "", map[string]string{"a": "a", "b/c": "b/c", "main": ""}},
		{"no repository", nil, "", map[string]string{"main": "", "x": "x"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range c.files {
				name = filepath.Join(dir, ".git", filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if got := project.Trunk(dir); got != c.trunk {
				t.Errorf("Trunk = %q, want %q", got, c.trunk)
			}
			for branch, want := range c.sides {
				if got := project.BranchScope(dir, branch); got != want {
					t.Errorf("Side(%q) = %q, want %q", branch, got, want)
				}
			}
			if project.Untouched(dir, "../../x") || project.Untouched(dir, "a") {
				t.Error("a branch without a log is untouched")
			}
		})
	}
}
