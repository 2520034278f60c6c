package repo_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"anamnesis/internal/note"
	"anamnesis/internal/replica"
	"anamnesis/internal/store/storetest"
	"anamnesis/internal/team/repo"
)

func TestRoutes(t *testing.T) {
	w := newWorld(t)
	items := w.share(doc("high1", .9, nil), doc("med1", .6, nil), doc("low1", .3, nil))
	if items[0].State != repo.Pushed || items[0].Branch != "knowledge/high" || !strings.Contains(items[0].Why, "from knowledge/high into main") {
		t.Errorf("high: %+v", items[0])
	}
	if items[1].State != repo.Pushed || !strings.HasPrefix(items[1].Branch, "knowledge/port-of-med1-") ||
		!strings.Contains(items[1].Why, "open a request from "+items[1].Branch) {
		t.Errorf("medium: %+v", items[1])
	}
	if items[2].State != repo.Queued || items[2].Branch != "" {
		t.Errorf("low: %+v", items[2])
	}
	want := []string{"knowledge/high", items[1].Branch, "main"}
	if got := w.branches(); !slices.Equal(got, want) {
		t.Errorf("branches %v, want %v", got, want)
	}
	if w.read("knowledge/high", path("high1")) != string(doc("high1", .9, nil).Data) || w.read(items[1].Branch, path("med1")) == "" {
		t.Error("the notes are not on their branches")
	}
	if w.read("knowledge/high", "documents/high1.entities.yaml") == "" || w.read("knowledge/high", "README.md") == "" {
		t.Error("the sidecar or the README is missing")
	}
	if got := w.git(w.hub, "log", "--all", "--format=%s|%an <%ae>", "--author=Ada"); !strings.Contains(got, "feat(knowledge): Port of high1 [HIGH]|Ada <ada@example.org>") ||
		!strings.Contains(got, "docs(knowledge): Port of med1 [MED]|") || strings.Contains(got, "low1") {
		t.Errorf("the log reads\n%s", got)
	}
	for _, d := range []repo.Document{doc("high1", .9, nil), doc("med1", .6, nil)} {
		w.one(d, repo.Unchanged)
	}
}

// The default branch is pushed to only when a setting says so.
func TestDefaultBranch(t *testing.T) {
	w := newWorld(t)
	main := w.git(w.hub, "rev-parse", "main")
	w.o.Branch = "main"
	if _, err := w.open().Share(t.Context(), []repo.Document{doc("a", 1, nil)}); err == nil || !strings.Contains(err.Error(), "team.repo.high") {
		t.Errorf("team.repo.branch names the default branch: %v", err)
	}
	w.o.Branch = "knowledge/high"
	w.one(doc("a", 1, nil), repo.Pushed)
	if w.git(w.hub, "rev-parse", "main") != main {
		t.Fatal("the default branch moved")
	}
	w.o.High = repo.ToDefault
	w.one(doc("a", 1, nil), repo.Pushed)
	if w.read("main", path("a")) == "" {
		t.Error("the note is not on the default branch")
	}
	// What needs a look goes to a request also then.
	w.teammate("main", path("a"), strings.Replace(w.read("main", path("a")), "8080", "7070", 1))
	it := w.one(doc("a", 1, func(n *note.Note) { n.Body, n.UpdatedAt = "It is 9090.\n\nSee the chart.", "2026-11-21T10:00:00+00:00" }), repo.Pushed)
	if it.Route != repo.ToRequest || !slices.Contains(it.Both, note.BodyKey) || !strings.Contains(w.read("main", path("a")), "7070") ||
		!strings.Contains(w.read(it.Branch, path("a")), "9090") {
		t.Errorf("both changed the body: %+v", it)
	}
}

