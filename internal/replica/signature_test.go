package replica_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"anamnesis/internal/replica"
)

// signing begins the scripts of TestSignatures: Ada's signed commit of docs/a.md is there.
const signing = `set -e
export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=Ada GIT_AUTHOR_EMAIL=ada@example.org GIT_COMMITTER_NAME=Ada GIT_COMMITTER_EMAIL=ada@example.org
signed() { git add -A; git -c gpg.format=ssh -c user.signingKey="$KEYS/$1" commit -q -S -m "$1"; }
plain() { git add -A; git commit -qm plain; }
put() { mkdir -p docs; echo "$1" >docs/a.md; }
merge() { git merge -q --no-commit --no-ff "$@" >/dev/null 2>&1 || true; }
git init -q -b main .
echo x >README; plain
put one; echo b >docs/b.md; signed ada
`

// A file is of whose key signed the commit that gave it its form, in every form that a history can have.
func TestSignatures(t *testing.T) {
	keys := t.TempDir()
	for _, tool := range []string{"git", "ssh-keygen"} {
		if _, err := exec.LookPath(tool); err != nil {
			if os.Getenv("ANAMNESIS_CI") != "" {
				t.Fatal(err)
			}
			t.Skipf("no commit can be signed: %v", err)
		}
	}
	var signers strings.Builder
	for _, name := range []string{"ada", "eve", "stranger"} {
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(keys, name)).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		public, err := os.ReadFile(filepath.Join(keys, name+".pub"))
		if err != nil {
			t.Fatal(err)
		}
		if name != "stranger" {
			signers.WriteString(name + " " + string(public))
		}
	}
	home := t.TempDir()
	for name, text := range map[string]string{
		"signers":    signers.String(),
		".gitconfig": "[gpg \"ssh\"]\nallowedSignersFile = " + filepath.Join(home, "signers") + "\n",
	} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ name, script, want string }{
		{"signed", ``, "ada"},
		{"a later commit of another file", `echo c >docs/c.md; plain`, "ada"},
		{"changed without a signature", `put two; plain`, ""},
		{"changed back without a signature", `put two; plain; put one; plain`, ""},
		{"changed with the key of another", `put two; signed eve`, "eve"},
		{"changed with an unknown key", `put two; signed stranger`, ""},
		{"the mode alone", `chmod +x docs/a.md; git add -A; git update-index --chmod=+x docs/a.md; git commit -qm mode`, ""},
		{"moved away and back", `git mv docs/a.md docs/z.md; plain; git mv docs/z.md docs/a.md; plain`, ""},
		{"a side branch with an older date", `git checkout -qb side; put two
			GIT_COMMITTER_DATE='2001-01-01T00:00:00Z' GIT_AUTHOR_DATE='2001-01-01T00:00:00Z' plain
			git checkout -q main; echo c >docs/c.md; plain; merge side; plain`, ""},
		{"a commit whose date is before that of its parent", `put two; plain; echo c >docs/c.md; signed ada; git checkout -qb side; echo d >docs/d.md
			GIT_COMMITTER_DATE='2001-01-01T00:00:00Z' plain
			git checkout -q main; put three; plain; merge side; put two; plain`, ""},
		{"a side branch, merged by a signature that keeps it as it is", `git checkout -qb side; put two; plain
			git checkout -q main; echo c >docs/c.md; plain; merge side; signed ada`, ""},
		{"a merge that makes something else of it", `git checkout -qb side; put two; plain
			git checkout -q main; put three; signed ada; merge side; put four; plain`, ""},
		{"a merge that makes something else of it, signed", `git checkout -qb side; put two; plain
			git checkout -q main; put three; plain; merge side; put four; signed ada`, "ada"},
		{"a merge that takes nothing over", `git checkout -qb side; put two; plain
			git checkout -q main; echo c >docs/c.md; plain; git merge -q -s ours side`, "ada"},
		{"a merge with Ada's form second", `git checkout -qb side; put two; signed ada
			git checkout -q main; echo c >docs/c.md; plain; merge side; plain`, "ada"},
		{"the signature of another commit", `put two; git add -A; tree=$(git write-tree)
			git cat-file commit HEAD | sed "1s/.*/tree $tree/; s/^parent .*/parent $(git rev-parse HEAD)/" >forged
			git update-ref HEAD "$(git hash-object -t commit -w forged)"`, ""},
		{"a list of signers in the repository", `(cat "$KEYS/stranger.pub" | sed 's/^/ada /') >.allowed_signers
			git config gpg.ssh.allowedSignersFile .allowed_signers; put two; signed stranger`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			hub := t.TempDir()
			cmd := exec.Command("sh", "-c", signing+c.script)
			cmd.Dir, cmd.Env = hub, append(os.Environ(), "KEYS="+keys)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			o := options(t, filepath.Join(t.TempDir(), "clone"))
			o.Remote, o.Env = hub, []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
			r, err := replica.OpenClone(o)
			if err != nil {
				t.Fatal(err)
			}
			heads, err := r.Fetch(t.Context(), "main")
			if err != nil {
				t.Fatal(err)
			}
			got, err := r.Signatures(t.Context(), heads["main"], "docs", []string{"docs/a.md", "docs/b.md"})
			if err != nil || got["docs/a.md"].Signer != c.want || (got["docs/a.md"].Key != "") != (c.want != "") || got["docs/b.md"].Signer != "ada" {
				t.Errorf("%+v, %v, want %q", got, err, c.want)
			}
		})
	}
}
