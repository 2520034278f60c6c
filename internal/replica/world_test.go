package replica_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"anamnesis/internal/replica"
	"anamnesis/internal/replica/replicatest"
	"anamnesis/internal/store/storetest"
)

// quickWorld are the cases of the contract that a quick run runs with git.
var quickWorld = []string{"first push and first pull", "merge", "conflict", "delete against edit", "held"}

func TestGitWorld(t *testing.T) {
	replicatest.RunWorld(t, func(t *testing.T) replicatest.World {
		storetest.SkipQuick(t, quickWorld...)
		t.Parallel()
		return gitWorld(t)
	})
}

// gitWorld is a world whose remotes are repositories of git.
func gitWorld(t *testing.T) replicatest.World {
	w := replicatest.World{Remote: bare(t), Other: bare(t)}
	w.Open = func(t *testing.T, o replica.Options) replica.Backend {
		return open(t, filled(t, o))
	}
	w.Cut = func(t *testing.T, remote string, down bool) {
		from, to := remote, remote+".cut"
		if !down {
			from, to = to, from
		}
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	w.Point = func(t *testing.T, remote, like string) {
		run(t, remote, "fetch", "-q", "--prune", like, "+refs/heads/*:refs/heads/*")
	}
	w.Files = committed
	return w
}

func TestHubWorld(t *testing.T) {
	replicatest.RunWorld(t, func(t *testing.T) replicatest.World {
		hub := replicatest.NewHub()
		return replicatest.World{
			Remote: "one", Other: "two",
			Open: func(t *testing.T, o replica.Options) replica.Backend {
				b, err := hub.Open(o)
				if err != nil {
					t.Fatal(err)
				}
				return b
			},
			Cut:   func(_ *testing.T, remote string, down bool) { hub.Cut(remote, down) },
			Point: func(_ *testing.T, remote, like string) { hub.Point(remote, like) },
			Files: func(_ *testing.T, remote string) map[string]string { return hub.Files(remote) },
		}
	})
}

func TestHub(t *testing.T) {
	hub := replicatest.NewHub()
	replicatest.Run(t, replicatest.Subject{
		Open: func(t *testing.T, dir string) replica.Backend {
			b, err := hub.Open(replica.Options{Dir: dir, MachineID: "studio-desktop"})
			if err != nil {
				t.Fatal(err)
			}
			return b
		},
		Kept: func(_ *testing.T, dir string) []string {
			var names []string
			for name := range hub.Kept(dir) {
				names = append(names, name)
			}
			return names
		},
	})
}

// bare makes an empty remote.
func bare(t *testing.T) string {
	t.Helper()
	at := filepath.Join(t.TempDir(), "notes.git")
	run(t, t.TempDir(), "init", "-q", "--bare", "--template=", "--initial-branch=main", at)
	return at
}

// filled gives options what the tests of git need.
func filled(t *testing.T, o replica.Options) replica.Options {
	t.Helper()
	d := options(t, o.Dir)
	o.Env = append(d.Env, o.Env...)
	if o.Now == nil {
		o.Now = d.Now
	}
	return o
}

// committed reads the branch main of a repository, without what git adds.
func committed(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	if git(dir, "rev-parse", "--verify", "-q", "refs/heads/main").Run() != nil {
		return files
	}
	var names, ids []string
	for _, row := range cut(run(t, dir, "ls-tree", "-r", "-z", "refs/heads/main")) {
		head, name, _ := strings.Cut(row, "\t")
		if name != ".gitattributes" {
			names, ids = append(names, name), append(ids, strings.Fields(head)[2])
		}
	}
	batch := git(dir, "cat-file", "--batch")
	batch.Stdin = strings.NewReader(strings.Join(ids, "\n") + "\n")
	out, err := batch.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		head, rest, _ := bytes.Cut(out, []byte("\n"))
		size, err := strconv.Atoi(strings.Fields(string(head))[2])
		if err != nil {
			t.Fatalf("git cat-file: %q", head)
		}
		files[name], out = string(rest[:size]), rest[size+1:]
	}
	return files
}
