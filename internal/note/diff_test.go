package note

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestUnified(t *testing.T) {
	lines := func(s string) string { return strings.ReplaceAll(s, " ", "\n") }
	for _, tt := range []struct{ a, b, want string }{
		{"", "", ""},
		{"a\n", "a\n", ""},
		{"a\n", "b\n", "--- x\n+++ y\n@@ -1 +1 @@\n-a\n+b\n"},
		{"", "b\n", "--- x\n+++ y\n@@ -0,0 +1 @@\n+b\n"},
		{"a\n", "", "--- x\n+++ y\n@@ -1 +0,0 @@\n-a\n"},
		{"a", "a\n", "--- x\n+++ y\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n"},
		{"a\x1b[2J\n", "", "--- x\n+++ y\n@@ -1 +0,0 @@\n-a\n"},
		{
			lines("1 2 3 4 5 6 7 8 9 "), lines("1 2 3 4 x 6 7 8 9 "),
			"--- x\n+++ y\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+x\n 6\n 7\n 8\n",
		},
		{
			lines("a 1 2 3 4 5 6 7 b "), lines("A 1 2 3 4 5 6 7 B "),
			"--- x\n+++ y\n@@ -1,4 +1,4 @@\n-a\n+A\n 1\n 2\n 3\n@@ -6,4 +6,4 @@\n 5\n 6\n 7\n-b\n+B\n",
		},
	} {
		if diff := cmp.Diff(tt.want, Unified("x", "y", tt.a, tt.b)); diff != "" {
			t.Errorf("%q %q (-want +got):\n%s", tt.a, tt.b, diff)
		}
	}
}

// A unified diff is one if git makes the second text out of the first with it.
func TestUnifiedIsApplied(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir := t.TempDir()
	text := rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "d\n", "\n"}), 1, 30), func(s []string) string { return strings.Join(s, "") })
	for i := range 60 {
		a, b := text.Example(2*i), text.Example(2*i+1)
		diff := Unified("a/f", "b/f", a, b)
		if diff == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, "f"), []byte(a), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("git", "apply", "--whitespace=nowarn", "-")
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(diff)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s\n%s", err, out, diff)
		}
		if got, _ := os.ReadFile(filepath.Join(dir, "f")); string(got) != b {
			t.Fatalf("got %q, want %q", got, b)
		}
	}
}
