package project_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"anamnesis/internal/store"
	"anamnesis/internal/store/project"
	"anamnesis/internal/store/storetest"

	"pgregory.net/rapid"
)

// gitInit makes what git has in a new repository, as far as it is read, or gives one another remote.
func gitInit(t fataler, dir, remote string) {
	t.Helper()
	made(t, os.MkdirAll(filepath.Join(dir, ".git", "objects"), 0o755))
	config := "[core]\n"
	if remote != "" {
		config += "[remote \"origin\"]\n\turl = " + remote + "\n"
	}
	for name, text := range map[string]string{"HEAD": "ref: refs/heads/main\n", "config": config, "description": "Unnamed\n"} {
		if file := filepath.Join(dir, ".git", name); name == "config" || !exists(file) { // git writes the others once
			made(t, os.WriteFile(file, []byte(text), 0o644))
		}
	}
}

type fataler interface {
	Helper()
	Fatal(args ...any)
}

func made(t fataler, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// here is the project of a folder, entered in the table.
func here(t fataler, s *store.Store, dir string) project.Identity {
	t.Helper()
	id := project.Identify(s, dir)
	made(t, project.Remember(s, id))
	return project.Identify(s, dir)
}

func reads(s *store.Store, id project.Identity, key string) bool {
	return slices.Contains(project.Names(s, id), key)
}

// A repository keeps its project when it is moved or renamed, and a second folder of the same name is another one.
func TestPlaces(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a clone is known by its folder there")
	}
	s, home := open(t)
	at := func(parts ...string) string { return filepath.Join(append([]string{home}, parts...)...) }
	gitInit(t, at("a", "backend"), "")
	gitInit(t, at("b", "backend"), "")
	one, two := here(t, s, at("a", "backend")), here(t, s, at("b", "backend"))
	if one.Key != "backend" || two.Key == "backend" || !strings.HasPrefix(two.Key, "backend-") || reads(s, one, two.Key) || reads(s, two, one.Key) {
		t.Fatalf("%q and %q", one.Key, two.Key)
	}
	made(t, os.MkdirAll(at("c"), 0o755))
	made(t, os.Rename(at("a", "backend"), at("c", "server")))
	if id := here(t, s, at("c", "server")); id.Key != "backend" || id.Source != "known" {
		t.Errorf("moved: %q from %s", id.Key, id.Source)
	}
	gitInit(t, at("a", "backend"), "") // another repository in the old place
	if id := here(t, s, at("a", "backend")); reads(s, id, "backend") || reads(s, id, two.Key) {
		t.Errorf("a new repository in an old place is %q", id.Key)
	}
	gitInit(t, at("c", "server"), "https://github.com/acme/server.git") // it gets a remote
	id := here(t, s, at("c", "server"))
	if id.Key != "github.com/acme/server" || !reads(s, id, "backend") {
		t.Errorf("with a remote it is %q, and reads %q", id.Key, project.Names(s, id))
	}
	gitInit(t, at("c", "server"), "https://gitlab.com/acme/server.git") // and another one
	id = here(t, s, at("c", "server"))
	if p := id.Place(s); id.Key != "gitlab.com/acme/server" || reads(s, id, "github.com/acme/server") || p.Before != "github.com/acme/server" {
		t.Errorf("with another remote it is %q, reads %q: %+v", id.Key, project.Names(s, id), p)
	}
	made(t, project.Join(s, at("c", "server"), "github.com/acme/server"))
	if id := project.Identify(s, at("c", "server", "x")); id.Key != "github.com/acme/server" || id.Source != "joined" || id.Sub != "x" {
		t.Errorf("joined it is %+v", id)
	}
	made(t, project.Join(s, at("c", "server"), ""))
	if id := project.Identify(s, at("c", "server")); id.Key != "gitlab.com/acme/server" {
		t.Errorf("after the undo it is %q", id.Key)
	}
	if err := project.Join(s, at("gone"), "x"); err != nil && !strings.Contains(err.Error(), "gone") {
		t.Error(err)
	}

	gitInit(t, at("lone"), "") // without a remote: joined, moved, and taken back
	lone := here(t, s, at("lone"))
	made(t, project.Join(s, at("lone"), "acme/other"))
	if id := here(t, s, at("lone")); id.Key != "acme/other" || !reads(s, id, lone.Key) {
		t.Errorf("joined it is %q, and reads %q", id.Key, project.Names(s, id))
	}
	made(t, os.Rename(at("lone"), at("alone")))
	if id := here(t, s, at("alone")); id.Key != "acme/other" {
		t.Errorf("joined and moved it is %q", id.Key)
	}
	made(t, project.Join(s, at("alone"), ""))
	if id := here(t, s, at("alone")); id.Key != lone.Key || reads(s, id, "acme/other") {
		t.Errorf("after the undo it is %q, and reads %q", id.Key, project.Names(s, id))
	}

	made(t, os.MkdirAll(at("docs"), 0o755)) // a plain folder that becomes a repository is the same
	plain := here(t, s, at("docs"))
	gitInit(t, at("docs"), "")
	if id := here(t, s, at("docs")); id.Key != plain.Key {
		t.Errorf("%q became %q", plain.Key, id.Key)
	}
	made(t, os.RemoveAll(at("b", "backend"))) // deleted, and another one made in its place
	gitInit(t, at("b", "backend"), "")
	if id := here(t, s, at("b", "backend")); reads(s, id, two.Key) || reads(s, id, "backend") {
		t.Errorf("a repository in the place of one that was deleted is %q", id.Key)
	}
	write(t, s.Path(project.PlacesFile), "{")
	if id := project.Identify(s, at("docs")); id.Key != "docs" {
		t.Errorf("with a broken table: %q", id.Key)
	}
}