func TestHeld(t *testing.T) {
	token := "ghp_" + "0123456789abcdefABCDEF0123456789abcd"
	secret := doc("secret", .9, func(n *note.Note) { n.Body = "the token is " + token })
	inSidecar := doc("sidecar", .9, nil)
	inSidecar.Sidecar = []byte("entities:\n- name: the token is " + token + "\n")
	local := doc("local", .9, nil)
	local.Path = "local/semantic/local.md"
	says := doc("says", .9, func(n *note.Note) { n.Scope = note.Local })
	large := doc("large", .9, nil)
	large.Data = append(large.Data, strings.Repeat("x", replica.MaxFile)...)
	broken := doc("broken", .9, nil)
	broken.Data = []byte("no front matter")
	other := doc("other", .9, nil)
	other.Path = "memory/semantic/another.md"
	escape := doc("escape", .9, nil)
	escape.Path = "memory/semantic/../../../escape.md"
	marks := doc("marks", .9, func(n *note.Note) { n.Body = "<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs" })
	kept := doc("kept", .9, nil)
	kept.Kept = "it was forgotten"
	w := newWorld(t)
	for _, c := range []struct {
		d    repo.Document
		want string
	}{
		{secret, "looks like a secret ("},
		{inSidecar, "looks like a secret ("},
		{doc("private", .9, func(n *note.Note) { n.Body = "a <private>b</private> c" }), "secret (private)"},
		{local, "machine-local"},
		{says, "machine-local"},
		{doc("global", .9, func(n *note.Note) { n.Project = note.Global }), "global"},
		{doc("quarantined", .9, func(n *note.Note) { n.Quarantine = true }), "orders to an agent"},
		{doc("slot", .9, func(n *note.Note) { n.Kind = note.Slot }), "slot"},
		{large, "2 MiB"},
		{broken, "cannot be read"},
		{other, "another name"},
		{escape, "no note of the store"},
		{marks, "conflict markers"},
		{doc("title", .9, func(n *note.Note) { n.Title = " " }), "cannot be read"},
		{kept, "forgotten"},
	} {
		it := w.one(c.d, repo.Held)
		if !strings.Contains(it.Why, c.want) || strings.Contains(it.Why, token) {
			t.Errorf("%s: %q, want %q", c.d.Path, it.Why, c.want)
		}
	}
	if got := w.branches(); !slices.Equal(got, []string{"main"}) {
		t.Errorf("branches %v", got)
	}
	if left, _ := os.ReadDir(w.dir); len(left) > 0 {
		t.Errorf("there is a clone although nothing went: %v", left)
	}
	// Those that may go do so beside those that may not.
	items := w.share(secret, doc("fine", .9, nil))
	if items[0].State != repo.Held || items[1].State != repo.Pushed {
		t.Errorf("got %+v", items)
	}
	if strings.Contains(w.git(w.hub, "log", "-p", "--all"), token) {
		t.Error("the secret went")
	}
}

// A note that its owner has read is offered for a review, and one whose confidence
// nobody said is no sure one.
func TestConfidence(t *testing.T) {
	w := newWorld(t)
	read := doc("read", .3, nil)
	read.Reviewed = true
	unsaid := doc("unsaid", 1, nil)
	unsaid.Data = []byte(strings.Replace(string(unsaid.Data), "confidence: 1\n", "", 1))
	unsaid.Data = []byte(strings.Replace(string(unsaid.Data), "confidence: 1.0\n", "", 1))
	if strings.Contains(string(unsaid.Data), "confidence") {
		t.Fatalf("the note reads\n%s", unsaid.Data)
	}
	items := w.open().Plan([]repo.Document{
		read, unsaid, doc("b80", .8, nil), doc("b79", .79, nil), doc("b50", .5, nil), doc("b49", .49, nil),
		doc("speculative", .9, func(n *note.Note) { n.Speculative = true }),
	})
	want := []string{repo.ToRequest, repo.ToRequest, repo.ToBranch, repo.ToRequest, repo.ToRequest, repo.ToQueue, repo.ToQueue}
	for i, it := range items {
		if it.Route != want[i] {
			t.Errorf("%s goes to %s, want %s", it.ID, it.Route, want[i])
		}
	}
	w.o.High, w.o.Medium = repo.ToQueue, repo.ToBranch
	items = w.open().Plan([]repo.Document{doc("a", 1, nil), doc("b", .6, nil)})
	if items[0].State != repo.Queued || items[1].Branch != "knowledge/high" {
		t.Errorf("the settings have no say: %+v", items)
	}
}

