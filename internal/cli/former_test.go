package cli

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"anamnesis/internal/store/storetest"
)

// formerHome is the home folder in which the stores below testdata/stores were made.
const formerHome = "/tmp/former"

// TestFormerStores opens a store of each schema that the index ever had, made by the first
// program that had it: five notes, one of them forgotten, one captured session, and one that
// waits in the queue. No note changes, each is found, and the work that waits is done.
//
// testdata/stores/make.sh made them.
func TestFormerStores(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the queue of these stores names paths of Unix")
	}
	files, err := filepath.Glob(filepath.Join("testdata", "stores", "schema-*.tar.gz"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no stores: %v", err)
	}
	for _, file := range files {
		name, _, _ := strings.Cut(filepath.Base(file), ".")
		t.Run(name, func(t *testing.T) {
			storetest.SkipQuick(t, "schema-1", "schema-16")
			t.Parallel()
			openFormer(t, file)
		})
	}
}

func openFormer(t *testing.T, file string) {
	c := &crashRun{t: t, home: t.TempDir()}
	unpack(t, file, c.home)
	c.before = c.notes()
	if len(c.before) < 5 {
		t.Fatalf("the store holds %d notes", len(c.before))
	}
	gone := c.holding("The cache lives in Redis") == 0 // the first program could not forget

	const shop = "github.com/acme/shop"
	for _, want := range []struct{ project, words, title string }{
		{shop, "tabs or spaces", "Use tabs in Go files"},
		{shop, "payments.proto clients", "Regenerate the clients after editing payments.proto"},
		{"global", "attribution in commit messages", "No attribution lines in commit messages"},
		{shop, "port of the staging database", "The staging database is at port 5433"},
		{shop, "totals of the cart off by one cent", "one cent"},
	} {
		if out := c.run("search", "--project", want.project, want.words); !strings.Contains(out, want.title) {
			t.Errorf("search %q does not find %q:\n%s", want.words, want.title, out)
		}
	}
	if out := c.run("list", "--all"); gone && strings.Contains(out, "Redis") {
		t.Errorf("what was forgotten is listed:\n%s", out)
	}
	c.run("status")
	c.run("history")
	if after := c.notes(); !maps.Equal(after, c.before) {
		t.Errorf("a question changed the notes: %v became %v", slices.Sorted(maps.Keys(c.before)), slices.Sorted(maps.Keys(after)))
	}

	c.run("doctor", "drain")
	if c.holding("**Ask:** The coupon of the spring sale") != 1 {
		t.Errorf("the session that waited is not captured; the log says:\n%s", c.run("log"))
	}
	for path, text := range c.before {
		if c.notes()[path] != text && !strings.Contains(text, "Nominated as: ") { // those become ordinary proposals
			t.Errorf("the background run changed %s", path)
		}
	}
	if gone {
		out, err := c.command("anamnesis", "add", "--project", shop,
			"--title", "The cache lives in Redis", "--body", "This turned out to be wrong.").CombinedOutput()
		if err == nil || !strings.Contains(string(out), "forgotten") {
			t.Errorf("what was forgotten is written again: %v\n%s", err, out)
		}
	}
	c.run("add", "--project", shop, "--title", "Deploy on Tuesdays", "--body", "The others are away on Mondays.")
	travels(t, c)
}

// travels syncs the store with a second machine through a remote: all its portable notes arrive.
func travels(t *testing.T, c *crashRun) {
	if _, err := exec.LookPath("git"); err != nil {
		return
	}
	hub := filepath.Join(c.home, "hub.git")
	if out, err := exec.Command("git", "init", "-q", "--bare", "-b", "main", hub).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	other := &crashRun{t: t, home: t.TempDir()}
	for _, m := range []*crashRun{c, other} {
		cmd := m.command("anamnesis", "sync")
		cmd.Env = append(cmd.Env, "ANAMNESIS_SYNC=on", "ANAMNESIS_GIT_REMOTE="+hub)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("sync: %v\n%s", err, out)
		}
	}
	mine, theirs := c.notes(), other.notes()
	maps.DeleteFunc(mine, func(path, _ string) bool { return !strings.HasPrefix(path, "memory/") })
	if !maps.Equal(mine, theirs) {
		t.Errorf("of %v the second machine has %v", slices.Sorted(maps.Keys(mine)), slices.Sorted(maps.Keys(theirs)))
	}
}

// unpack writes the files of an archive into home, with home in place of formerHome.
func unpack(t *testing.T, file, home string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(home, filepath.FromSlash(h.Name))
		if h.Typeflag == tar.TypeDir {
			if err := os.MkdirAll(path, 0o700); err != nil {
				t.Fatal(err)
			}
			continue
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if ext := filepath.Ext(path); ext == ".json" || ext == ".jsonl" {
			data = []byte(strings.ReplaceAll(string(data), formerHome, home))
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