// The table keeps what the user joined, and drops folders that are gone first.
func TestPlacesBounded(t *testing.T) {
	s, home := open(t)
	joined, kept := filepath.Join(home, "joined"), filepath.Join(home, "kept")
	for _, dir := range []string{joined, kept} {
		made(t, os.MkdirAll(dir, 0o755))
	}
	made(t, project.Join(s, joined, "acme/shop"))
	here(t, s, kept)
	table := project.Places(s)
	for i := range 600 {
		table = append(table, project.Place{Key: fmt.Sprint("gone ", i), Dir: filepath.Join(home, fmt.Sprint("gone", i))})
	}
	data, err := json.Marshal(map[string]any{"v": 1, "places": table})
	made(t, err)
	made(t, s.Replace(project.PlacesFile, data))
	made(t, os.MkdirAll(filepath.Join(home, "new"), 0o755))
	here(t, s, filepath.Join(home, "new"))
	left := project.Places(s)
	has := func(dir string) bool {
		return slices.ContainsFunc(left, func(p project.Place) bool { return p.Dir == dir })
	}
	if len(left) > 500 || !has(joined) || !has(kept) || !has(filepath.Join(home, "new")) {
		t.Errorf("%d places, joined %v, kept %v", len(left), has(joined), has(kept))
	}
}

// A repository in the home folder counts for that folder alone.
func TestHomeRepository(t *testing.T) {
	s, home := open(t)
	gitInit(t, home, "https://github.com/ada/dotfiles.git")
	for _, dir := range []string{"scratch/one", "other/two"} {
		made(t, os.MkdirAll(filepath.Join(home, dir), 0o755))
	}
	if id := project.Identify(s, home); id.Key != "github.com/ada/dotfiles" {
		t.Errorf("home is %q", id.Key)
	}
	if one, two := here(t, s, filepath.Join(home, "scratch", "one")), here(t, s, filepath.Join(home, "other", "two")); one.Key != "one" || two.Key != "two" {
		t.Errorf("%q and %q", one.Key, two.Key)
	}
}

