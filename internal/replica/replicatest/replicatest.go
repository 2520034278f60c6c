// Package replicatest is the contract of replica.Backend as a test suite.
package replicatest

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"anamnesis/internal/replica"

	"github.com/google/go-cmp/cmp"
)

// A Subject is a backend under test.
type Subject struct {
	// Open opens a backend on the tree in dir, with the defaults of the test.
	Open func(t *testing.T, dir string) replica.Backend
	// Kept lists the paths that the backend has recorded, without those it
	// keeps for itself.
	Kept func(t *testing.T, dir string) []string
}

// Run runs the suite.
func Run(t *testing.T, s Subject) {
	t.Run("commit", s.commit)
	t.Run("sync without a remote", s.sync)
	t.Run("deletion", s.deletion)
	t.Run("chosen paths", s.chosen)
	t.Run("unknown files", s.unknown)
	t.Run("hostile names", s.hostile)
	t.Run("links", s.links)
	t.Run("state", s.state)
	t.Run("concurrent commits", s.concurrent)
}

// Write writes files into a tree.
func Write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func commit(t *testing.T, b replica.Backend, want bool, paths ...string) {
	t.Helper()
	got, err := b.Commit(t.Context(), paths)
	if err != nil || got != want {
		t.Fatalf("Commit(%q) = %v, %v, want %v", paths, got, err, want)
	}
}

func (s Subject) keeps(t *testing.T, dir string, want ...string) {
	t.Helper()
	got := s.Kept(t, dir)
	slices.Sort(got)
	slices.Sort(want)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("recorded paths (-want +got):\n%s", d)
	}
}

func head(t *testing.T, b replica.Backend) string {
	t.Helper()
	state, err := b.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return state.Head
}

func (s Subject) commit(t *testing.T) {
	dir := t.TempDir()
	b := s.Open(t, dir)
	commit(t, b, false) // an empty tree
	all := []string{
		"procedural/a.md", "procedural/a.entities.yaml", "semantic/2026/b.md", "episodic/c.md",
		"tombstones/d.json", "slots/e.md", "slots/deep/f.txt", "projects.yaml",
	}
	for _, name := range all {
		Write(t, dir, map[string]string{name: "text of " + name + "\r\n"})
	}
	commit(t, b, true)
	s.keeps(t, dir, all...)
	before := head(t, b)
	commit(t, b, false)
	if after := head(t, b); after != before || before == "" {
		t.Errorf("a commit of nothing moves the head from %q to %q", before, after)
	}
	Write(t, dir, map[string]string{"procedural/a.md": "other\n"})
	commit(t, b, true)
	if head(t, b) == before {
		t.Error("a change does not move the head")
	}
	data, err := os.ReadFile(filepath.Join(dir, "episodic", "c.md"))
	if err != nil || string(data) != "text of episodic/c.md\r\n" {
		t.Errorf("the file reads %q, %v", data, err)
	}
}

