package connect_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"anamnesis/internal/connect"
	"anamnesis/internal/store"

	"github.com/google/go-cmp/cmp"
)

// A bench is an agent on an empty machine, and what connects it.
type bench struct {
	*testing.T
	harness    *connect.Client
	user, home string
	in         *connect.Installer
}

// each runs f for every agent that has files of ours.
func each(t *testing.T, f func(b *bench)) {
	t.Helper()
	for _, h := range connect.All() {
		if !h.Connects() {
			continue
		}
		t.Run(h.Name, func(t *testing.T) {
			t.Parallel()
			dir, err := filepath.EvalSymlinks(t.TempDir()) // an error names where a path leads
			if err != nil {
				t.Fatal(err)
			}
			s, err := store.Open(store.Options{Root: filepath.Join(dir, "store")})
			if err != nil {
				t.Fatal(err)
			}
			user := filepath.Join(dir, "user")
			f(&bench{t, h, user, filepath.Join(user, filepath.FromSlash(h.Folder)), &connect.Installer{Store: s}})
		})
	}
}

func (b *bench) parts() []connect.Part {
	return connect.Parts(b.harness, connect.Options{Home: b.home, UserHome: b.user, Env: connect.Env{MachineID: "m"}, Command: []string{"/opt/anamnesis"}})
}

func (b *bench) write(path, text string) {
	b.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o600)
	}
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// mine is a file of the user's own, with comments and the hook of somebody else, in the form
// of a path; "" where the whole file is ours.
func mine(path string) string {
	switch filepath.Ext(path) {
	case ".json", ".jsonc":
		return "{\n  // mine\n  \"theme\": \"dark\", /* and that */\n  \"mcpServers\": {\"docs\": {\"command\": \"docs\"}},\n}\n"
	case ".toml":
		return "# mine\nmodel = \"x\" # and that\n"
	case ".yaml":
		return "# mine\nmodel:\n  default: x # and that\n"
	case ".js":
		return ""
	}
	return "# My rules\n\nUse tabs.\n"
}

// broken is a file with a mistake in its second or third line.
func broken(path string) string {
	switch filepath.Ext(path) {
	case ".json", ".jsonc":
		return "{\n  \"theme\": oops\n}\n"
	case ".toml":
		return "model = \"x\"\nthis is wrong\n"
	case ".yaml":
		return "model:\n  default: [x\nother: }\n"
	case ".js":
		return "// somebody else's\n"
	}
	return "# My rules\n\n" + "<!-- anamnesis:begin -->" + "\nno end\n"
}

// tree returns all files below a folder with their bytes.
func (b *bench) tree(dir string) map[string]string {
	b.Helper()
	all := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		all[path] = string(data)
		return err
	})
	b.must(err)
	return all
}

// Comments and what belongs to others stay byte for byte, and uninstall gives all bytes back.
func TestConnectKeepsWhatIsThere(t *testing.T) {
	each(t, func(b *bench) {
		for _, p := range b.parts() {
			if text := mine(p.Path); text != "" {
				b.write(p.Path, text)
			}
		}
		before := b.tree(b.user)
		_, err := b.in.Connect(b.harness, b.parts())
		b.must(err)
		for path, text := range before {
			data, err := os.ReadFile(path)
			b.must(err)
			for _, line := range []string{"mine", "and that", "docs", "Use tabs."} {
				if strings.Contains(text, line) && !bytes.Contains(data, []byte(line)) {
					b.Errorf("%s lost %q:\n%s", path, line, data)
				}
			}
		}
		again, err := b.in.Connect(b.harness, b.parts())
		b.must(err)
		for _, c := range again {
			if c.Result != "unchanged" {
				b.Errorf("the second time %s is %s", c.Path, c.Result)
			}
		}
		_, err = b.in.Disconnect(b.harness, b.parts())
		b.must(err)
		after := b.tree(b.user)
		if diff := cmp.Diff(before, after); diff != "" {
			b.Errorf("after uninstall (-before +after):\n%s", diff)
		}
	})
}

// A file with a mistake in it is refused with its line and column, and no file of the agent
// changes, the whole ones neither.
func TestConnectRefusesBrokenFiles(t *testing.T) {
	each(t, func(b *bench) {
		for _, bad := range b.parts() {
			for _, p := range b.parts() {
				if text := mine(p.Path); text != "" {
					b.write(p.Path, text)
				}
			}
			b.write(bad.Path, broken(bad.Path))
			before := b.tree(b.user)
			_, err := b.in.Connect(b.harness, b.parts())
			var format *connect.FormatError
			var place *connect.SettingsError
			if !errors.As(err, &format) || !errors.As(err, &place) || place.Line < 1 || place.Column < 1 || place.Next == "" {
				b.Errorf("%s: error %v, want one with the file, line and column", bad.Path, err)
			}
			if filepath.Ext(bad.Path) != ".js" && place != nil && place.Line < 2 {
				b.Errorf("%s: the mistake stands in line %d", bad.Path, place.Line)
			}
			if diff := cmp.Diff(before, b.tree(b.user)); diff != "" {
				b.Errorf("%s: something changed (-before +after):\n%s", bad.Path, diff)
			}
			_ = os.Remove(bad.Path)
		}
	})
}

// A home that takes no file is an error that names it, and nothing is left behind.
func TestConnectReadOnlyHome(t *testing.T) {
	each(t, func(b *bench) {
		b.must(os.MkdirAll(filepath.Dir(b.home), 0o700))
		b.write(b.home, "a file where the folder should be: nobody, root neither, can write below it")
		before := b.tree(b.user)
		_, err := b.in.Connect(b.harness, b.parts())
		if err == nil || !strings.Contains(err.Error(), b.home) {
			b.Errorf("error %v, want one with the path", err)
		}
		if diff := cmp.Diff(before, b.tree(b.user)); diff != "" {
			b.Errorf("something changed (-before +after):\n%s", diff)
		}
	})
}