// A marker counts at once where git does not track it. One that came with a clone names nothing until the user says so.
func TestMarkers(t *testing.T) {
	s, home := open(t)
	dir := filepath.Join(home, "w")
	gitInit(t, dir, "https://github.com/acme/shop.git")
	marker := filepath.Join(dir, ".anamnesis", "project")
	write(t, marker, "private\n")
	index := func(version byte, names ...string) {
		data := "DIRC\x00\x00\x00" + string([]byte{version}) + "\x00\x00\x00" + string([]byte{byte(len(names))})
		last := ""
		for _, name := range names {
			entry := strings.Repeat("\x01", 60) + "\x00\x0f"
			if version == 4 {
				same := 0
				for same < len(last) && same < len(name) && last[same] == name[same] {
					same++
				}
				entry += string([]byte{byte(len(last) - same)}) + name[same:] + "\x00"
			} else {
				entry += name + "\x00"
				entry += strings.Repeat("\x00", (8-len(entry)%8)%8)
			}
			data, last = data+entry, name
		}
		made(t, os.WriteFile(filepath.Join(dir, ".git", "index"), []byte(data+strings.Repeat("\x02", 20)), 0o644))
	}
	for _, version := range []byte{2, 3, 4} {
		index(version, ".anamnesis/config.json", ".anamnesis/project", "go.mod")
		if id := project.Identify(s, dir); id.Key != "github.com/acme/shop" || id.Asks != "private" {
			t.Errorf("version %d: a marker that came with the clone: %q, asks %q", version, id.Key, id.Asks)
		}
		index(version, ".anamnesis/config.json", "go.mod")
		if id := project.Identify(s, dir); id.Key != "private" || id.Asks != "" {
			t.Errorf("version %d: a marker that git does not track: %q, asks %q", version, id.Key, id.Asks)
		}
	}
	write(t, filepath.Join(dir, ".git", "index"), "no index")
	if id := project.Identify(s, dir); id.Key != "github.com/acme/shop" {
		t.Errorf("an index that cannot be read: %q", id.Key)
	}
	index(2, "go.mod")
	here(t, s, dir)
	index(2, ".anamnesis/project")
	if id := project.Identify(s, dir); id.Key != "private" || id.Source != "marker" {
		t.Errorf("what counted before it was committed: %q from %s", id.Key, id.Source)
	}
}

// A folder of a repository has the notes of its path and of those above it.
func TestSubfolders(t *testing.T) {
	s, home := open(t)
	dir := filepath.Join(home, "w")
	gitInit(t, dir, "https://github.com/acme/shop.git")
	api := filepath.Join(dir, "packages", "api")
	made(t, os.MkdirAll(filepath.Join(api, "v1"), 0o755))
	const key = "github.com/acme/shop"
	names := project.Names(s, project.Identify(s, filepath.Join(api, "v1")))
	for _, want := range []string{key, key + "//packages", key + "//packages/api", key + "//packages/api/v1"} {
		if !slices.Contains(names, want) {
			t.Errorf("%q has not %q", names, want)
		}
	}
	if names := project.Names(s, project.Identify(s, dir)); !slices.Equal(names, []string{key}) {
		t.Errorf("the top has %q", names)
	}
	write(t, filepath.Join(api, ".anamnesis", "project"), "shop/api")
	id := here(t, s, filepath.Join(api, "v1"))
	if id.Key != "shop/api" || !reads(s, id, key) {
		t.Errorf("a marked folder is %q, and reads %q", id.Key, project.Names(s, id))
	}
	if id := here(t, s, dir); id.Key != key || reads(s, id, "shop/api") {
		t.Errorf("its repository is %q, and reads %q", id.Key, project.Names(s, id))
	}
	made(t, project.AddAlias(storetest.Writer(s), key, "shop"))
	if got := project.Canonical(s, key+"//packages"); got != "shop//packages" {
		t.Errorf("the alias of a folder: %q", got)
	}
}

