package replica_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/replica"
	"anamnesis/internal/replica/replicatest"
	"anamnesis/internal/store/storetest"
)

func TestGit(t *testing.T) {
	replicatest.Run(t, replicatest.Subject{
		Open: func(t *testing.T, dir string) replica.Backend { return open(t, options(t, dir)) },
		Kept: kept,
	})
}

func TestNone(t *testing.T) {
	dir := t.TempDir()
	replicatest.Write(t, dir, map[string]string{"semantic/a.md": "a\n"})
	b := open(t, replica.Options{Backend: "none", Dir: dir})
	committed, err := b.Commit(t.Context(), nil)
	out, err2 := b.Sync(t.Context())
	state, err3 := b.State(t.Context())
	if err := errors.Join(err, err2, err3); err != nil || committed || out.Detail != "sync is off" || state.Initialized {
		t.Errorf("got %v, %+v, %+v, %v", committed, out, state, err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("something was written: %v", entries)
	}
}

func TestOpen(t *testing.T) {
	for _, o := range []replica.Options{
		{Backend: "svn", Dir: "x"},
		{},
		{Dir: "x", Git: "-x"},
	} {
		if _, err := replica.Open(o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}

func TestCommitIsOurs(t *testing.T) {
	dir := t.TempDir()
	o := options(t, dir)
	o.MachineID = "studio desk <top>\n@x"
	replicatest.Write(t, dir, map[string]string{"semantic/a.md": "a\n"})
	mustCommit(t, open(t, o), true)
	const want = "anamnesis <anamnesis@studio-desk--top---x> anamnesis <anamnesis@studio-desk--top---x> " +
		"anamnesis: sync from studio desk <top>-@x at 2026-11-20T10:00:00+00:00 1795168800"
	if got := run(t, dir, "log", "--format=%an <%ae> %cn <%ce> %B%ct", "-1"); strings.Join(strings.Fields(got), " ") != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := strings.TrimSpace(run(t, dir, "symbolic-ref", "HEAD")); got != "refs/heads/main" {
		t.Errorf("the branch is %s", got)
	}
	if got := run(t, dir, "show", "HEAD:.gitattributes"); got != "* -text\n*.md merge=anamnesis\n*.yaml merge=anamnesis\ntombstones/*.json merge=anamnesis\n" {
		t.Errorf(".gitattributes reads %q", got)
	}
}

// What the user has set for other repositories has no effect on this one.
func TestUserConfigurationHasNoEffect(t *testing.T) {
	home, dir, elsewhere := t.TempDir(), t.TempDir(), t.TempDir()
	run(t, elsewhere, "init", "-q")
	replicatest.Write(t, home, map[string]string{
		"hooks/post-commit": "#!/bin/sh\ntouch " + home + "/hooked\n",
		"hooks/pre-commit":  "#!/bin/sh\ntouch " + home + "/hooked\nexit 1\n", "template/hooks/post-commit": "#!/bin/sh\ntouch " + home + "/hooked\n",
		"ignore": "*.md\n", "attributes": "* text eol=crlf\n", "msg": "template\n",
		".gitconfig": "[user]\nname = Eve\n[commit]\ngpgsign = true\ntemplate = " + home + "/msg\n[gpg]\nprogram = false\n[core]\nhooksPath = " + home +
			"/hooks\nautocrlf = true\nexcludesFile = " + home + "/ignore\nattributesFile = " + home + "/attributes\nfsmonitor = false\n" +
			"[init]\ntemplateDir = " + home + "/template\ndefaultBranch = trunk\n[status]\nshowUntrackedFiles = no\n",
	})
	for _, hook := range []string{"hooks/pre-commit", "hooks/post-commit", "template/hooks/post-commit"} {
		if err := os.Chmod(filepath.Join(home, hook), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	o := options(t, dir)
	o.Env = append(o.Env, "HOME="+home, "XDG_CONFIG_HOME="+home, "GIT_DIR="+elsewhere+"/.git", "GIT_WORK_TREE="+elsewhere,
		"GIT_INDEX_FILE="+home+"/index", "GIT_AUTHOR_NAME=Eve", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.bare", "GIT_CONFIG_VALUE_0=true",
		"GIT_OBJECT_DIRECTORY="+home+"/objects", "GIT_CONFIG_GLOBAL="+home+"/.gitconfig", "LANG=de_DE.UTF-8", "LC_ALL=de_DE.UTF-8")
	replicatest.Write(t, dir, map[string]string{"semantic/a.md": "a\r\nb\n"})
	mustCommit(t, open(t, o), true)
	if got := run(t, dir, "show", "HEAD:semantic/a.md"); got != "a\r\nb\n" {
		t.Errorf("the note is recorded as %q", got)
	}
	if got := run(t, dir, "log", "--format=%an %G?", "-1"); got != "anamnesis N\n" {
		t.Errorf("author and signature: %q", got)
	}
	for _, name := range []string{home + "/hooked", home + "/index", home + "/objects", dir + "/.git/hooks", elsewhere + "/.git/index"} {
		if _, err := os.Lstat(name); err == nil {
			t.Errorf("%s was made", name)
		}
	}
}

// A tree inside another repository gets its own one.
func TestTreeInsideRepository(t *testing.T) {
	outer := t.TempDir()
	run(t, outer, "init", "-q")
	dir := filepath.Join(outer, "memory")
	replicatest.Write(t, dir, map[string]string{"semantic/a.md": "a\n"})
	mustCommit(t, open(t, options(t, dir)), true)
	if got := kept(t, dir); len(got) != 1 {
		t.Errorf("recorded: %q", got)
	}
	if _, err := os.Lstat(filepath.Join(outer, ".git", "index")); err == nil {
		t.Error("the outer repository was written to")
	}
}

func TestUserInTheMiddleOfSomething(t *testing.T) {
	tests := []struct {
		name, want string
		do         func(t *testing.T, dir string)
	}{
		{"merge", "a merge is in progress", func(t *testing.T, dir string) { touch(t, dir, ".git/MERGE_HEAD") }},
		{"rebase", "git rebase --continue", func(t *testing.T, dir string) { touch(t, dir, ".git/rebase-merge/head") }},
		{"cherry-pick", "a cherry-pick is in progress", func(t *testing.T, dir string) { touch(t, dir, ".git/CHERRY_PICK_HEAD") }},
		{"other branch", "not on its branch main but on try", func(t *testing.T, dir string) { run(t, dir, "checkout", "-q", "-b", "try") }},
		{"no branch", "not on its branch main", func(t *testing.T, dir string) { run(t, dir, "checkout", "-q", "--detach") }},
		{"unmerged path", "semantic/a.md has a conflict", func(t *testing.T, dir string) {
			replicatest.Write(t, dir, map[string]string{"semantic/a.md": "b\n"})
			run(t, dir, "stash", "-q")
			replicatest.Write(t, dir, map[string]string{"semantic/a.md": "c\n"})
			run(t, dir, "commit", "-qam", "c")
			_ = git(dir, "stash", "pop").Run()
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			b := open(t, options(t, dir))
			replicatest.Write(t, dir, map[string]string{"semantic/a.md": "a\n"})
			mustCommit(t, b, true)
			tt.do(t, dir)
			before := run(t, dir, "rev-parse", "HEAD")
			replicatest.Write(t, dir, map[string]string{"semantic/new.md": "new\n"})
			committed, err := b.Commit(t.Context(), nil)
			if committed || !errors.Is(err, replica.ErrBlocked) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Commit = %v, %v", committed, err)
			}
			out, err := b.Sync(t.Context())
			if err != nil || !out.Conflicted || out.Committed || out.Result != "" || !strings.Contains(out.Detail, tt.want) {
				t.Errorf("Sync = %+v, %v", out, err)
			}
			state, err := b.State(t.Context())
			if err != nil || !strings.Contains(state.Detail, tt.want) {
				t.Errorf("State = %+v, %v", state, err)
			}
			if after := run(t, dir, "rev-parse", "HEAD"); after != before {
				t.Error("the head moved")
			}
		})
	}
}

func TestConflictMarkersAreHeldBack(t *testing.T) {
	dir := t.TempDir()
	b := open(t, options(t, dir))
	const marked = "a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> other\n"
	replicatest.Write(t, dir, map[string]string{"semantic/a.md": marked, "semantic/b.md": "Heading\n=======\n\n> quote\n"})
	committed, err := b.Commit(t.Context(), nil)
	if !committed || !errors.Is(err, replica.ErrHeld) || !strings.Contains(err.Error(), "semantic/a.md") {
		t.Errorf("Commit = %v, %v", committed, err)
	}
	out, err := b.Sync(t.Context())
	if err != nil || !out.Conflicted || !strings.Contains(out.Detail, "nothing to commit; no remote configured; held back: semantic/a.md") {
		t.Errorf("Sync = %+v, %v", out, err)
	}
	run(t, dir, "add", "semantic/a.md") // the user stages it nevertheless, with another file
	replicatest.Write(t, dir, map[string]string{"README.md": "x\n", "semantic/c.md": "c\n"})
	run(t, dir, "add", "README.md")
	if committed, err = b.Commit(t.Context(), nil); !committed || !errors.Is(err, replica.ErrHeld) {
		t.Errorf("Commit = %v, %v", committed, err)
	}
	if got := run(t, dir, "ls-tree", "-r", "--name-only", "HEAD"); got != ".gitattributes\nsemantic/b.md\nsemantic/c.md\n" {
		t.Errorf("recorded:\n%s", got)
	}
	if got := run(t, dir, "diff", "--cached", "--name-only"); got != "README.md\nsemantic/a.md\n" {
		t.Errorf("staged:\n%s", got)
	}
	replicatest.Write(t, dir, map[string]string{"semantic/a.md": "resolved\n"})
	mustCommit(t, b, true)
}

func TestRemote(t *testing.T) {
	dir := t.TempDir()
	o := options(t, dir)
	replicatest.Write(t, dir, map[string]string{"semantic/a.md": "a\n"})
	mustCommit(t, open(t, o), true)
	for _, remote := range []string{"/nowhere/one.git", "git@localhost:two.git"} {
		o.Remote, o.Env = remote, append(o.Env, "GIT_SSH_COMMAND=false")
		out, err := open(t, o).Sync(t.Context())
		if err != nil || out.Pushed || !out.Offline || !strings.HasPrefix(out.Detail, "nothing to commit; the remote could not be reached: ") {
			t.Errorf("Sync = %+v, %v", out, err)
		}
		if got := run(t, dir, "remote", "-v"); strings.Count(got, remote) != 2 || strings.Count(got, "\n") != 2 {
			t.Errorf("remotes:\n%s", got)
		}
	}
	state, err := open(t, o).State(t.Context())
	if err != nil || state.Remote != "git@localhost:two.git" {
		t.Errorf("State = %+v, %v", state, err)
	}
	o.Dir = t.TempDir() // nothing to commit yet
	if out, err := open(t, o).Sync(t.Context()); err != nil || out.Head != "" || out.Committed {
		t.Errorf("Sync of an empty tree = %+v, %v", out, err)
	}
}

func TestForeignRepository(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	run(t, elsewhere, "init", "-q")
	replicatest.Write(t, dir, map[string]string{"semantic/a.md": "a\n"})
	for _, plant := range []func(at string) error{
		func(at string) error { return os.Symlink(filepath.Join(elsewhere, ".git"), at) },
		func(at string) error { return os.WriteFile(at, []byte("gitdir: "+elsewhere+"/.git\n"), 0o600) },
	} {
		at := filepath.Join(dir, ".git")
		if err := plant(at); err != nil {
			t.Skip(err)
		}
		b := open(t, options(t, dir))
		if _, err := b.Commit(t.Context(), nil); !errors.Is(err, replica.ErrBlocked) || !strings.Contains(err.Error(), "points elsewhere") {
			t.Errorf("Commit: %v", err)
		}
		if state, err := b.State(t.Context()); err != nil || state.Initialized || !strings.Contains(state.Detail, "points elsewhere") {
			t.Errorf("State = %+v, %v", state, err)
		}
		if err := os.Remove(at); err != nil {
			t.Fatal(err)
		}
	}
}

func TestStaleLock(t *testing.T) {
	dir := t.TempDir()
	b := open(t, options(t, dir))
	replicatest.Write(t, dir, map[string]string{"semantic/a.md": "a\n"})
	mustCommit(t, b, true)
	lock := filepath.Join(dir, ".git", "index.lock")
	touch(t, dir, ".git/index.lock")
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(lock, old, old); err != nil {
		t.Fatal(err)
	}
	replicatest.Write(t, dir, map[string]string{"semantic/a.md": "b\n"})
	if _, err := b.Commit(t.Context(), nil); !errors.Is(err, replica.ErrBlocked) || !strings.Contains(err.Error(), "delete the file if no git is running") {
		t.Errorf("Commit: %v", err)
	}
	if err := os.Chtimes(lock, time.Now(), time.Now()); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(200*time.Millisecond, func() { _ = os.Remove(lock) })
	mustCommit(t, b, true)
}

// A git that is killed leaves its lock. It is removed when it is that of a git of ours, and
// stays when it may be another's: one that ended well leaves nothing to go by.
func TestLockOfKilledGit(t *testing.T) {
	storetest.SkipQuick(t)
	real, err := exec.LookPath("git")
	if runtime.GOOS == "windows" || err != nil {
		t.Skip("it needs git and a shell")
	}
	dir, bin := t.TempDir(), t.TempDir()
	replicatest.Write(t, dir, map[string]string{"semantic/a.md": "a\n"})
	mustCommit(t, open(t, options(t, dir)), true)
	lock := filepath.Join(dir, ".git", "index.lock")
	hang := filepath.Join(bin, "git")
	program(t, hang, `case "$*" in *update-index*) : > `+lock+`; sleep 600 & wait;; esac; exec `+real+` "$@"`)
	o := options(t, dir)
	o.Git, o.Timeout = hang, 3*time.Second
	replicatest.Write(t, dir, map[string]string{"semantic/a.md": "b\n"})
	if _, err := open(t, o).Commit(t.Context(), nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("Commit with a git that hangs: %v", err)
	}
	if _, err := os.Lstat(lock); err != nil {
		t.Fatalf("the killed git left no lock: %v", err)
	}
	mustCommit(t, open(t, options(t, dir)), true)

	// The lock of somebody else, while nothing of ours was killed.
	touch(t, dir, ".git/index.lock")
	o = options(t, dir)
	o.Timeout = 2 * time.Second
	replicatest.Write(t, dir, map[string]string{"semantic/a.md": "c\n"})
	if _, err := open(t, o).Commit(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "index.lock") {
		t.Errorf("Commit beside another git: %v", err)
	}
	if _, err := os.Lstat(lock); err != nil {
		t.Errorf("the lock of another git: %v", err)
	}
}

// Many files are staged into one pack; by a git that makes one of each file, as loose objects,
// by several runs, each with the whole time limit.
func TestFirstCommitOfMany(t *testing.T) {
	storetest.SkipQuick(t)
	real, err := exec.LookPath("git")
	if runtime.GOOS == "windows" || err != nil {
		t.Skip("it needs git and a shell")
	}
	const files = 2500
	many := make(map[string]string, files)
	for i := range files {
		many[fmt.Sprintf("semantic/n%04d.md", i)] = fmt.Sprintf("x %d\n", i)
	}
	for _, tt := range []struct {
		version     string
		most, loose int
	}{{"2.36.9", 2000, files}, {"2.37.0", 10000, 0}} {
		dir, bin := t.TempDir(), t.TempDir()
		replicatest.Write(t, dir, many)
		counts := filepath.Join(bin, "counts")
		program(t, filepath.Join(bin, "git"), `case "$*" in *update-index*) tee `+bin+`/in | `+real+` "$@" && tr -cd '\000' < `+bin+
			`/in | wc -c >> `+counts+`; exit;; *" version") echo git version `+tt.version+`; exit;; esac; exec `+real+` "$@"`)
		o := options(t, dir)
		o.Git = filepath.Join(bin, "git")
		mustCommit(t, open(t, o), true)
		data, err := os.ReadFile(counts)
		if err != nil {
			t.Fatal(err)
		}
		total := 0
		for _, field := range strings.Fields(string(data)) {
			n, _ := strconv.Atoi(field)
			if total += n; n > tt.most {
				t.Errorf("git %s: one staged %d files", tt.version, n)
			}
		}
		if total != files+1 { // and .gitattributes
			t.Errorf("git %s: %d files were staged, want %d", tt.version, total, files+1)
		}
		const few = 10 // trees and the commit
		loose, _ := filepath.Glob(filepath.Join(dir, ".git/objects/??/*"))
		if len(loose) < tt.loose || len(loose) > tt.loose+few {
			t.Errorf("git %s: %d loose objects, want %d", tt.version, len(loose), tt.loose)
		}
		if out, err := exec.Command(real, "-C", dir, "fsck", "--strict").CombinedOutput(); err != nil {
			t.Errorf("git %s: %v\n%s", tt.version, err, out)
		}
		if out, err := exec.Command(real, "-C", dir, "show", "HEAD:semantic/n1234.md").Output(); err != nil || string(out) != "x 1234\n" {
			t.Errorf("git %s: the commit has %q: %v", tt.version, out, err)
		}
	}
}

func TestNoGit(t *testing.T) {
	storetest.SkipQuick(t)
	dir, bin := t.TempDir(), t.TempDir()
	replicatest.Write(t, dir, map[string]string{"semantic/a.md": "a\n"})
	o := options(t, dir)
	o.Env = append(o.Env, "PATH="+bin)
	if _, err := open(t, o).Commit(t.Context(), nil); !errors.Is(err, replica.ErrNoGit) || !strings.Contains(err.Error(), "2.30 or newer is installed") {
		t.Errorf("Commit without git: %v", err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	program(t, filepath.Join(bin, "git"), "echo git version 2.29.9")
	if _, err := open(t, o).Commit(t.Context(), nil); !errors.Is(err, replica.ErrNoGit) || !strings.Contains(err.Error(), "2.29.9 is older than 2.30") {
		t.Errorf("Commit with an old git: %v", err)
	}
	// One that hangs is killed, with its children, and what it inherits is known.
	o.Timeout = 3 * time.Second
	program(t, filepath.Join(bin, "git"), "PATH=/usr/bin:/bin; env > "+bin+"/env; sleep 600 & wait")
	start := time.Now()
	if _, err := open(t, o).Commit(t.Context(), nil); !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, replica.ErrNoGit) {
		t.Errorf("Commit with a git that hangs: %v", err)
	}
	env, err := os.ReadFile(filepath.Join(bin, "env"))
	for _, want := range []string{"ANAMNESIS_DISABLED=1", "REFLECT_DISABLED=1", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C", "HOME="} {
		if err != nil || !strings.Contains(string(env), want) {
			t.Errorf("git does not inherit %s: %v", want, err)
		}
	}
	if d := time.Since(start); d > long {
		t.Errorf("the time limit of %v took %v", o.Timeout, d)
	}
}

func TestKnown(t *testing.T) {
	for _, name := range []string{"semantic/a.md", "semantic/x/y/a.md", "procedural/a.entities.yaml", "tombstones/a.json", "slots/a", "projects.yaml", ".gitattributes"} {
		if !replica.Known(name) {
			t.Errorf("%q is not known", name)
		}
	}
	for _, name := range []string{
		"", ".", "a.md", "semantic", "semantic/a", "semantic/a.yaml", "/semantic/a.md", "semantic//a.md", "semantic/../a.md", "semantic/.a.md",
		"semantic/.git/a.md", "../semantic/a.md", "other/a.md", "tombstones/a.md", "tombstones/x/a.json", ".git/config", "semantic/a\n.md",
		"semantic\\a.md", "semantic/\xff.md", "x/.gitattributes", "semantic/.gitattributes", "slots/.x", "projects.yaml/a.md",
	} {
		if replica.Known(name) {
			t.Errorf("%q is known", name)
		}
	}
}

func options(t *testing.T, dir string) replica.Options {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not on PATH: the git backend is not tested")
	}
	return replica.Options{
		Dir: dir, MachineID: "studio-desktop", Env: os.Environ(),
		Now: func() time.Time { return time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC) },
	}
}

func open(t *testing.T, o replica.Options) replica.Backend {
	t.Helper()
	b, err := replica.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func mustCommit(t *testing.T, b replica.Backend, want bool) {
	t.Helper()
	if got, err := b.Commit(t.Context(), nil); err != nil || got != want {
		t.Fatalf("Commit = %v, %v, want %v", got, err, want)
	}
}

// kept lists what is committed, without the file that the backend adds.
func kept(t *testing.T, dir string) []string {
	t.Helper()
	var names []string
	for _, name := range cut(run(t, dir, "ls-tree", "-r", "-z", "--name-only", "HEAD")) {
		if name != ".gitattributes" {
			names = append(names, name)
		}
	}
	return names
}

// cut splits the output of git -z.
func cut(out string) []string {
	return strings.FieldsFunc(out, func(r rune) bool { return r == 0 })
}

// git is the user's git in a folder.
func git(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command("git", append([]string{"-c", "user.name=user", "-c", "user.email=user@example.org"}, args...)...)
	cmd.Dir = dir
	return cmd
}

func run(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := git(dir, args...).Output()
	if err != nil {
		t.Fatalf("git %q: %v", args, err)
	}
	return string(out)
}

func touch(t *testing.T, dir, name string) {
	t.Helper()
	replicatest.Write(t, dir, map[string]string{name: ""})
}

func program(t *testing.T, at, text string) {
	t.Helper()
	storetest.WriteProgram(t, at, "#!/bin/sh\n"+text+"\n")
}