// What the team changed stays, and is merged with what is changed here.
func TestMerge(t *testing.T) {
	w := newWorld(t)
	d := doc("a", .9, nil)
	w.one(d, repo.Pushed)
	// A reviewer changes the title on the branch, we the body.
	w.teammate("knowledge/high", path("a"), strings.Replace(w.read("knowledge/high", path("a")), "title: Port of a", "title: Port of the proxy", 1))
	w.one(d, repo.Unchanged)
	d2 := doc("a", .9, func(n *note.Note) { n.Body, n.UpdatedAt = "It is 9090.\n\nSee the chart.", "2026-11-21T10:00:00+00:00" })
	if it := w.one(d2, repo.Pushed); len(it.Both) > 0 {
		t.Errorf("nothing was changed by both: %+v", it)
	}
	got := w.read("knowledge/high", path("a"))
	if !strings.Contains(got, "Port of the proxy") || !strings.Contains(got, "9090") {
		t.Errorf("the merge reads\n%s", got)
	}
	w.one(d2, repo.Unchanged) // and takes nothing of the reviewer's back
	if w.read("knowledge/high", path("a")) != got {
		t.Error("a second run changed the branch")
	}
	// It is merged, and moved to another folder there; the branch starts over.
	w.git(w.hub, "update-ref", "refs/heads/main", "knowledge/high")
	dir := filepath.Join(t.TempDir(), "mate")
	w.git(w.home, "clone", "-q", w.hub, dir)
	if err := os.Mkdir(filepath.Join(dir, "documents", "net"), 0o700); err != nil {
		t.Fatal(err)
	}
	w.git(dir, "mv", "documents/a.md", "documents/a.entities.yaml", "documents/net/")
	w.git(dir, "commit", "-qm", "move")
	w.git(dir, "push", "-q", "origin", "HEAD:main")
	d3 := doc("a", .9, func(n *note.Note) { n.Body, n.UpdatedAt = "It is 9091.\n\nSee the chart.", "2026-11-22T10:00:00+00:00" })
	w.one(d3, repo.Pushed)
	if got := w.read("knowledge/high", "documents/net/a.md"); !strings.Contains(got, "Port of the proxy") || !strings.Contains(got, "9091") {
		t.Errorf("after the move it reads\n%s", got)
	}
	if w.read("knowledge/high", path("a")) != "" {
		t.Error("the note stands twice")
	}
	w.git(w.hub, "merge-base", "--is-ancestor", "main", "knowledge/high")
}

// What the team did not take is not offered again until it changes.
func TestDeclined(t *testing.T) {
	w := newWorld(t)
	d := doc("a", .6, nil)
	it := w.one(d, repo.Pushed)
	w.git(w.hub, "branch", "-D", it.Branch)
	w.one(d, repo.Declined)
	d = doc("a", .6, func(n *note.Note) { n.Title, n.UpdatedAt = "Another title", "2026-11-21T10:00:00+00:00" })
	again := w.one(d, repo.Pushed)
	if !strings.HasPrefix(again.Branch, "knowledge/another-title-") || again.Branch[len(again.Branch)-8:] != it.Branch[len(it.Branch)-8:] {
		t.Errorf("it is on %s, was on %s", again.Branch, it.Branch)
	}
	// While the branch is there, it is the same one whatever the title.
	d = doc("a", .6, func(n *note.Note) { n.Title, n.UpdatedAt = "A third title", "2026-11-22T10:00:00+00:00" })
	if third := w.one(d, repo.Pushed); third.Branch != again.Branch {
		t.Errorf("it is on %s, want %s", third.Branch, again.Branch)
	}
}

