package replica_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"anamnesis/internal/replica/replicatest"
)

// The driver stands in git's configuration as it was given, once, and git runs
// it for people who pull by hand.
func TestDriver(t *testing.T) {
	dir := t.TempDir()
	o := options(t, dir)
	replicatest.Write(t, dir, map[string]string{"semantic/a.md": "a\n", ".gitattributes": "* -text\n"})
	mustCommit(t, open(t, o), true)
	if out, _ := git(dir, "config", "--local", "merge.anamnesis.driver").Output(); len(out) != 0 {
		t.Errorf("a driver is set: %s", out)
	}
	if got := run(t, dir, "show", "HEAD:.gitattributes"); !strings.HasPrefix(got, "* -text\n*.md merge=anamnesis\n") {
		t.Errorf("an old file was not brought up to date: %q", got)
	}
	record := filepath.Join(t.TempDir(), "it's \"here\"; #1")
	if err := os.MkdirAll(record, 0o700); err != nil {
		t.Skip(err)
	}
	program(t, filepath.Join(record, "drive"), `echo "$4" >"$(dirname "$0")/ran"; cat "$3" >>"$2"`)
	o.Driver = `'` + strings.ReplaceAll(filepath.Join(record, "drive"), `'`, `'\''`) + `' %O %A %B %P`
	mustCommit(t, open(t, o), false)
	if got := strings.TrimRight(run(t, dir, "config", "--local", "merge.anamnesis.driver"), "\n"); got != o.Driver {
		t.Errorf("the driver is %q, want %q", got, o.Driver)
	}
	info, err := os.Stat(filepath.Join(dir, ".git", "config"))
	if err != nil {
		t.Fatal(err)
	}
	mustCommit(t, open(t, o), false)
	if again, err := os.Stat(filepath.Join(dir, ".git", "config")); err != nil || !again.ModTime().Equal(info.ModTime()) {
		t.Error("the configuration is written again")
	}
	run(t, dir, "switch", "-q", "-c", "side")
	replicatest.Write(t, dir, map[string]string{"semantic/a.md": "side\n"})
	run(t, dir, "commit", "-qam", "side")
	run(t, dir, "switch", "-q", "main")
	replicatest.Write(t, dir, map[string]string{"semantic/a.md": "main\n"})
	run(t, dir, "commit", "-qam", "main")
	run(t, dir, "merge", "-q", "-m", "m", "side")
	if got := run(t, dir, "show", "HEAD:semantic/a.md"); got != "main\nside\n" {
		t.Errorf("merged by hand: %q", got)
	}
	if data, _ := os.ReadFile(filepath.Join(record, "ran")); string(data) != "semantic/a.md\n" {
		t.Errorf("the driver saw %q", data)
	}
	mustCommit(t, open(t, o), false)
}
