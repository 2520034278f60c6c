package replica_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"anamnesis/internal/replica"
	"anamnesis/internal/replica/replicatest"
)

// clone opens a clone of a bare repository with one commit on main.
func clone(t *testing.T) (c *replica.Clone, hub string) {
	t.Helper()
	hub = bare(t)
	mate := filepath.Join(t.TempDir(), "mate")
	run(t, t.TempDir(), "clone", "-q", hub, mate)
	replicatest.Write(t, mate, map[string]string{"README.md": "x\n", "docs/a.md": "one\n"})
	run(t, mate, "add", "-A")
	run(t, mate, "commit", "-qm", "begin")
	run(t, mate, "push", "-q", "origin", "HEAD:main")
	o := options(t, filepath.Join(t.TempDir(), "clone"))
	o.Remote = hub
	c, err := replica.OpenClone(o)
	if err != nil {
		t.Fatal(err)
	}
	return c, hub
}

var ada = replica.Author{Name: "Ada", Email: "ada@example.org"}

func TestClone(t *testing.T) {
	c, hub := clone(t)
	ctx := t.Context()
	heads, standard, err := c.Branches(ctx, "knowledge/*")
	if err != nil || standard != "main" || len(heads) != 1 || heads["main"] == "" {
		t.Fatalf("%v %q %v", heads, standard, err)
	}
	got, err := c.Fetch(ctx, "main")
	if err != nil || got["main"] != heads["main"] {
		t.Fatalf("%v %v", got, err)
	}
	base := got["main"]
	next, err := c.Commit(ctx, base, map[string][]byte{"docs/a.md": []byte("two\n"), "docs/new/b.md": []byte("b\x00\r\n")}, "a message\n", ada, false)
	if err != nil {
		t.Fatal(err)
	}
	files, err := c.List(ctx, next, "docs")
	if err != nil || len(files) != 2 || !files["docs/new/b.md"].Plain() {
		t.Errorf("%v %v", files, err)
	}
	blobs, err := c.Blobs(ctx, []string{files["docs/a.md"].ID, files["docs/new/b.md"].ID})
	if err != nil || string(blobs[files["docs/new/b.md"].ID]) != "b\x00\r\n" {
		t.Errorf("%q %v", blobs, err)
	}
	past, err := c.History(ctx, next, "docs")
	if err != nil || len(past["a.md"]) != 2 || past["a.md"][0] != files["docs/a.md"].ID || len(past["b.md"]) != 1 || len(past["README.md"]) != 0 {
		t.Errorf("%v %v", past, err)
	}
	for _, k := range []struct {
		later, earlier string
		want           bool
	}{{next, base, true}, {base, next, false}, {base, base, true}} {
		if got, err := c.Contains(ctx, k.later, k.earlier); got != k.want || err != nil {
			t.Errorf("Contains(%s, %s) = %v, %v", k.later, k.earlier, got, err)
		}
	}
	if err := c.Push(ctx, next, "knowledge/x"); err != nil {
		t.Fatal(err)
	}
	// Somebody else was faster: nothing is forced.
	other, err := c.Commit(ctx, base, map[string][]byte{"docs/a.md": []byte("three\n")}, "another\n", ada, false)
	if err != nil {
		t.Fatal(err)
	}
	var link *replica.LinkError
	if err := c.Push(ctx, other, "knowledge/x"); !errors.As(err, &link) || link.Kind != replica.LinkMoved {
		t.Errorf("%v, want that the branch moved", err)
	}
	if at := strings.TrimSpace(run(t, hub, "rev-parse", "knowledge/x")); at != next {
		t.Errorf("the branch is at %s, want %s", at, next)
	}
	if heads, _, err := c.Branches(ctx, "knowledge/*"); err != nil || heads["knowledge/x"] != next {
		t.Errorf("%v %v", heads, err)
	}
	if left, err := os.ReadDir(c.Dir()); err != nil || len(left) != 1 {
		t.Errorf("files were checked out: %v %v", left, err)
	}
}

// Names that lead out of a tree, and names of no branch, are refused.
func TestCloneOddPaths(t *testing.T) {
	c, _ := clone(t)
	got, err := c.Fetch(t.Context(), "main")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"../x", ".git/config", "a/../../x", "/etc/passwd", "docs/.GIT/x"} {
		if commit, err := c.Commit(t.Context(), got["main"], map[string][]byte{path: []byte("x")}, "m\n", ada, false); err == nil {
			t.Errorf("%q is in %s", path, commit)
		}
	}
	if _, err := c.Fetch(t.Context(), "gone"); err == nil {
		t.Error("a branch that is not there was fetched")
	}
	for _, name := range []string{"", "-f", "a b", "a..b", "a:b", "refs/../x", "a/.b", "a.lock", "a/", "é", "a\n", strings.Repeat("a", 201)} {
		if replica.BranchName(name) {
			t.Errorf("%q is a name", name)
		}
		if _, err := c.Fetch(t.Context(), name); err == nil {
			t.Errorf("%q was fetched", name)
		}
		if err := c.Push(t.Context(), got["main"], name); err == nil {
			t.Errorf("%q was pushed", name)
		}
	}
	for _, name := range []string{"main", "knowledge/high", "v1.2_x-y", "a/b/c"} {
		if !replica.BranchName(name) {
			t.Errorf("%q is no name", name)
		}
	}
}
