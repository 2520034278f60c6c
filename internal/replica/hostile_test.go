package replica_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"anamnesis/internal/replica"
	"anamnesis/internal/replica/replicatest"
	"anamnesis/internal/store/storetest"

	"github.com/google/go-cmp/cmp"
)

// plant gives a remote a commit made by git itself, so that it can hold what no
// work tree can. Rows are "mode path content"; for a submodule the content is a name.
func plant(t *testing.T, remote string, rows ...[3]string) {
	t.Helper()
	var b strings.Builder
	b.WriteString("commit refs/heads/main\ncommitter eve <eve@example.org> 1795168800 +0000\ndata 4\nevil\n")
	if git(remote, "rev-parse", "-q", "--verify", "refs/heads/main").Run() == nil {
		b.WriteString("from refs/heads/main^0\n")
	}
	for _, r := range rows {
		name := `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(r[1]) + `"`
		switch r[0] {
		case "delete":
			fmt.Fprintf(&b, "D %s\n", name)
		case "160000":
			fmt.Fprintf(&b, "M 160000 %s %s\n", r[2], name)
		default:
			fmt.Fprintf(&b, "M %s inline %s\ndata %d\n%s\n", r[0], name, len(r[2]), r[2])
		}
	}
	b.WriteString("\n")
	cmd := git(remote, "fast-import", "--quiet", "--force")
	cmd.Stdin = strings.NewReader(b.String())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

const file, link, module = "100644", "120000", "160000"

// What a remote holds besides notes stays in git's tree, byte for byte, and is
// never written.
func TestUnwelcomeFiles(t *testing.T) {
	outside := t.TempDir()
	replicatest.Write(t, outside, map[string]string{"victim.md": "safe\n"})
	rows := [][3]string{
		{file, "semantic/good.md", "good\n"},
		{link, "semantic/link.md", outside + "/victim.md"},
		{link, "procedural", outside},
		{link, "episodic/up.md", "../../../../etc/passwd"},
		{module, "semantic/module.md", strings.Repeat("1", 40)},
		{module, "vendor", strings.Repeat("2", 40)},
		{file, "README.md", "hello\n"},
		{file, "-rf.md", "x\n"},
		{file, "semantic/--help.md", "fine\n"},
		{file, "semantic/nul.md", "device\n"},
		{file, "semantic/com1.txt.md", "device\n"},
		{file, "semantic/\xff\xfe.md", "bytes\n"},
		{file, "semantic/a\nb.md", "newline\n"},
		{file, "semantic/huge.md", strings.Repeat("x", 2<<20+1)},
		{file, "semantic/.hidden.md", "x\n"},
		{file, "slots/A", "upper\n"},
		{file, "slots/a", "lower\n"},
		{"100755", "semantic/run.md", "#!/bin/sh\n"},
		{file, ".gitattributes", "*.md filter=evil text eol=crlf working-tree-encoding=UTF-16 ident\n"},
	}
	for _, mine := range []map[string]string{{}, {"semantic/mine.md": "$Id$\r\n"}} {
		remote, dir := bare(t), filepath.Join(t.TempDir(), "memory")
		plant(t, remote, rows...)
		before := run(t, remote, "ls-tree", "-r", "main")
		o := options(t, dir)
		o.Remote = remote
		replicatest.Write(t, dir, mine)
		b := open(t, o)
		out, err := b.Sync(t.Context())
		if err != nil || out.Held || !strings.Contains(out.Detail, "not written here: ") {
			t.Fatalf("Sync = %+v, %v", out, err)
		}
		want := map[string]string{
			"semantic/good.md": "good\n", "semantic/--help.md": "fine\n", "slots/A": "upper\n", "semantic/run.md": "#!/bin/sh\n",
		}
		for name, text := range mine {
			want[name] = text
		}
		if d := cmp.Diff(want, tree(t, dir)); d != "" {
			t.Errorf("the tree (-want +got):\n%s", d)
		}
		if names, err := os.ReadDir(outside); err != nil || len(names) != 1 {
			t.Errorf("outside: %v, %v", names, err)
		}
		// Nothing of it is taken for a deletion later, and nothing for a change.
		replicatest.Write(t, dir, map[string]string{"semantic/later.md": "$Id$\nlater\r\n"})
		if out, err := b.Sync(t.Context()); err != nil || !out.Pushed {
			t.Fatalf("Sync = %+v, %v", out, err)
		}
		after := run(t, remote, "ls-tree", "-r", "main")
		for line := range strings.Lines(before) {
			if !strings.Contains(after, line) && !strings.Contains(line, ".gitattributes") {
				t.Errorf("gone from the remote: %s", line)
			}
		}
		if got := run(t, remote, "show", "main:semantic/later.md"); got != "$Id$\nlater\r\n" {
			t.Errorf("recorded as %q", got)
		}
		if s, err := b.State(t.Context()); err != nil || s.Dirty {
			t.Errorf("State = %+v, %v", s, err)
		}
		if got := run(t, dir, "diff", "--cached", "--name-only"); got != "" {
			t.Errorf("the index is not the commit: %s", got)
		}
	}
}

// A link or a huge file never takes the place of a note, and neither does a
// link that stands for its folder.
func TestNoteIsNotReplacedByALink(t *testing.T) {
	remote, dir, outside := bare(t), filepath.Join(t.TempDir(), "memory"), t.TempDir()
	o := options(t, dir)
	o.Remote = remote
	b := open(t, o)
	replicatest.Write(t, dir, map[string]string{"semantic/a.md": "a\n", "semantic/b.md": "b\n", "episodic/c.md": "c\n"})
	if _, err := b.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	plant(t, remote, [3]string{link, "semantic/a.md", "/etc/passwd"}, [3]string{file, "semantic/b.md", strings.Repeat("x", 3<<20)})
	out, err := b.Sync(t.Context())
	if err != nil || !out.Pushed || len(out.Changed) != 0 || !strings.Contains(out.Detail, `"semantic/a.md" (it is no plain file there`) {
		t.Errorf("Sync = %+v, %v", out, err)
	}
	if got := run(t, remote, "show", "main:semantic/a.md") + run(t, remote, "show", "main:semantic/b.md"); got != "a\nb\n" {
		t.Errorf("the remote has %.40q", got)
	}
	// Locally a folder becomes a link; what comes for it is not written through it.
	if err := os.RemoveAll(filepath.Join(dir, "episodic")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "episodic")); err != nil {
		t.Skip(err)
	}
	plant(t, remote, [3]string{file, "episodic/d.md", "d\n"}, [3]string{file, "episodic/c.md", "c2\n"})
	for range 2 {
		if _, err := b.Sync(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if names, _ := os.ReadDir(outside); len(names) != 0 {
		t.Errorf("written outside: %v", names)
	}
	if got := run(t, remote, "show", "main:episodic/c.md"); got != "c2\n" {
		t.Errorf("the remote has %q", got)
	}
}

func TestStrangersRepository(t *testing.T) {
	remote, dir := bare(t), filepath.Join(t.TempDir(), "memory")
	rows := [][3]string{{file, "LICENSE", "x\n"}}
	for i := range 30 {
		rows = append(rows, [3]string{file, fmt.Sprintf("src/%d.go", i), "package x\n"})
	}
	plant(t, remote, rows...)
	o := options(t, dir)
	o.Remote = remote
	replicatest.Write(t, dir, map[string]string{"semantic/private.md": "x\n"})
	before := run(t, remote, "rev-parse", "main")
	out, err := open(t, o).Sync(t.Context())
	if err != nil || !out.Held || out.Pushed || !strings.Contains(out.Detail, "the remote holds no notes but 30 other files, such as \"src/0.go\"") {
		t.Errorf("Sync = %+v, %v", out, err)
	}
	if after := run(t, remote, "rev-parse", "main"); after != before {
		t.Error("something was pushed")
	}
	if d := cmp.Diff(map[string]string{"semantic/private.md": "x\n"}, tree(t, dir)); d != "" {
		t.Error(d)
	}
}

// git refuses some trees at the door; the notes go on without.
func TestDamagedRemote(t *testing.T) {
	tests := []struct {
		name string
		do   func(t *testing.T, remote string)
	}{
		{"a path of git's own", func(t *testing.T, remote string) { rawTree(t, remote, ".git") }},
		{"a path upwards", func(t *testing.T, remote string) { rawTree(t, remote, "..") }},
		{"a path with a slash", func(t *testing.T, remote string) { rawTree(t, remote, "../../x.md") }},
		{"a missing object", func(t *testing.T, remote string) {
			plant(t, remote, [3]string{file, "semantic/a.md", "a\n"})
			id := strings.TrimSpace(run(t, remote, "rev-parse", "main:semantic/a.md"))
			if err := os.Remove(filepath.Join(remote, "objects", id[:2], id[2:])); err != nil {
				t.Fatal(err)
			}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			remote, dir := bare(t), filepath.Join(t.TempDir(), "memory")
			tt.do(t, remote)
			o := options(t, dir)
			o.Remote = remote
			replicatest.Write(t, dir, map[string]string{"semantic/mine.md": "x\n"})
			b := open(t, o)
			out, err := b.Sync(t.Context())
			if !errors.Is(err, replica.ErrDamaged) && !out.Offline || out.Pushed || !out.Committed {
				t.Errorf("Sync = %+v, %v", out, err)
			}
			t.Log(out.Detail, err)
			if d := cmp.Diff(map[string]string{"semantic/mine.md": "x\n"}, tree(t, dir)); d != "" {
				t.Error(d)
			}
		})
	}
}

// rawTree makes a commit with a tree that git would not make.
func rawTree(t *testing.T, remote, name string) {
	t.Helper()
	write := func(kind, text string, args ...string) string {
		cmd := git(remote, append([]string{"hash-object", "-w", "--literally", "--stdin", "-t", kind}, args...)...)
		cmd.Stdin = strings.NewReader(text)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	blob := write("blob", "x\n")
	var raw []byte
	for i := 0; i < len(blob); i += 2 {
		var b byte
		if _, err := fmt.Sscanf(blob[i:i+2], "%02x", &b); err != nil {
			t.Fatal(err)
		}
		raw = append(raw, b)
	}
	tree := write("tree", "100644 "+name+"\x00"+string(raw))
	commit := write("commit", "tree "+tree+"\nauthor e <e@e> 1795168800 +0000\ncommitter e <e@e> 1795168800 +0000\n\nx\n")
	run(t, remote, "update-ref", "refs/heads/main", commit)
}

// The program before this one commits everything and rebases.
func TestAncestorOnTheSameRemote(t *testing.T) {
	remote, dir, old := bare(t), filepath.Join(t.TempDir(), "memory"), filepath.Join(t.TempDir(), "old")
	run(t, t.TempDir(), "clone", "-q", remote, old)
	run(t, old, "switch", "-q", "--orphan", "main")
	step := func(files map[string]string) {
		t.Helper()
		replicatest.Write(t, old, files)
		run(t, old, "add", "-A")
		run(t, old, "commit", "-q", "-m", "anamnesis: sync from old")
		run(t, old, "fetch", "-q", "origin")
		if git(old, "rev-parse", "-q", "--verify", "origin/main").Run() == nil {
			run(t, old, "rebase", "-q", "origin/main")
		}
		run(t, old, "push", "-q", "-u", "origin", "main")
	}
	step(map[string]string{"semantic/a.md": "a\n", "notes.txt": "plain\n", "other/deep/x.json": "{}"})
	o := options(t, dir)
	o.Remote = remote
	b := open(t, o)
	sync := func() replica.Outcome {
		t.Helper()
		out, err := b.Sync(t.Context())
		if err != nil || out.Offline || out.Held {
			t.Fatalf("Sync = %+v, %v", out, err)
		}
		return out
	}
	sync()
	replicatest.Write(t, dir, map[string]string{"semantic/b.md": "b\n"})
	sync()
	step(map[string]string{"semantic/c.md": "c\n", "notes.txt": "plainer\n"})
	replicatest.Write(t, dir, map[string]string{"semantic/a.md": "a2\n"})
	sync()
	run(t, old, "rm", "-q", "other/deep/x.json")
	step(map[string]string{"semantic/d.md": "d\n"})
	sync()
	if d := cmp.Diff(map[string]string{"semantic/a.md": "a2\n", "semantic/b.md": "b\n", "semantic/c.md": "c\n", "semantic/d.md": "d\n"}, tree(t, dir)); d != "" {
		t.Errorf("the tree (-want +got):\n%s", d)
	}
	want := map[string]string{"semantic/a.md": "a2\n", "semantic/b.md": "b\n", "semantic/c.md": "c\n", "semantic/d.md": "d\n", "notes.txt": "plainer\n"}
	if d := cmp.Diff(want, committed(t, remote)); d != "" {
		t.Errorf("the remote (-want +got):\n%s", d)
	}
	if got := run(t, dir, "status", "--porcelain"); got != "" {
		t.Errorf("git status: %s", got)
	}
}

// tree reads the files of a folder, hidden folders excepted.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	var walk func(at string)
	walk = func(at string) {
		entries, err := os.ReadDir(filepath.Join(dir, at))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			name := filepath.ToSlash(filepath.Join(at, e.Name()))
			switch {
			case name == ".git" || name == ".gitattributes":
			case e.IsDir():
				walk(name)
			case e.Type().IsRegular():
				data, err := os.ReadFile(filepath.Join(dir, name))
				if err != nil {
					t.Fatal(err)
				}
				files[name] = string(data)
			default:
				files[name] = e.Type().String()
			}
		}
	}
	walk(".")
	return files
}

// A hoster puts some files into a new repository; anything else is somebody's.
func TestHostersFiles(t *testing.T) {
	for _, c := range []struct {
		names string
		held  bool
	}{
		{"README.md", false},
		{"readme LICENSE .gitignore .gitattributes .gitkeep .github/CODEOWNERS", false},
		{"LICENSE-MIT README_de.txt CODEOWNERS notes/.gitkeep", false},
		{"README.md .bashrc", true},
		{"install.sh", true},
		{"readmes.go", true},
		{"src/README.md", true},
		{"src/.gitignore", true},
		{"README.md semantic/a.md main.go", false}, // notes are there already
	} {
		t.Run(c.names, func(t *testing.T) {
			t.Parallel()
			remote, dir := bare(t), filepath.Join(t.TempDir(), "memory")
			var rows [][3]string
			for name := range strings.FieldsSeq(c.names) {
				rows = append(rows, [3]string{file, name, "x\n"})
			}
			plant(t, remote, rows...)
			o := options(t, dir)
			o.Remote = remote
			replicatest.Write(t, dir, map[string]string{"semantic/private.md": "x\n"})
			out, err := open(t, o).Sync(t.Context())
			if err != nil || out.Held != c.held || out.Pushed == c.held || (out.Result == replica.Foreign) != c.held {
				t.Errorf("Sync = %+v, %v", out, err)
			}
		})
	}
}

// A hub that was damaged is named also when there is nothing to send or to take.
func TestDamagedHub(t *testing.T) {
	storetest.SkipQuick(t)
	object := func(t *testing.T, remote, name string) string {
		id := strings.TrimSpace(run(t, remote, "rev-parse", name))
		at := filepath.Join(remote, "objects", id[:2], id[2:])
		if err := os.Chmod(at, 0o600); err != nil {
			t.Fatal(err)
		}
		return at
	}
	for name, do := range map[string]func(t *testing.T, remote string) error{
		"a commit cut off": func(t *testing.T, remote string) error { return os.Truncate(object(t, remote, "main"), 10) },
		"a folder cut off": func(t *testing.T, remote string) error { return os.Truncate(object(t, remote, "main:semantic"), 10) },
		"a file gone":      func(t *testing.T, remote string) error { return os.Remove(object(t, remote, "main:semantic/a.md")) },
		"all objects gone": func(_ *testing.T, remote string) error { return os.RemoveAll(filepath.Join(remote, "objects")) },
		"an empty branch": func(_ *testing.T, remote string) error {
			return os.Truncate(filepath.Join(remote, "refs", "heads", "main"), 0)
		},
		"a pack cut off": func(t *testing.T, remote string) error {
			run(t, remote, "gc", "-q")
			packs, err := filepath.Glob(filepath.Join(remote, "objects", "pack", "*.pack"))
			if err != nil || len(packs) != 1 {
				t.Fatal(packs, err)
			}
			if err := os.Chmod(packs[0], 0o600); err != nil {
				t.Fatal(err)
			}
			return os.Truncate(packs[0], 100)
		},
	} {
		for _, prefix := range []string{"", "file://"} {
			t.Run(name+prefix, func(t *testing.T) {
				remote, dir := bare(t), filepath.Join(t.TempDir(), "memory")
				o := options(t, dir)
				o.Remote = prefix + remote
				replicatest.Write(t, dir, map[string]string{"semantic/a.md": "x\n"})
				b := open(t, o)
				for _, pushed := range []bool{true, false} {
					if out, err := b.Sync(t.Context()); err != nil || out.Result != replica.Synced || out.Pushed != pushed {
						t.Fatalf("Sync = %+v, %v", out, err)
					}
				}
				if err := do(t, remote); err != nil {
					t.Fatal(err)
				}
				out, err := b.Sync(t.Context())
				if !errors.Is(err, replica.ErrDamaged) || out.Result != replica.Failed || !strings.Contains(err.Error(), "git fsck") {
					t.Errorf("Sync = %+v, %v", out, err)
				}
			})
		}
	}
}
