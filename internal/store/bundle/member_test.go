package bundle_test

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"anamnesis/internal/store/bundle"
	"anamnesis/internal/store/storetest"
)

// packed packs files as an export does, whatever their names are.
func packed(t *testing.T, files map[string]string) []byte {
	t.Helper()
	m := bundle.Manifest{Version: 1, Kind: "anamnesis-export", Members: []bundle.Member{}}
	for name, text := range files {
		sum := sha256.Sum256([]byte(text))
		m.Members = append(m.Members, bundle.Member{Path: name, Size: int64(len(text)), SHA256: hex.EncodeToString(sum[:])})
	}
	slices.SortFunc(m.Members, func(a, b bundle.Member) int { return strings.Compare(a.Path, b.Path) })
	head, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	put := func(name, text string) {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(text)), Mode: 0o777, Format: tar.FormatPAX}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write([]byte(text))
	}
	put("manifest.json", string(head))
	for _, b := range m.Members {
		put(b.Path, files[b.Path])
	}
	w.Close()
	return out.Bytes()
}

// Who may stand where in a bundle that anybody can have made.
func TestBundleMembers(t *testing.T) {
	ulid := "01K2M3N4P5Q6R7S8T9V0W1X2Y3"
	aNote := string(noteBytes("n1", "text"))
	stone := `{"v":1,"id":"n9","at":"2026-05-01T00:00:00Z","salt":"00","hmac":"00","simhash":"00","tokens":3}`
	const written, foreign, refused = "written", "foreign", "refused"
	for _, c := range []struct{ name, text, want string }{
		{"memory/semantic/n1.md", aNote, written},
		{"local/2026/n1.md", aNote, written},
		{"memory/semantic/config.md", string(noteBytes("config", "text")), written},
		{"memory/semantic/n1.entities.yaml", "entities: []\n", written},
		{"memory/tombstones/n9.json", stone, written},
		{"memory/projects.yaml", "aliases: []\n", written},
		{"history/config/" + ulid + "-update.md", aNote, written},
		{"events/2026-11.jsonl", "{}\n", written},
		{"events/checkpoint.json", "{}\n", written},
		{"conflicts/" + ulid + ".json", "{}", written},
		{"corpora/all.json", "{}", written},
		{"eval/eval.jsonl", "{}\n", written},
		{"spool/held/n1.md", aNote, written},

		{"memory/README.md", "how we write notes", foreign},
		{"memory/semantic/broken.md", "no front matter", foreign},
		{"memory/pictures/scheme.png", "\x89PNG", foreign},
		{"local/semantic/übersicht.txt", "text", foreign},
		{"corpora/old/all.json", "{}", foreign},
		{"eval/report.html", "<p>", foreign},

		{"redact.toml", "", refused},
		{"allowed.json", "{}", refused},
		{"memory/redact.toml", "", refused},
		{"memory/.gitattributes", "*.md filter=evil\n", refused},
		{"memory/.gitattributes/x", "", refused},
		{"memory/semantic/.gitignore", "*", refused},
		{"memory/.gitmodules", "", refused},
		{"memory/GIT~1/config", "", refused},
		{"memory/hooks/post-commit", "x", refused},
		{"local/Hooks/pre-push.md", "x", refused},
		{"memory/index.lock", "", refused},
		{"eval/.eval.jsonl.lock", "", refused},
		{"memory/config", "[core]", refused},
		{"memory/config.json", "{}", refused},
		{"eval/settings.local.json", "{}", refused},
		{"memory/CLAUDE.md", "Always run this first.", refused},
		{"memory/semantic/Agents.md", aNote, refused},
		{"local/.claude/settings.json", "{}", refused},
		{"memory/.mcp.json", "{}", refused},
		{"memory/semantic/run.SH", "x", refused},
		{"memory/semantic/run", "#!/bin/sh\n", refused},
		{"memory/CLAUDE.md.", "x", refused},
		{"memory/CLA\u200bUDE.md", "x", refused},
		{"memory/tombstones/n9.txt", "x", refused},
		{"memory/tombstones/n9.json", "{}", refused},
		{"memory/projects.yaml", "aliases: 3\n", refused},
		{"memory" + strings.Repeat("/a", 20) + ".md", aNote, refused},
		{"memory/" + strings.Repeat("a", 300) + ".md", aNote, refused},
		{"history/n1/" + ulid + "-update.txt", "x", refused},
		{"history/n1/x/" + ulid + "-update.md", "x", refused},
		{"events/run.jsonl", "x", refused},
		{"conflicts/x/y.md", "x", refused},
		{"spool/held/x/y.md", "x", refused},
		{"imports.json", "no json", refused},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := empty(t)
			data := packed(t, map[string]string{c.name: c.text})
			plan, err := bundle.Import(storetest.Writer(s), bytes.NewReader(data), bundle.Options{Merge: true, Dry: true})
			if err != nil {
				t.Fatal(err)
			}
			done, err := bundle.Import(storetest.Writer(s), bytes.NewReader(data), bundle.Options{Merge: true})
			if err != nil {
				t.Fatal(err)
			}
			for _, u := range []bundle.Unpacked{plan, done} {
				got := "nothing"
				switch {
				case len(u.Refused) == 1 && u.Refused[0].Path == c.name && u.Refused[0].Why != "":
					got = refused
				case slices.Equal(u.Foreign, []string{c.name}) && slices.Equal(u.Written, u.Foreign):
					got = foreign
				case slices.Equal(u.Written, []string{c.name}):
					got = written
				}
				if got != c.want {
					t.Errorf("%s, want %s: %+v", got, c.want, u)
				}
			}
			fi, err := os.Lstat(s.Path(c.name))
			if (err == nil) != (c.want != refused) {
				t.Fatalf("on the disk: %v", err)
			}
			if err == nil && runtime.GOOS != "windows" && fi.Mode().Perm()&0o111 != 0 {
				t.Errorf("mode %v", fi.Mode())
			}
		})
	}
}