// A run that is killed between commit and push, between push and note of it, or
// before the request, is taken up by the next one.
func TestKilled(t *testing.T) {
	w := newWorld(t)
	hook := filepath.Join(w.home, "bin", "git")
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	// A git that dies when it is to push.
	script(t, hook, "#!/bin/sh\nfor a in \"$@\"; do if [ \"$a\" = push ]; then kill -9 $$; fi; done\nexec "+real+" \"$@\"\n")
	items, err := w.open(filepath.Dir(hook)).Share(t.Context(), []repo.Document{doc("a", .9, nil)})
	if err == nil && items[0].State != repo.Failed || len(w.branches()) != 1 {
		t.Fatalf("%+v %v, branches %v", items, err, w.branches())
	}
	w.one(doc("a", .9, nil), repo.Pushed)

	// It dies after the push: what was offered is not known, and nothing goes twice.
	w.teammate("knowledge/high", path("a"), strings.Replace(w.read("knowledge/high", path("a")), "title: Port of a", "title: Port of the proxy", 1))
	d := doc("a", .9, func(n *note.Note) { n.Body, n.UpdatedAt = "It is 9090.\n\nSee the chart.", "2026-11-21T10:00:00+00:00" })
	keep := filepath.Join(w.dir, "offered")
	before := copied(t, keep)
	w.one(d, repo.Pushed)
	head := w.git(w.hub, "rev-parse", "knowledge/high")
	restore(t, keep, before)
	w.one(d, repo.Unchanged)
	if got := w.git(w.hub, "rev-parse", "knowledge/high"); got != head {
		t.Errorf("the branch moved from %s to %s", head, got)
	}
	// Nor does another machine of the user take back what the reviewer said.
	w.dir = t.TempDir()
	w.one(d, repo.Unchanged)
	first := doc("a", .9, nil)
	w.dir = t.TempDir()
	w.one(first, repo.Unchanged)
	// The clone may go at any moment, and so may a part of it.
	for _, gone := range []string{"clone", "offered", "clone/.git/refs", "clone/.git/HEAD"} {
		if err := os.RemoveAll(filepath.Join(w.dir, gone)); err != nil {
			t.Fatal(err)
		}
		it := w.share(d)[0]
		if it.State != repo.Unchanged {
			t.Errorf("without %s it is %s: %s", gone, it.State, it.Why)
		}
	}
	if got := w.git(w.hub, "rev-parse", "knowledge/high"); got != head {
		t.Errorf("the branch moved from %s to %s", head, got)
	}
	for _, left := range []string{"clone/.git/refs/anamnesis/remote/main.lock", "clone/.git/anamnesis-index", "clone/.git/anamnesis-index.lock"} {
		script(t, filepath.Join(w.dir, filepath.FromSlash(left)), "")
	}
	w.one(doc("a", .9, func(n *note.Note) { n.Body, n.UpdatedAt = "It is 9092.", "2026-11-23T10:00:00+00:00" }), repo.Pushed)
}