// A home or a file that is a link stays one; what it leads to changes and is restored.
func TestConnectFollowsLinks(t *testing.T) {
	each(t, func(b *bench) {
		elsewhere := filepath.Join(filepath.Dir(b.user), "dotfiles")
		b.must(os.MkdirAll(elsewhere, 0o700))
		b.must(os.MkdirAll(filepath.Dir(b.home), 0o700))
		if err := os.Symlink(elsewhere, b.home); err != nil {
			b.Skip(err)
		}
		first := b.parts()[0].Path
		if text := mine(first); text != "" { // and in the home the file is a link, too
			b.write(filepath.Join(elsewhere, "real"), text)
			b.must(os.MkdirAll(filepath.Dir(first), 0o700))
			b.must(os.Symlink(filepath.Join(elsewhere, "real"), first))
		}
		before := b.tree(elsewhere)
		_, err := b.in.Connect(b.harness, b.parts())
		b.must(err)
		if fi, err := os.Lstat(b.home); err != nil || fi.Mode()&fs.ModeSymlink == 0 {
			b.Errorf("the home is a link no more: %v", err)
		}
		if fi, err := os.Lstat(first); mine(first) != "" && (err != nil || fi.Mode()&fs.ModeSymlink == 0) {
			b.Errorf("%s is a link no more: %v", first, err)
		}
		if cmp.Equal(before, b.tree(elsewhere)) {
			b.Error("nothing changed where the link leads")
		}
		_, err = b.in.Disconnect(b.harness, b.parts())
		b.must(err)
		after := b.tree(elsewhere)
		if diff := cmp.Diff(before, after); diff != "" {
			b.Errorf("after uninstall (-before +after):\n%s", diff)
		}
	})
}

// An agent that writes its file while we do loses nothing: the file is read again. One that
// never rests is an error, and its last word stands.
func TestConnectBesideAWriter(t *testing.T) {
	each(t, func(b *bench) {
		parts := b.parts()
		path, text := parts[0].Path, mine(parts[0].Path)
		if text == "" {
			b.Skip("the whole file is ours")
		}
		b.write(path, text)
		writes, most := 0, 2 // while the plan is made, and once more
		install := parts[0].Install
		parts[0].Install = func(old []byte) ([]byte, error) {
			if writes++; writes <= most {
				b.write(path, strings.Replace(text, "mine", "mine, "+strings.Repeat("again, ", writes), 1))
			}
			return install(old)
		}
		if !strings.Contains(text, "mine") {
			text = strings.Replace(text, "My rules", "mine", 1)
			b.write(path, text)
		}
		_, err := b.in.Connect(b.harness, parts)
		b.must(err)
		data, err := os.ReadFile(path)
		b.must(err)
		if !bytes.Contains(data, []byte("mine, again, again, ")) || !bytes.Contains(data, []byte("anamnesis")) {
			b.Errorf("one of two writers was lost:\n%s", data)
		}
		_, err = b.in.Disconnect(b.harness, parts)
		b.must(err)
		writes, most = 0, 1<<20
		_, err = b.in.Connect(b.harness, parts)
		if err == nil || !strings.Contains(err.Error(), "close the agent") {
			b.Errorf("beside a writer that never rests: %v", err)
		}
		if data, err := os.ReadFile(path); err != nil || bytes.Contains(data, []byte("/opt/anamnesis")) {
			b.Errorf("the writer lost: %v\n%s", err, data)
		}
	})
}

// An agent whose folder was deleted is no trouble for uninstall, and can come back.
func TestDisconnectRemovedAgent(t *testing.T) {
	each(t, func(b *bench) {
		_, err := b.in.Connect(b.harness, b.parts())
		b.must(err)
		b.must(os.RemoveAll(b.user))
		done, err := b.in.Disconnect(b.harness, b.parts())
		b.must(err)
		for _, c := range done {
			if c.Result != "nothing to remove from" {
				b.Errorf("%s: %s", c.Path, c.Result)
			}
		}
		if left := connect.Connected(b.in.Store); len(left) > 0 {
			b.Errorf("the record still names %v", left)
		}
		if _, err := os.Stat(b.user); !errors.Is(err, fs.ErrNotExist) {
			b.Errorf("something came back: %v", err)
		}
		_, err = b.in.Connect(b.harness, b.parts())
		b.must(err)
	})
}

// Two versions of an agent share a home: what one wrote last says which is shown, and
// sessions and settings of either are read.
func TestLookTwoVersions(t *testing.T) {
	each(t, func(b *bench) {
		if b.harness.Name != "codex" {
			return // the fixtures of one agent; the others' records have a version likewise
		}
		for i, v := range []string{"0.100.0", "0.169.0"} {
			b.write(filepath.Join(b.home, "sessions", "2026", "11", "2"+string(rune('0'+i)), "rollout-2026-11-2"+string(rune('0'+i))+"T10-00-00-x.jsonl"),
				`{"timestamp":"2026-11-20T10:00:00Z","type":"session_meta","payload":{"id":"s","cwd":"/p","cli_version":"`+v+`"}}`+"\n")
		}
		if got := connect.Look(b.harness, b.home, b.user, b.home); got.Version != "0.169.0" {
			b.Errorf("version %q", got.Version)
		}
	})
}