// A path of another system names the project by its last element, and is never looked up here.
func TestForeign(t *testing.T) {
	if filepath.Separator == '\\' {
		t.Skip("other paths are foreign there")
	}
	s, home := open(t)
	gitInit(t, filepath.Join(home, "secret"), "https://github.com/zorblatt/secret.git")
	t.Chdir(filepath.Join(home, "secret"))
	for dir, want := range map[string]string{
		`C:\Users\me\src\shop`: "shop", `c:/src/Shop/`: "shop", `\\server\share\billing`: "billing", `D:\`: "d:",
	} {
		if id := project.Identify(s, dir); id.Key != want || id.Source != "foreign" {
			t.Errorf("%s: %q from %s", dir, id.Key, id.Source)
		}
	}
	made(t, os.MkdirAll(filepath.Join(home, "shop"), 0o755))
	here(t, s, filepath.Join(home, "shop"))
	if id := project.Identify(s, `C:\src\shop`); id.Key == "shop" {
		t.Error("a path of Windows is a folder of this machine")
	}
	made(t, project.Join(s, `C:\src\shop`, "github.com/acme/shop"))
	if id := project.Identify(s, `C:\src\shop`); id.Key != "github.com/acme/shop" {
		t.Errorf("a mapping that the user gave: %q", id.Key)
	}
}

// TestWorlds: in random worlds of folders, clones, forks and remotes no folder reads the notes of a project that it never was.
func TestWorlds(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a clone is known by its folder there")
	}
	world := 0
	rapid.Check(t, func(rt *rapid.T) {
		world++
		root := filepath.Join(t.TempDir(), fmt.Sprint(world))
		home := filepath.Join(root, "home")
		made(rt, os.MkdirAll(home, 0o755))
		s, err := store.Open(store.Options{Root: filepath.Join(root, "store"), Home: home})
		made(rt, err)
		type clone struct {
			dir  string
			is   string   // the project that it is
			was  []string // and those that it was
			gone bool
		}
		var clones []*clone
		wrote := make(map[string]string) // the project that writes under a key
		names := rapid.SampledFrom([]string{"shop", "backend", "api"})
		remotes := rapid.SampledFrom([]string{"", "", "https://github.com/acme/shop.git", "git@github.com:acme/shop.git", "https://github.com/fork/shop.git"})
		fresh := 0
		isOf := func(remote string) string {
			if remote == "" {
				fresh++
				return fmt.Sprintf("own %d", fresh)
			}
			return project.NormalizeRemote(remote)
		}
		folder := func() string {
			for {
				fresh++
				if dir := filepath.Join(home, fmt.Sprint("d", fresh%3), names.Draw(rt, "name")); !exists(dir) {
					return dir
				}
				if fresh > 1000 {
					rt.Skip("no folder is left")
				}
				if fresh%3 == 0 {
					return filepath.Join(home, fmt.Sprint("e", fresh), names.Draw(rt, "name"))
				}
			}
		}
		alive := func() *clone {
			var all []*clone
			for _, c := range clones {
				if !c.gone {
					all = append(all, c)
				}
			}
			if len(all) == 0 {
				return nil
			}
			return rapid.SampledFrom(all).Draw(rt, "clone")
		}
		for range rapid.IntRange(2, 14).Draw(rt, "steps") {
			c := alive()
			switch op := rapid.SampledFrom([]string{"clone", "clone", "move", "remote", "no remote", "delete", "work", "work"}).Draw(rt, "op"); {
			case op == "clone" || c == nil:
				remote := remotes.Draw(rt, "remote")
				c = &clone{dir: folder(), is: isOf(remote)}
				gitInit(rt, c.dir, remote)
				clones = append(clones, c)
			case op == "move":
				to := folder()
				made(rt, os.MkdirAll(filepath.Dir(to), 0o755))
				made(rt, os.Rename(c.dir, to))
				c.dir = to
			case op == "remote":
				if remote := remotes.Draw(rt, "remote"); remote != "" && project.NormalizeRemote(remote) != c.is {
					gitInit(rt, c.dir, remote) // keeps what is there but for the address
					c.was, c.is = append(c.was, c.is), project.NormalizeRemote(remote)
				}
			case op == "no remote":
				gitInit(rt, c.dir, "") // it is the project that it was
			case op == "delete":
				made(rt, os.RemoveAll(c.dir))
				c.gone = true
			}
			for _, c := range clones { // a session in each that is there
				if c.gone {
					continue
				}
				id := here(rt, s, c.dir)
				if of, ok := wrote[id.Key]; ok && of != c.is {
					rt.Fatalf("%s is %s and writes to %q, which is of %s", c.dir, c.is, id.Key, of)
				}
				wrote[id.Key] = c.is
				for _, key := range project.Names(s, id) {
					if of, ok := wrote[key]; ok && of != c.is && (!slices.Contains(c.was, of) || !strings.HasPrefix(of, "own ")) {
						rt.Fatalf("%s is %s and reads %q of %s", c.dir, c.is, key, of)
					}
				}
			}
		}
	})
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func FuzzTracked(f *testing.F) {
	f.Add([]byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x01"+strings.Repeat("x", 70)), "a")
	f.Add([]byte("DIRC\x00\x00\x00\x04\x00\x00\x00\x02"+strings.Repeat("\x00", 150)), "a/b")
	f.Fuzz(func(t *testing.T, data []byte, name string) {
		for _, hash := range []int{20, 32} {
			if found, ok := project.IndexHas(data, hash, name); found && !ok {
				t.Error("a name in what is no index")
			}
		}
	})
}
