package repo_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/note"
	"anamnesis/internal/redact"
	"anamnesis/internal/team/repo"
)

// A world is a repository of a team as a bare repository on the disk, and one user's
// machine with its own git configuration.
type world struct {
	t    *testing.T
	hub  string // the bare repository
	home string
	dir  string // of the Place
	o    repo.Options
}

const now = "2026-11-20T10:00:00+00:00"

func newWorld(t *testing.T) *world {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not on PATH")
	}
	w := &world{t: t, hub: filepath.Join(t.TempDir(), "team.git"), home: t.TempDir(), dir: t.TempDir()}
	w.o = repo.Options{Remote: w.hub, High: repo.ToBranch, Medium: repo.ToRequest, Branch: "knowledge/high", Host: repo.HostAuto}
	w.config("[user]\nname = Ada\nemail = ada@example.org\n")
	w.git(t.TempDir(), "init", "-q", "--bare", "-b", "main", w.hub)
	w.teammate("main", "README.md", "# Knowledge\n")
	return w
}

func (w *world) config(text string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.home, ".gitconfig"), []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// env is the environment of the user, with more in front of the PATH.
func (w *world) env(path ...string) []string {
	return []string{"HOME=" + w.home, "PATH=" + strings.Join(append(path, os.Getenv("PATH")), string(os.PathListSeparator))}
}

func (w *world) git(dir string, args ...string) string {
	w.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=Bob", "-c", "user.email=bob@example.org"}, args...)...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull)
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// teammate commits a file to a branch of the hub, as somebody else does.
func (w *world) teammate(branch, name, text string) {
	w.t.Helper()
	dir := filepath.Join(w.t.TempDir(), "mate")
	if out, err := exec.Command("git", "-C", w.hub, "rev-parse", "-q", "--verify", "refs/heads/"+branch).Output(); err == nil && len(out) > 0 {
		w.git(w.home, "clone", "-q", "-b", branch, w.hub, dir)
	} else {
		w.git(w.home, "init", "-q", "-b", branch, dir)
		w.git(dir, "remote", "add", "origin", w.hub)
	}
	at := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
	w.git(dir, "add", "-A")
	w.git(dir, "commit", "-q", "-m", "by hand")
	w.git(dir, "push", "-q", "origin", "HEAD:"+branch)
}

// read returns a file of a branch, "" when there is none.
func (w *world) read(branch, name string) string {
	w.t.Helper()
	out, err := exec.Command("git", "-C", w.hub, "show", branch+":"+name).Output()
	if err != nil {
		return ""
	}
	return string(out)
}

func (w *world) branches() []string {
	return strings.Fields(w.git(w.hub, "for-each-ref", "--format=%(refname:short)", "refs/heads"))
}

func (w *world) open(path ...string) *repo.Repo {
	w.t.Helper()
	rd, err := redact.New()
	if err != nil {
		w.t.Fatal(err)
	}
	r, err := repo.Open(repo.Place{
		Dir: w.dir, Env: w.env(path...), Redactor: rd, Timeout: 20 * time.Second,
		Now: func() time.Time { return time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC) },
	}, w.o)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

func (w *world) share(docs ...repo.Document) []repo.Item {
	w.t.Helper()
	items, err := w.open().Share(w.t.Context(), docs)
	if err != nil {
		w.t.Fatal(err)
	}
	return items
}

// one shares one note and checks its state.
func (w *world) one(d repo.Document, want repo.State) repo.Item {
	w.t.Helper()
	it := w.share(d)[0]
	if it.State != want {
		w.t.Fatalf("%s is %s (%s), want %s", it.ID, it.State, it.Why, want)
	}
	return it
}

// doc is a note as it stands in a store.
func doc(id note.ID, confidence float64, change func(*note.Note)) repo.Document {
	n := &note.Note{
		ID: id, Type: note.Semantic, Title: "Port of " + string(id), Body: "It is 8080.\n\nSee the chart.", Project: "payments", MachineID: "m",
		Scope: note.Portable, UserID: "self", WorkspaceID: "w", Provenance: note.Provenance{Source: note.Human, Confidence: confidence},
		CreatedAt: now, UpdatedAt: now, Tags: []string{"a"},
	}
	if change != nil {
		change(n)
	}
	return repo.Document{Path: fmt.Sprintf("memory/%s/%s.md", n.Type, n.ID), Data: n.Format()}
}

func path(id note.ID) string { return "documents/" + string(id) + ".md" }
