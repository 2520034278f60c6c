package replica_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"anamnesis/internal/replica"
	"anamnesis/internal/replica/replicatest"
)

// What somebody commits with git passes no check; the push does not take it along.
func TestSecretsCommittedByHand(t *testing.T) {
	by := func(t *testing.T, dir string, args ...string) {
		t.Helper()
		run(t, dir, append([]string{"-c", "user.name=me", "-c", "user.email=me@host"}, args...)...)
	}
	type scene struct {
		dir, remote string
		sync        func() replica.Outcome
	}
	for _, c := range []struct {
		name  string
		play  func(t *testing.T, s scene)
		names string // a file that keeps the push, "" for none
	}{
		{"a secret", func(t *testing.T, s scene) {
			replicatest.Write(t, s.dir, map[string]string{"semantic/b.md": "the secret\n"})
			by(t, s.dir, "add", "-A")
			by(t, s.dir, "commit", "-qm", "mine")
		}, "semantic/b.md"},
		{"none", func(t *testing.T, s scene) {
			replicatest.Write(t, s.dir, map[string]string{"semantic/b.md": "nothing\n", "notes.txt": "the secret\n"})
			by(t, s.dir, "add", "-A")
			by(t, s.dir, "commit", "-qm", "mine")
		}, ""},
		{"one that was let go", func(t *testing.T, s scene) {
			replicatest.Write(t, s.dir, map[string]string{"semantic/b.md": "the secret, allowed\n"})
			by(t, s.dir, "add", "-A")
			by(t, s.dir, "commit", "-qm", "mine")
		}, ""},
		{"one that the next commit takes out", func(t *testing.T, s scene) {
			replicatest.Write(t, s.dir, map[string]string{"semantic/b.md": "the secret\n"})
			by(t, s.dir, "add", "-A")
			by(t, s.dir, "commit", "-qm", "mine")
			replicatest.Write(t, s.dir, map[string]string{"semantic/b.md": "gone\n"})
		}, "semantic/b.md"},
		{"in a commit of ours, amended", func(t *testing.T, s scene) {
			replicatest.Write(t, s.dir, map[string]string{"semantic/b.md": "nothing\n"})
			mustCommit(t, open(t, options(t, s.dir)), true)
			replicatest.Write(t, s.dir, map[string]string{"semantic/b.md": "the secret\n"})
			by(t, s.dir, "commit", "-qa", "--amend", "--no-edit")
		}, "semantic/b.md"},
		{"made in a merge", func(t *testing.T, s scene) {
			by(t, s.dir, "checkout", "-q", "-b", "side")
			replicatest.Write(t, s.dir, map[string]string{"semantic/b.md": "b\n"})
			by(t, s.dir, "add", "-A")
			by(t, s.dir, "commit", "-qm", "side")
			by(t, s.dir, "checkout", "-q", "main")
			by(t, s.dir, "merge", "-q", "--no-ff", "--no-commit", "side")
			replicatest.Write(t, s.dir, map[string]string{"semantic/a.md": "the secret\n"})
			by(t, s.dir, "add", "-A")
			by(t, s.dir, "commit", "-qm", "merged")
		}, "semantic/a.md"},
		{"as the first commit", func(t *testing.T, s scene) {
			by(t, s.dir, "update-ref", "-d", "refs/heads/main")
			by(t, s.remote, "update-ref", "-d", "refs/heads/main")
			replicatest.Write(t, s.dir, map[string]string{"semantic/a.md": "the secret\n"})
			by(t, s.dir, "add", "-A")
			by(t, s.dir, "commit", "-qm", "mine")
		}, "semantic/a.md"},
		{"larger than any note", func(t *testing.T, s scene) {
			replicatest.Write(t, s.dir, map[string]string{"semantic/b.md": strings.Repeat("x", 3<<20)})
			by(t, s.dir, "add", "-A")
			by(t, s.dir, "commit", "-qm", "mine")
		}, "semantic/b.md"},
		{"on another machine, where it was let go", func(t *testing.T, s scene) {
			other := filepath.Join(t.TempDir(), "other")
			run(t, t.TempDir(), "clone", "-q", s.remote, other)
			replicatest.Write(t, other, map[string]string{"semantic/c.md": "the secret\n"})
			by(t, other, "add", "-A")
			by(t, other, "commit", "-qm", "theirs")
			by(t, other, "push", "-q")
			by(t, s.dir, "pull", "-q", "--no-rebase", s.remote, "main")
			replicatest.Write(t, s.dir, map[string]string{"semantic/b.md": "nothing\n"})
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir, remote := filepath.Join(t.TempDir(), "memory"), bare(t)
			o := options(t, dir)
			o.Remote = remote
			o.Hold = func(_ string, data []byte) string {
				if strings.Contains(string(data), "the secret\n") {
					return "it holds a secret"
				}
				return ""
			}
			s := scene{dir, remote, func() replica.Outcome {
				t.Helper()
				out, err := open(t, o).Sync(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				return out
			}}
			replicatest.Write(t, dir, map[string]string{"semantic/a.md": "a\n"})
			s.sync()
			c.play(t, s)
			before := committed(t, remote)
			out := s.sync()
			if c.names == "" {
				if !out.Pushed || out.Conflicted {
					t.Fatalf("%+v", out)
				}
				return
			}
			if out.Pushed || !out.Conflicted || len(out.HeldFiles) == 0 || out.HeldFiles[0].Path != c.names || !strings.Contains(out.Detail, "made with git") {
				t.Fatalf("%+v", out)
			}
			if after := committed(t, remote); len(after) != len(before) {
				t.Errorf("the remote has %v", after)
			}
			// Work goes on: what the others wrote comes in.
			other := filepath.Join(t.TempDir(), "other")
			run(t, t.TempDir(), "clone", "-q", remote, other)
			run(t, other, "checkout", "-q", "-B", "main")
			replicatest.Write(t, other, map[string]string{"semantic/z.md": "z\n"})
			by(t, other, "add", "-A")
			by(t, other, "commit", "-qm", "theirs")
			by(t, other, "push", "-q", "origin", "main")
			if out := s.sync(); out.Pushed || out.Pulled == 0 || !out.Conflicted {
				t.Errorf("%+v", out)
			}
			if _, err := os.Stat(filepath.Join(dir, "semantic/z.md")); err != nil {
				t.Error(err)
			}
			// As the guide says: back to what the remote has, and take it out.
			run(t, dir, "reset", "-q", "--soft", "origin/main")
			replicatest.Write(t, dir, map[string]string{c.names: "taken out\n"})
			if out := s.sync(); !out.Pushed || out.Conflicted || committed(t, remote)[c.names] != "taken out\n" {
				t.Errorf("%+v", out)
			}
		})
	}
}

// The newest commit must claim nothing that this machine cannot confirm, whoever made it; what an earlier one claims
// does not matter, and what somebody changes during the sync is committed first.
func TestClaimsInTheNewestCommit(t *testing.T) {
	t.Parallel()
	dir, remote := filepath.Join(t.TempDir(), "memory"), bare(t)
	known := ""
	o := options(t, dir)
	o.Remote = remote
	o.Claims = func(_ string, data []byte) string {
		if strings.HasPrefix(string(data), "claims") && string(data) != known {
			return "it claims too much"
		}
		return ""
	}
	sync := func() replica.Outcome {
		t.Helper()
		out, err := open(t, o).Sync(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	commit := func(text string) {
		t.Helper()
		replicatest.Write(t, dir, map[string]string{"semantic/b.md": text})
		run(t, dir, "add", "-A")
		run(t, dir, "-c", "user.name=anamnesis", "-c", "user.email=anamnesis@one", "commit", "-qm", "anamnesis: sync from one at some time")
	}
	replicatest.Write(t, dir, map[string]string{"semantic/a.md": "a\n", "semantic/b.md": "claims 0\n"})
	if out := sync(); !out.Pushed || len(out.HeldFiles) != 1 || committed(t, remote)["semantic/b.md"] != "" {
		t.Errorf("in the tree: %+v", out)
	}
	commit("claims 0\n")
	if out := sync(); out.Pushed || !out.Conflicted || len(out.HeldFiles) != 1 || !strings.Contains(out.Detail, "not pushed") {
		t.Errorf("in a commit under the name of a sync: %+v", out)
	}
	commit("b\n")
	if out := sync(); !out.Pushed || out.Conflicted || committed(t, remote)["semantic/b.md"] != "b\n" {
		t.Errorf("taken out by a later commit: %+v", out)
	}

	known = "claims 1\n"
	replicatest.Write(t, dir, map[string]string{"semantic/b.md": known})
	confirms, first := o.Claims, true
	o.Claims = func(path string, data []byte) string {
		why := confirms(path, data)
		if first { // a person edits the note as soon as it is committed
			first, known = false, "claims 2\n"
			replicatest.Write(t, dir, map[string]string{"semantic/b.md": known})
		}
		return why
	}
	if out := sync(); !out.Pushed || out.Conflicted || committed(t, remote)["semantic/b.md"] != "claims 2\n" {
		t.Errorf("edited during the sync: %+v", out)
	}
	known = "another\n"
	replicatest.Write(t, dir, map[string]string{"semantic/a.md": "a, changed\n"})
	if out := sync(); !out.Pushed || out.Conflicted {
		t.Errorf("what the remote has needs no look: %+v", out)
	}
}
