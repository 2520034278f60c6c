package repo_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"anamnesis/internal/note"
	"anamnesis/internal/redact"
	"anamnesis/internal/replica"
	"anamnesis/internal/team/repo"
)

// Whatever the repository holds in the place of a note, nothing of it is run or
// becomes a file, the note is held, and the others go.
func TestHostileRepository(t *testing.T) {
	for _, c := range []struct {
		name, entries, want string
	}{
		{"a link as the folder", "120000 BLOB\tdocuments\n", "a link in the place of the folder"},
		{"a file as the folder", "100644 BLOB\tdocuments\n", "a file in the place of the folder"},
		{"a link as the note", "120000 BLOB\tdocuments/a.md\n", "a link in its place"},
		{"a link as the sidecar", "120000 BLOB\tdocuments/a.entities.yaml\n", "a link in its place"},
		{"a folder as the note", "100644 BLOB\tdocuments/a.md/x\n", "a folder in its place"},
		{"the note twice", "100644 BLOB\tdocuments/x/a.md\n100644 BLOB\tdocuments/y/a.md\n", "two places"},
		{"a submodule as the note", "160000 COMMIT\tdocuments/a.md\n", "another repository in its place"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.tree(c.entries, "/etc/passwd")
			items := w.share(doc("a", .9, nil), doc("b", .9, nil))
			if items[0].State != repo.Held || !strings.Contains(items[0].Why, c.want) {
				t.Errorf("got %s: %q, want %q", items[0].State, items[0].Why, c.want)
			}
			if strings.Contains(c.want, "of the folder") {
				return // nothing can go
			}
			if items[1].State != repo.Pushed {
				t.Errorf("the other note is %s: %s", items[1].State, items[1].Why)
			}
		})
	}
}

