package replica_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"anamnesis/internal/replica"

	"github.com/google/go-cmp/cmp"
)

// A madeRepository is a folder with three files, of which two were committed last and one
// was changed since.
func madeRepository(t *testing.T, args ...string) (dir string, env []string, git func(dir string, args ...string)) {
	t.Helper()
	dir = t.TempDir()
	env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1"}
	git = func(dir string, args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{
			"-C", dir, "-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "protocol.file.allow=always",
		}, args...)...)
		cmd.Env = env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Skipf("git %v: %v\n%s", args, err, out)
		}
	}
	git(dir, append([]string{"init", "-q", "-b", "main"}, args...)...)
	write(t, dir, "a.go", "1")
	git(dir, "add", ".")
	git(dir, "commit", "-qm", "first")
	write(t, dir, "b.go", "1")
	write(t, dir, "c.go", "1")
	git(dir, "add", ".")
	git(dir, "commit", "-qm", "second")
	write(t, dir, "c.go", "2")
	return dir, env, git
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// What is in work is seen in repositories of all kinds that have their refs in files: of
// either hash, with packed refs, in a second working tree, in a submodule.
func TestStrangerKinds(t *testing.T) {
	for name, args := range map[string][]string{"sha1": nil, "sha256": {"--object-format=sha256"}} {
		t.Run(name, func(t *testing.T) {
			dir, env, git := madeRepository(t, args...)
			look := func(at string, changed, recent []string) {
				t.Helper()
				if d := cmp.Diff(changed, replica.Changed(t.Context(), at, env)); d != "" {
					t.Errorf("changed (-want +got):\n%s", d)
				}
				if d := cmp.Diff(recent, replica.Recent(t.Context(), at, env)); d != "" {
					t.Errorf("recent (-want +got):\n%s", d)
				}
			}
			look(dir, []string{"c.go"}, []string{"a.go", "c.go", "b.go"})
			git(dir, "pack-refs", "--all")
			git(dir, "checkout", "-q", "--detach")
			look(dir, []string{"c.go"}, []string{"a.go", "c.go", "b.go"})
			git(dir, "checkout", "-q", "main")
			look(dir, []string{"c.go"}, []string{"a.go", "c.go", "b.go"})
			other := filepath.Join(t.TempDir(), "other")
			git(dir, "worktree", "add", "-q", "-b", "side", other)
			write(t, other, "a.go", "2")
			look(other, []string{"a.go"}, []string{"a.go", "c.go", "b.go"})
			if name == "sha1" {
				git(dir, "submodule", "--quiet", "add", dir, "sub")
				write(t, filepath.Join(dir, "sub"), "b.go", "2")
				look(filepath.Join(dir, "sub"), []string{"b.go"}, []string{"a.go", "c.go", "b.go"})
				look(dir, []string{".gitmodules", "c.go"}, []string{"a.go", "c.go", "b.go"})
			}
		})
	}
}

// Of a repository that is broken, or made to harm, nothing is known, and nobody waits.
func TestStrangerHostile(t *testing.T) {
	whole, env, _ := madeRepository(t)
	head, err := os.ReadFile(filepath.Join(whole, ".git", "refs", "heads", "main"))
	if err != nil {
		t.Fatal(err)
	}
	parent := exec.Command("git", "-C", whole, "rev-parse", "HEAD~1")
	parent.Env = env
	first, err := parent.Output()
	if err != nil {
		t.Fatal(err)
	}
	pipe := func(at string) {
		_ = os.RemoveAll(at)
		if out, err := exec.Command("mkfifo", at).CombinedOutput(); err != nil {
			t.Skipf("mkfifo: %v\n%s", err, out)
		}
	}
	put := func(at string, text []byte) {
		_ = os.RemoveAll(at)
		if err := os.WriteFile(at, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, harm := range map[string]func(dir, git string){
		"pipe for .git":      func(_, git string) { pipe(git) },
		"huge .git":          func(_, git string) { put(git, bytes.Repeat([]byte("gitdir: /"), 1<<20)) },
		".git to itself":     func(_, git string) { put(git, []byte("gitdir: .git\n")) },
		".git to nothing":    func(_, git string) { put(git, []byte("gitdir: ../none\n")) },
		"link to itself":     func(dir, git string) { _ = os.RemoveAll(git); _ = os.Symlink(git, git) },
		"pipe for HEAD":      func(_, git string) { pipe(filepath.Join(git, "HEAD")) },
		"HEAD outside":       func(_, git string) { put(filepath.Join(git, "HEAD"), []byte("ref: refs/../../secret\n")) },
		"HEAD an option":     func(_, git string) { put(filepath.Join(git, "HEAD"), []byte("--upload-pack=x\n")) },
		"HEAD of reftable":   func(_, git string) { put(filepath.Join(git, "HEAD"), []byte("ref: refs/heads/.invalid\n")) },
		"pipe for the ref":   func(_, git string) { pipe(filepath.Join(git, "refs", "heads", "main")) },
		"ref to nowhere":     func(_, git string) { put(filepath.Join(git, "refs", "heads", "main"), bytes.Repeat([]byte("1"), 40)) },
		"objects a file":     func(_, git string) { put(filepath.Join(git, "objects"), nil) },
		"common in a circle": func(_, git string) { put(filepath.Join(git, "commondir"), []byte("nowhere")) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
				t.Fatal(err)
			}
			harm(dir, filepath.Join(dir, ".git"))
			if got := replica.Recent(t.Context(), dir, env); got != nil {
				t.Errorf("recent: %q", got)
			}
			if got := replica.Unmerged(t.Context(), dir, "main", []string{"side", "../x", "a b"}, env); got != nil {
				t.Errorf("unmerged: %q", got)
			}
			// Before its first commit all that is staged differs, so only what is said at
			// all is looked at here.
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if replica.Changed(ctx, dir, env); ctx.Err() != nil {
				t.Error("it waited")
			}
		})
	}
	for name, harm := range map[string]func(index string){
		"pipe":  pipe,
		"short": func(index string) { put(index, []byte("DIRC")) },
		"noise": func(index string) { put(index, bytes.Repeat([]byte("DIRC\x00\x00\x00\x02\xff\xff\xff\xff"), 4096)) },
		"none":  func(index string) { _ = os.Remove(index) },
	} {
		harm(filepath.Join(whole, ".git", "index"))
		if got := replica.Changed(t.Context(), whole, env); got != nil {
			t.Errorf("index %s: %q", name, got)
		}
	}
	// Packed refs that name what git does not take say nothing and break nothing.
	packed := "# pack-refs with: peeled fully-peeled sorted \n" + string(bytes.TrimSpace(head)) + " refs/heads/a..b\n" +
		string(bytes.TrimSpace(head)) + " refs/heads/side\nnoise\n" + string(bytes.Repeat([]byte("x"), 1<<17)) + "\n"
	put(filepath.Join(whole, ".git", "packed-refs"), []byte(packed))
	put(filepath.Join(whole, ".git", "refs", "heads", "main"), first)
	if got := replica.Unmerged(t.Context(), whole, "main", []string{"side", "a..b", "--x", "-c", "x\ny"}, env); !slices.Equal(got, []string{"side"}) {
		t.Errorf("unmerged: %q", got)
	}
}
