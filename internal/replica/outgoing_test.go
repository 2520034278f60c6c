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