// tree makes a commit on main with entries beside the README, all of one blob.
func (w *world) tree(entries, blob string) {
	w.t.Helper()
	cmd := exec.Command("git", "hash-object", "-w", "--stdin")
	cmd.Dir, cmd.Stdin = w.hub, strings.NewReader(blob)
	out, err := cmd.Output()
	if err != nil {
		w.t.Fatal(err)
	}
	head := w.git(w.hub, "rev-parse", "main")
	index := filepath.Join(w.t.TempDir(), "index")
	at := func(in string, args ...string) string {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Stdin, cmd.Env = w.hub, strings.NewReader(in), append(os.Environ(), "GIT_INDEX_FILE="+index, "GIT_AUTHOR_NAME=Eve",
			"GIT_AUTHOR_EMAIL=e@x", "GIT_COMMITTER_NAME=Eve", "GIT_COMMITTER_EMAIL=e@x")
		out, err := cmd.CombinedOutput()
		if err != nil {
			w.t.Fatalf("git %q: %v %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	rows := strings.NewReplacer("BLOB", strings.TrimSpace(string(out)), "COMMIT", head).Replace(entries)
	at("", "read-tree", "main")
	at(rows, "update-index", "--index-info")
	commit := at("", "commit-tree", at("", "write-tree", "--missing-ok"), "-p", head, "-m", "x")
	w.git(w.hub, "update-ref", "refs/heads/main", commit)
}

func TestHostileContent(t *testing.T) {
	w := newWorld(t)
	mark := filepath.Join(w.home, "run")
	hook := "#!/bin/sh\ntouch " + mark + "\n"
	for _, file := range [][2]string{
		{".gitmodules", "[submodule \"x\"]\npath = x\nurl = https://example.invalid/x\n"},
		{".gitconfig", "[core]\nhooksPath = hooks\n"},
		{"hooks/post-checkout", hook},
		{"hooks/pre-push", hook},
		{"documents/.gitattributes", "*.md filter=evil\n"},
		{".gitattributes", "* filter=evil text eol=crlf ident merge=evil\ndocuments/*.md working-tree-encoding=UTF-16\n"},
	} {
		w.teammate("main", file[0], file[1])
	}
	// The user's git knows a filter of that name, and has hooks for all repositories.
	hooks := filepath.Join(w.home, "hooks")
	for _, name := range []string{"pre-push", "post-checkout", "reference-transaction", "post-index-change", "pre-commit", "post-commit"} {
		script(t, filepath.Join(hooks, name), hook)
	}
	w.config("[user]\nname = Ada\nemail = a@x\n[filter \"evil\"]\nclean = touch " + mark + "\nsmudge = touch " + mark + "\nrequired = true\n" +
		"[core]\nhooksPath = " + hooks + "\nfsmonitor = touch " + mark + "\n[merge \"evil\"]\ndriver = touch " + mark + "\n")
	for _, name := range []string{"pre-receive", "update", "post-receive"} {
		script(t, filepath.Join(w.hub, "hooks", name), hook)
	}
	w.one(doc("a", .9, nil), repo.Pushed)
	if _, err := os.Stat(mark); err == nil {
		t.Error("something of the repository or of the user's hooks was run")
	}
	if w.read("knowledge/high", path("a")) != string(doc("a", .9, nil).Data) {
		t.Error("the bytes of the note were changed")
	}
	names, err := os.ReadDir(filepath.Join(w.dir, "clone"))
	if err != nil || len(names) != 1 || names[0].Name() != ".git" {
		t.Errorf("files were checked out: %v %v", names, err)
	}
}

func TestHostileNote(t *testing.T) {
	d := doc("a", .9, nil)
	text := string(d.Data)
	for _, c := range []struct{ name, theirs, want string }{
		{"another note", strings.Replace(text, "id: a\n", "id: b\n", 1), "another note in its place"},
		{"a large file", text + strings.Repeat("x", replica.MaxFile), "larger than 2 MiB"},
		{"machine-local", strings.Replace(text, "scope: portable", "scope: machine-local", 1), "machine-local"},
		{"global", strings.Replace(text, "project: payments", "project: global", 1), "global"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.teammate("main", path("a"), text)
			w.teammate("main", path("a"), c.theirs)
			d := doc("a", .9, func(n *note.Note) { n.Body, n.UpdatedAt = "It is 9090.", "2026-11-21T10:00:00+00:00" })
			if it := w.one(d, repo.Held); !strings.Contains(it.Why, c.want) {
				t.Errorf("got %q, want %q", it.Why, c.want)
			}
		})
	}
	// What is no note loses, is named, and stays in the history.
	w := newWorld(t)
	w.teammate("main", path("a"), "\x00\xff no note")
	w.o.High = repo.ToDefault
	it := w.one(d, repo.Pushed)
	if it.Route != repo.ToRequest || !slices.Contains(it.Both, note.WholeFile) || !strings.Contains(w.read("main", path("a")), "no note") {
		t.Errorf("got %+v", it)
	}
}

// Several people share into one branch at once: nobody's note is lost, nothing is forced.
func TestBranchMoves(t *testing.T) {
	w := newWorld(t)
	rd, err := redact.New()
	if err != nil {
		t.Fatal(err)
	}
	const people, notes = 3, 2
	dirs := make([]string, people)
	for i := range dirs {
		dirs[i] = t.TempDir()
	}
	var all sync.WaitGroup
	errs := make(chan error, people*notes)
	for person := range people {
		all.Go(func() {
			for n := range notes {
				r, err := repo.Open(repo.Place{
					Dir: dirs[person], Env: w.env(), Redactor: rd, Timeout: 20 * time.Second,
					Now: time.Now,
				}, w.o)
				if err != nil {
					errs <- err
					return
				}
				id := note.ID(fmt.Sprintf("p%dn%d", person, n))
				for range 5 { // enough others may be faster in every try of a run
					var items []repo.Item
					if items, err = r.Share(context.Background(), []repo.Document{doc(id, .9, nil)}); err != nil || items[0].State != repo.Failed {
						break
					}
					err = fmt.Errorf("%s: %s", id, items[0].Why)
				}
				errs <- err
			}
		})
	}
	all.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			t.Error(err)
		}
	}
	for person := range people {
		for n := range notes {
			if id := note.ID(fmt.Sprintf("p%dn%d", person, n)); w.read("knowledge/high", path(id)) == "" {
				t.Errorf("%s is lost", id)
			}
		}
	}
	if got := w.git(w.hub, "rev-list", "--count", "main..knowledge/high"); got != fmt.Sprint(people*notes) {
		t.Errorf("%s commits", got)
	}
}