func (s Subject) sync(t *testing.T) {
	dir := t.TempDir()
	b := s.Open(t, dir)
	Write(t, dir, map[string]string{"semantic/a.md": "a\n"})
	for i, want := range []string{"committed locally; no remote configured", "nothing to commit; no remote configured"} {
		out, err := b.Sync(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if out.Detail != want || out.Committed != (i == 0) || out.Pushed || out.Pulled != 0 || out.Conflicted || out.Head == "" {
			t.Errorf("got %+v, want the detail %q", out, want)
		}
	}
}

func (s Subject) deletion(t *testing.T) {
	dir := t.TempDir()
	b := s.Open(t, dir)
	Write(t, dir, map[string]string{"semantic/a.md": "a\n", "semantic/sub/b.md": "b\n", "semantic/c.md": "c\n"})
	commit(t, b, true)
	for _, name := range []string{"a.md", "sub"} {
		if err := os.RemoveAll(filepath.Join(dir, "semantic", name)); err != nil {
			t.Fatal(err)
		}
	}
	commit(t, b, true, "semantic/a.md")
	s.keeps(t, dir, "semantic/sub/b.md", "semantic/c.md")
	commit(t, b, true)
	s.keeps(t, dir, "semantic/c.md")
	if err := os.Remove(filepath.Join(dir, "semantic", "c.md")); err != nil {
		t.Fatal(err)
	}
	commit(t, b, true)
	s.keeps(t, dir)
}

func (s Subject) chosen(t *testing.T) {
	dir := t.TempDir()
	b := s.Open(t, dir)
	Write(t, dir, map[string]string{"semantic/a.md": "a\n", "semantic/b.md": "b\n", "notes.txt": "x\n"})
	commit(t, b, true, "semantic/a.md", "semantic/missing.md", "notes.txt", "../outside.md", "/etc/passwd", "-x", "")
	s.keeps(t, dir, "semantic/a.md")
	commit(t, b, false, "semantic/a.md")
	commit(t, b, false, "notes.txt")
	commit(t, b, true)
	s.keeps(t, dir, "semantic/a.md", "semantic/b.md")
}

func (s Subject) unknown(t *testing.T) {
	dir := t.TempDir()
	b := s.Open(t, dir)
	Write(t, dir, map[string]string{
		"index.db": "x", "README.md": "x", "semantic/a.txt": "x", "semantic/.hidden.md": "x", ".obsidian/a.md": "x",
		"semantic/.tmp-anamnesis-1.md": "x", "semantic/.trash/b.md": "x", "tombstones/deep/c.json": "x", "tombstones/c.md": "x",
		"other/d.md": "x", "slots/.e": "x",
	})
	commit(t, b, false)
	Write(t, dir, map[string]string{"semantic/a.md": "a\n"})
	commit(t, b, true)
	s.keeps(t, dir, "semantic/a.md")
	commit(t, b, false)
}

func (s Subject) hostile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such names")
	}
	dir := t.TempDir()
	b := s.Open(t, dir)
	names := []string{
		"semantic/-rf.md", "semantic/--all.md", "semantic/:(top)x.md", "semantic/*.md", "semantic/a b'\"$(id)`.md", "semantic/é 日本.md",
		"semantic/!x.md", "semantic/#x.md", "slots/-x", "slots/HEAD",
	}
	for _, name := range names {
		Write(t, dir, map[string]string{name: "x\n"})
	}
	Write(t, dir, map[string]string{"semantic/new\nline.md": "x\n", "semantic/back\\slash.md": "x\n"})
	commit(t, b, true, names[0], names[3])
	s.keeps(t, dir, names[0], names[3])
	commit(t, b, true)
	s.keeps(t, dir, names...)
	commit(t, b, false)
}

func (s Subject) links(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	b := s.Open(t, dir)
	Write(t, outside, map[string]string{"secret.md": "x\n"})
	Write(t, dir, map[string]string{"semantic/a.md": "a\n", "semantic/b.md": "b\n"})
	if err := os.Symlink(outside, filepath.Join(dir, "procedural")); err != nil {
		t.Skip("no symbolic links here")
	}
	if err := os.Symlink(filepath.Join(outside, "secret.md"), filepath.Join(dir, "semantic", "link.md")); err != nil {
		t.Fatal(err)
	}
	commit(t, b, true)
	s.keeps(t, dir, "semantic/a.md", "semantic/b.md")
	// A file that becomes a link is not recorded as one.
	if err := os.Remove(filepath.Join(dir, "semantic", "a.md")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(outside, "secret.md"), filepath.Join(dir, "semantic", "a.md")); err != nil {
		t.Fatal(err)
	}
	commit(t, b, false)
}

func (s Subject) state(t *testing.T) {
	dir := t.TempDir()
	b := s.Open(t, dir)
	check := func(initialized, dirty bool, detail string) {
		t.Helper()
		got, err := b.State(t.Context())
		if err != nil || got.Initialized != initialized || got.Dirty != dirty || got.Detail != detail || (got.Head != "") != initialized {
			t.Errorf("State() = %+v, %v", got, err)
		}
	}
	check(false, false, "not initialized")
	Write(t, dir, map[string]string{"semantic/a.md": "a\n", "other.txt": "x"})
	check(false, false, "not initialized")
	commit(t, b, true)
	check(true, false, "ok")
	Write(t, dir, map[string]string{"semantic/b.md": "b\n"})
	check(true, true, "ok")
	commit(t, b, true)
	check(true, false, "ok")
	if err := os.Remove(filepath.Join(dir, "semantic", "b.md")); err != nil {
		t.Fatal(err)
	}
	check(true, true, "ok")
}

func (s Subject) concurrent(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	var want []string
	for _, name := range strings.Split("abcdef", "") {
		want = append(want, "semantic/"+name+".md")
		b := s.Open(t, dir)
		wg.Go(func() {
			Write(t, dir, map[string]string{"semantic/" + name + ".md": name + "\n"})
			if _, err := b.Commit(t.Context(), nil); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	s.keeps(t, dir, want...)
}
