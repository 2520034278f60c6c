package replica_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/replica"
	"anamnesis/internal/store/storetest"
)

// gitIn runs git in a folder and returns what it prints.
func gitIn(t *testing.T, dir, in string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(in)
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=x", "GIT_AUTHOR_EMAIL=x@x", "GIT_COMMITTER_NAME=x", "GIT_COMMITTER_EMAIL=x@x")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// hubWith returns a hub whose branch has a tree of so many levels, each of which
// names the one below so many times, and a file at the bottom.
func hubWith(t *testing.T, levels, wide int, also bool) string {
	hub := filepath.Join(t.TempDir(), "hub.git")
	gitIn(t, t.TempDir(), "", "init", "-q", "--bare", "-b", "main", hub)
	blob := gitIn(t, hub, "---\nid: a\n---\nx\n", "hash-object", "-w", "--stdin")
	tree := gitIn(t, hub, fmt.Sprintf("100644 blob %s\ta.md\n", blob), "mktree")
	for range levels {
		var b strings.Builder
		for i := range wide {
			fmt.Fprintf(&b, "040000 tree %s\td%03d\n", tree, i)
		}
		tree = gitIn(t, hub, b.String(), "mktree")
	}
	tree = gitIn(t, hub, fmt.Sprintf("040000 tree %s\tsemantic\n", tree), "mktree")
	commit := gitIn(t, hub, "", "commit-tree", tree, "-m", "x")
	if also { // the newest commit is harmless
		empty := gitIn(t, hub, "", "mktree")
		commit = gitIn(t, hub, "", "commit-tree", empty, "-p", commit, "-m", "y")
	}
	gitIn(t, hub, "", "update-ref", "refs/heads/main", commit)
	return hub
}

// A few kilobytes in a hub can name more paths than fit into any memory. They are
// counted before any git lists them.
func TestTreeBomb(t *testing.T) {
	storetest.SkipQuick(t)
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	for _, c := range []struct {
		name         string
		levels, wide int
		also         bool
		want         string
	}{
		{"a hundred notes", 2, 10, false, ""},
		{"wide", 8, 50, false, "paths"},
		{"wide, in a commit before", 8, 50, true, "paths"},
		{"so wide that the number has no room", 30, 100, false, "paths"},
		{"deep", 70, 1, false, "folders in each other"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "memory")
			b, err := replica.Open(replica.Options{Dir: dir, MachineID: "a", Remote: hubWith(t, c.levels, c.wide, c.also), Env: os.Environ()})
			if err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(filepath.Join(dir, "semantic"), 0o700); err != nil {
				t.Fatal(err)
			}
			note := filepath.Join(dir, "semantic", "mine.md")
			if err := os.WriteFile(note, []byte("mine\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			out, err := b.Sync(t.Context())
			if c.want == "" {
				if err != nil || !out.Pushed {
					t.Errorf("%+v %v", out, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "nothing was taken") || out.Pushed {
				t.Errorf("%+v %v", out, err)
			}
			if _, err := os.Stat(note); err != nil {
				t.Error(err)
			}
			t.Logf("refused after %v", time.Since(began))
		})
	}
}

// Stale locks, a damaged index and a remote that is the repository itself are named
// as what they are, and healed where they are ours.
func TestTroubleOfGit(t *testing.T) {
	storetest.SkipQuick(t)
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir, hub := filepath.Join(t.TempDir(), "memory"), filepath.Join(t.TempDir(), "hub.git")
	gitIn(t, t.TempDir(), "", "init", "-q", "--bare", "-b", "main", hub)
	open := func(remote string) replica.Backend {
		b, err := replica.Open(replica.Options{Dir: dir, MachineID: "a", Remote: remote, Env: os.Environ()})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	write := func(name, text string) {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sync := func(name string) replica.Outcome {
		t.Helper()
		out, err := open(hub).Sync(t.Context())
		if err != nil || out.Result != replica.Synced {
			t.Errorf("%s: %+v %v", name, out, err)
		}
		return out
	}
	old := time.Now().Add(-time.Hour)
	stale := func(at string) {
		if err := os.WriteFile(at, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(at, old, old); err != nil {
			t.Fatal(err)
		}
	}
	write("semantic/a.md", "a\n")
	write("semantic/.tmp-anamnesis-123", "half")
	sync("first")
	if out := gitIn(t, dir, "", "status", "--porcelain"); out != "" {
		t.Errorf("git status shows %q", out)
	}

	lock := filepath.Join(dir, ".git", "refs", "anamnesis", "theirs.lock")
	stale(lock)
	write("semantic/b.md", "b\n")
	sync("a lock of a killed fetch")
	if err := os.WriteFile(lock, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := open(hub).Sync(t.Context()); err == nil || out.Offline || !strings.Contains(err.Error(), "theirs.lock") {
		t.Errorf("a fetch at work: %+v %v", out, err)
	}
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}

	index := filepath.Join(dir, ".git", "index")
	for _, size := range []int64{0, 7, 40} {
		if err := os.Truncate(index, size); err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprintf("semantic/index%d.md", size)
		write(name, "c\n")
		sync("a damaged index")
		if got := gitIn(t, hub, "", "ls-tree", "-r", "--name-only", "main"); !strings.Contains(got, name) || !strings.Contains(got, "semantic/a.md") {
			t.Errorf("the hub has %q", got)
		}
	}

	stale(filepath.Join(hub, "refs", "heads", "main.lock"))
	write("semantic/d.md", "d\n")
	if out, err := open(hub).Sync(t.Context()); err == nil || !strings.Contains(err.Error(), "main.lock") || out.Result != replica.Refused {
		t.Errorf("a lock in the hub: %+v %v", out, err)
	}
	if err := os.Remove(filepath.Join(hub, "refs", "heads", "main.lock")); err != nil {
		t.Fatal(err)
	}
	sync("the lock is gone")

	for _, self := range []string{".", "./", dir, filepath.Join(dir, ".git"), "../memory", "file://" + dir} {
		if out, err := open(self).Sync(t.Context()); err == nil || out.Pushed || !strings.Contains(err.Error(), "itself") {
			t.Errorf("%s: %+v %v", self, out, err)
		}
	}
}

// What a hub that is a path would run does not run.
func TestHubRunsNothing(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir, hub, mark := filepath.Join(t.TempDir(), "memory"), filepath.Join(t.TempDir(), "hub.git"), filepath.Join(t.TempDir(), "ran")
	gitIn(t, t.TempDir(), "", "init", "-q", "--bare", "-b", "main", hub)
	for _, hook := range []string{"pre-receive", "update", "post-receive", "post-update", "reference-transaction", "proc-receive"} {
		if err := os.MkdirAll(filepath.Join(hub, "hooks"), 0o700); err != nil {
			t.Fatal(err)
		}
		storetest.WriteProgram(t, filepath.Join(hub, "hooks", hook), "#!/bin/sh\necho "+hook+" >> "+mark+"\n")
	}
	gitIn(t, hub, "", "config", "core.alternateRefsCommand", "echo alternate >> "+mark+"; true")
	gitIn(t, hub, "", "config", "uploadpack.packObjectsHook", "echo pack >> "+mark+"; true")
	if err := os.MkdirAll(filepath.Join(hub, "objects", "info"), 0o700); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "other.git")
	gitIn(t, t.TempDir(), "", "init", "-q", "--bare", "-b", "main", other)
	if err := os.WriteFile(filepath.Join(hub, "objects", "info", "alternates"), []byte(filepath.Join(other, "objects")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := replica.Open(replica.Options{Dir: dir, MachineID: "a", Remote: hub, Env: os.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		at := filepath.Join(dir, "semantic", fmt.Sprintf("%d.md", i))
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte("x\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := b.Sync(t.Context()); err != nil || !out.Pushed {
			t.Fatalf("%+v %v", out, err)
		}
	}
	if data, err := os.ReadFile(mark); err == nil {
		t.Errorf("the hub ran %q", data)
	}
}
