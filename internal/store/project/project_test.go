package project_test

import (
	"path/filepath"
	"slices"
	"testing"

	"anamnesis/internal/store/project"
	"anamnesis/internal/store/storetest"

	"github.com/google/go-cmp/cmp"
)

func TestNormalizeRemote(t *testing.T) {
	for _, c := range []struct{ remote, want string }{
		{"git@github.com:Acme/App.git", "github.com/acme/app"},
		{"https://github.com/acme/app.git", "github.com/acme/app"},
		{"https://github.com/acme/app.git/", "github.com/acme/app"},
		{"https://github.com/acme/app/", "github.com/acme/app"},
		{"https://user:token@github.com/acme/app?x=1#y", "github.com/acme/app"},
		{"ssh://git@host.example:2222/a/b.git", "host.example/a/b"},
		{"ssh://git@[::1]:2222/a/b.git", "::1/a/b"},
		{"git+ssh://git@host/a/b", "host/a/b"},
		{"host:path/to.git", "host/path/to"},
		{"host:/abs/path.git", "host/abs/path"},
		{"/srv/x/mem.git", "/srv/x/mem"},
		{"file:///srv/x/mem.git", "/srv/x/mem"},
		{"../sibling.git", "../sibling"},
		{`C:\repos\app.git`, "c:" + filepath.ToSlash(`\repos\app`)},
		{"https://host", "host"},
		{"  ", ""},
		{"", ""},
	} {
		if c.remote[:min(2, len(c.remote))] == "C:" && filepath.Separator == '/' {
			continue // a drive means nothing here
		}
		if got := project.NormalizeRemote(c.remote); got != c.want {
			t.Errorf("NormalizeRemote(%q) = %q, want %q", c.remote, got, c.want)
		}
	}
}

func TestIdentify(t *testing.T) {
	const config = "[core]\n\tbare = false\n[remote \"other\"]\n\turl = git@x:other.git\n[remote \"origin\"]\n\turl = %\n\tfetch = +refs/heads/*\n"
	repo := func(t *testing.T, dir, origin string) {
		text := config
		if origin == "" {
			text = "[core]\n"
		}
		write(t, filepath.Join(dir, ".git", "config"), replace(text, origin))
		write(t, filepath.Join(dir, ".git", "HEAD"), "ref: refs/heads/feat/x\n")
	}
	for _, c := range []struct {
		name   string
		setup  func(t *testing.T, home string) (dir string)
		key    string
		source string
		also   []string
	}{
		{"a plain folder", func(t *testing.T, home string) string { return filepath.Join(home, "My App") }, "my app", "folder", nil},
		{"a folder named global", func(t *testing.T, home string) string { return filepath.Join(home, "global") }, "dir:global", "folder", nil},
		{"the root", func(*testing.T, string) string { return "/" }, "unknown", "folder", nil},
		{"a marker above", func(t *testing.T, home string) string {
			write(t, filepath.Join(home, "w", ".anamnesis", "project"), "\n  Acme/Web  \nrest\n")
			return filepath.Join(home, "w", "deep", "er")
		}, "Acme/Web", "marker", nil},
		{"a blank marker is passed over", func(t *testing.T, home string) string {
			write(t, filepath.Join(home, "w", ".anamnesis", "project"), "outer")
			write(t, filepath.Join(home, "w", "in", ".anamnesis", "project"), " \n\n")
			return filepath.Join(home, "w", "in")
		}, "outer", "marker", nil},
		{"a marker at home is not read", func(t *testing.T, home string) string {
			write(t, filepath.Join(home, ".anamnesis", "project"), "hijack")
			return filepath.Join(home, "app")
		}, "app", "folder", nil},
		{"a marker beats the remote", func(t *testing.T, home string) string {
			repo(t, filepath.Join(home, "r"), "git@github.com:a/b.git")
			write(t, filepath.Join(home, "r", ".anamnesis", "project"), "marked")
			return filepath.Join(home, "r")
		}, "marked", "marker", nil},
		{"the remote", func(t *testing.T, home string) string {
			repo(t, filepath.Join(home, "r"), "git@github.com:Acme/B.git")
			return filepath.Join(home, "r", "sub")
		}, "github.com/acme/b", "remote", nil},
		{"a remote with a port is also known by its old key", func(t *testing.T, home string) string {
			repo(t, filepath.Join(home, "r"), "ssh://git@host:2222/a/b.git/")
			return filepath.Join(home, "r")
		}, "host/a/b", "remote", []string{"host/2222/a/b.git"}},
		{"no remote", func(t *testing.T, home string) string {
			repo(t, filepath.Join(home, "Root"), "")
			return filepath.Join(home, "Root", "a", "b")
		}, "root", "repository", nil},
		{"a worktree shares its project", func(t *testing.T, home string) string {
			main := filepath.Join(home, "main")
			repo(t, main, "")
			write(t, filepath.Join(main, ".git", "worktrees", "wt", "HEAD"), "ref: refs/heads/y\n")
			write(t, filepath.Join(main, ".git", "worktrees", "wt", "commondir"), "../..\n")
			write(t, filepath.Join(home, "wt", ".git"), "gitdir: "+filepath.Join(main, ".git", "worktrees", "wt")+"\n")
			return filepath.Join(home, "wt")
		}, "main", "repository", nil},
		{"a .git file that leads nowhere", func(t *testing.T, home string) string {
			write(t, filepath.Join(home, "x", ".git"), "gitdir: /nowhere\n")
			return filepath.Join(home, "x")
		}, "x", "folder", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, home := open(t)
			id := project.Identify(s, c.setup(t, home))
			if id.Key != c.key || id.Source != c.source || !slices.Equal(id.Also, c.also) {
				t.Errorf("got %q from %s, also %q; want %q from %s, also %q", id.Key, id.Source, id.Also, c.key, c.source, c.also)
			}
		})
	}
}