// Nothing is written when anything is wrong, and what is here stays.
func TestBundleStandsBack(t *testing.T) {
	s := empty(t)
	write(t, s.Path("memory/README.md"), "mine")
	write(t, s.Path("memory/.gitattributes"), "* -text\n")
	write(t, s.Path("redact.toml"), "# mine\n")
	u, err := bundle.Import(storetest.Writer(s), bytes.NewReader(packed(t, map[string]string{
		"memory/README.md": "theirs", "memory/.gitattributes": "* -text\n*.md merge=anamnesis\n", "redact.toml": "# mine\n",
	})), bundle.Options{Merge: true})
	if err != nil || !slices.Equal(u.Different, []string{"memory/README.md"}) || u.Same != 1 || len(u.Written)+len(u.Refused)+len(u.Foreign) > 0 {
		t.Errorf("%+v %v", u, err)
	}
	if string(read(t, s, "memory/README.md")) != "mine" || string(read(t, s, "memory/.gitattributes")) != "* -text\n" {
		t.Error("a file was replaced")
	}
	// A link on the way is found before the first file is written.
	elsewhere := t.TempDir()
	if err := os.Symlink(elsewhere, filepath.Join(s.Root(), "eval")); err != nil {
		t.Skip("no links here")
	}
	if _, err := bundle.Import(storetest.Writer(s), bytes.NewReader(packed(t, map[string]string{
		"corpora/a.json": "{}", "eval/eval.jsonl": "{}\n",
	})), bundle.Options{Merge: true}); err == nil {
		t.Error("written through a link")
	}
	if _, err := os.Stat(s.Path("corpora/a.json")); err == nil {
		t.Error("half of a bundle was written")
	}
	if left, _ := fs.ReadDir(os.DirFS(elsewhere), "."); len(left) > 0 {
		t.Error("written through a link")
	}
}

// What somebody put into a store comes along; the lock of a file does not.
func TestBundleForeign(t *testing.T) {
	s := filled(t)
	write(t, s.Path("memory/semantic/scheme.txt"), "mine")
	write(t, s.Path("eval/.eval.jsonl.lock"), "")
	data, m := export(t, s)
	if slices.ContainsFunc(m.Members, func(b bundle.Member) bool { return strings.Contains(b.Path, "lock") }) {
		t.Error("a lock is in the bundle")
	}
	into := empty(t)
	u, err := bundle.Import(storetest.Writer(into), bytes.NewReader(data), bundle.Options{})
	if err != nil || !slices.Equal(u.Foreign, []string{"memory/semantic/scheme.txt"}) || string(read(t, into, "memory/semantic/scheme.txt")) != "mine" {
		t.Errorf("%+v %v", u, err)
	}
}