func copied(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	all := make(map[string][]byte)
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if all[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func restore(t *testing.T, dir string, files map[string][]byte) {
	t.Helper()
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func script(t *testing.T, at, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		t.Fatal(err)
	}
	storetest.WriteProgram(t, at, text)
}

func TestSigned(t *testing.T) {
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("ssh-keygen is not installed")
	}
	w := newWorld(t)
	key := filepath.Join(w.home, "key")
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	user := "[user]\nname = Ada\nemail = ada@example.org\nsigningKey = " + key + "\n[commit]\ngpgSign = true\n[gpg]\nformat = ssh\n"
	w.config(user)
	it := w.one(doc("a", .9, nil), repo.Pushed)
	if got := w.git(w.hub, "cat-file", "commit", it.Commit); !strings.Contains(got, "BEGIN SSH SIGNATURE") {
		t.Errorf("the commit is not signed:\n%s", got)
	}
	w.config(strings.Replace(user, key, key+".gone", 1))
	if it := w.one(doc("b", .9, nil), repo.Failed); !strings.Contains(it.Why, "commit.gpgSign") {
		t.Errorf("a key that is gone: %q", it.Why)
	}
	if w.read("knowledge/high", path("b")) != "" {
		t.Error("a commit without a signature was pushed")
	}
	w.config("[user]\nname = Ada\n")
	if _, err := w.open().Share(t.Context(), []repo.Document{doc("c", .9, nil)}); err == nil || !strings.Contains(err.Error(), "user.email") {
		t.Errorf("no address: %v", err)
	}
}

func TestUnreachable(t *testing.T) {
	w := newWorld(t)
	w.o.Remote = filepath.Join(w.home, "nothing.git")
	items, err := w.open().Share(t.Context(), []repo.Document{doc("a", .9, nil)})
	var link *replica.LinkError
	if !errors.As(err, &link) || link.Kind != replica.LinkDown || items[0].State != repo.Planned {
		t.Errorf("%+v %v", items, err)
	}
	w.o.Remote = "https://ada:hunter2@127.0.0.1:1/x.git"
	if _, err := w.open().Share(t.Context(), []repo.Document{doc("a", .9, nil)}); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("the password: %v", err)
	}
	for _, bad := range []string{"", "ext::sh -c id", "--upload-pack=x"} {
		if _, err := repo.Open(repo.Place{Dir: w.dir}, repo.Options{Remote: bad, Branch: "b"}); !errors.Is(err, replica.ErrRemote) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	for _, bad := range []string{"", "-x", "a..b", "a b", "a//b", "x.lock", "/a"} {
		if _, err := repo.Open(repo.Place{Dir: w.dir}, repo.Options{Remote: w.hub, Branch: bad}); err == nil {
			t.Errorf("the branch %q is accepted", bad)
		}
	}
	empty := newWorld(t)
	empty.git(empty.hub, "update-ref", "-d", "refs/heads/main")
	if _, err := empty.open().Share(t.Context(), []repo.Document{doc("a", .9, nil)}); err == nil || !strings.Contains(err.Error(), "first commit") {
		t.Errorf("an empty repository: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := newWorld(t).open().Share(ctx, []repo.Document{doc("a", .9, nil)}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestManyRequests(t *testing.T) {
	w := newWorld(t)
	var docs []repo.Document
	for _, a := range "abcdefghijklmnopqrstuv" {
		docs = append(docs, doc(note.ID(a), .6, nil))
	}
	count := func(items []repo.Item, s repo.State) (n int) {
		for _, it := range items {
			if it.State == s {
				n++
			}
		}
		return n
	}
	if items := w.share(docs...); count(items, repo.Pushed) != 20 || count(items, repo.Later) != 2 {
		t.Errorf("got %+v", items)
	}
	if items := w.share(docs...); count(items, repo.Pushed) != 2 || count(items, repo.Unchanged) != 20 {
		t.Errorf("the next run: %+v", items)
	}
}

// What is forgotten leaves what is kept beside the remote, and the next run goes on.
func TestForget(t *testing.T) {
	w := newWorld(t)
	if err := repo.Forget(w.dir, []note.ID{"a"}); err != nil {
		t.Fatal(err) // there is nothing yet
	}
	a := doc("a", .9, func(n *note.Note) { n.Body = "the unforgettable sentence" })
	w.share(a, doc("b", .9, nil))
	if err := repo.Forget(w.dir, []note.ID{"a"}); err != nil {
		t.Fatal(err)
	}
	left := copied(t, filepath.Join(w.dir, "offered"))
	if len(left) != 1 {
		t.Errorf("%d files are left of what was offered, want that of b", len(left))
	}
	if names, err := os.ReadDir(w.dir); err != nil || len(names) != 1 {
		t.Errorf("left: %v %v", names, err)
	}
	w.one(doc("b", .9, nil), repo.Unchanged)
}