func replace(text, origin string) string {
	out := ""
	for _, r := range text {
		if r == '%' {
			out += origin
			continue
		}
		out += string(r)
	}
	return out
}

func TestIdentifyRelative(t *testing.T) {
	s, home := open(t)
	write(t, filepath.Join(home, "w", ".anamnesis", "project"), "marked")
	t.Chdir(filepath.Join(home, "w"))
	if id := project.Identify(s, "."); id.Key != "marked" {
		t.Errorf("%q", id.Key)
	}
}

func TestAliases(t *testing.T) {
	s, _ := open(t)
	for _, a := range [][2]string{
		{"old", "new"}, {"older", "old"}, {"it's", "new"}, // a chain, and a quote
		{"x", "y"}, {"y", "z"}, {"z", "x"}, // a circle
		{"two", "b"}, {"two", "a"}, // two machines disagree
	} {
		if err := project.AddAlias(storetest.Writer(s), a[0], a[1]); err != nil {
			t.Fatal(err)
		}
	}
	for key, want := range map[string]string{
		"older": "new", "old": "new", "new": "new", "it's": "new", "none": "none", "x": "x", "y": "x", "z": "x", "two": "a",
	} {
		if got := project.Canonical(s, key); got != want {
			t.Errorf("Canonical(%q) = %q, want %q", key, got, want)
		}
	}
	got := project.Names(s, project.Identity{Key: "new", Also: []string{"quirk"}})
	if d := cmp.Diff([]string{"it's", "new", "old", "older", "quirk"}, got); d != "" {
		t.Error(d)
	}
	for _, a := range [][2]string{{"a", "a"}, {"a", ""}, {"a", "global"}, {"global", "a"}} {
		if err := project.AddAlias(storetest.Writer(s), a[0], a[1]); err == nil {
			t.Errorf("%s is an alias of %s", a[0], a[1])
		}
	}
	write(t, s.Path("memory/projects.yaml"), "aliases:\n- {from: mine, to: global}\n- {from: global, to: mine}\n") // from another machine
	if got := project.Canonical(s, "mine"); got != "mine" {
		t.Errorf("a whole project became %s", got)
	}
	if got := project.Canonical(s, "global"); got != "global" {
		t.Errorf("global became %s", got)
	}
	write(t, s.Path("memory/projects.yaml"), "aliases: [")
	if _, err := project.Aliases(s); err == nil {
		t.Error("a broken file has no error")
	}
	if got := project.Canonical(s, "old"); got != "old" {
		t.Errorf("with a broken file Canonical(old) = %q", got)
	}
}
