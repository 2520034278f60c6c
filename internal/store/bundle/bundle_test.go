package bundle_test

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/note"
	"anamnesis/internal/store"
	"anamnesis/internal/store/bundle"
	"anamnesis/internal/store/storetest"
	"anamnesis/internal/store/tombstone"
)

// filled makes a store with one of everything that a bundle holds.
func filled(t *testing.T) *store.Store {
	t.Helper()
	s, err := store.Open(store.Options{Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []note.ID{"a", "b"} {
		n := &note.Note{
			ID: id, Type: note.Semantic, Title: "note " + string(id), Body: "body", Project: "p", MachineID: "m", Scope: note.Portable,
			UserID: "self", WorkspaceID: "personal", Provenance: note.Provenance{Source: note.Human, Confidence: 1},
		}
		if id == "b" {
			n.Scope = note.Local
		}
		ref, _, err := storetest.Put(s, n, store.Ref{}, store.Update)
		if err != nil {
			t.Fatal(err)
		}
		n.Body = "changed"
		if _, _, err := storetest.Put(s, n, ref, store.Update); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Events().Log(store.Record{Kind: store.Recalled, Query: "q"}); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"memory/semantic/a.entities.yaml": "entities: []\n", "corpora/c.json": "{}\n", "redact.toml": "# mine\n", "config.json": "{}",
		"memory/.git/config": "[core]\n", "spool/held/x.md": "x", "index.db": "derived",
	} {
		if err := os.MkdirAll(filepath.Dir(s.Path(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(s.Path(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func export(t *testing.T, s *store.Store) ([]byte, bundle.Manifest) {
	t.Helper()
	var b bytes.Buffer
	m, err := bundle.Export(t.Context(), s, &b)
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), m
}

func empty(t *testing.T) *store.Store {
	t.Helper()
	s, err := store.Open(store.Options{Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestBundle(t *testing.T) {
	s := filled(t)
	one, m := export(t, s)
	two, _ := export(t, s)
	if !bytes.Equal(one, two) {
		t.Error("two bundles of one store differ")
	}
	if m.Notes != 2 {
		t.Errorf("%d notes, want 2", m.Notes)
	}
	for _, b := range m.Members {
		if strings.Contains(b.Path, ".git") || strings.HasPrefix(b.Path, "index") || b.Path == "config.json" {
			t.Errorf("%s is in the bundle", b.Path)
		}
	}
	into := empty(t)
	if u, err := bundle.Import(storetest.Writer(into), bytes.NewReader(one), bundle.Options{Dry: true}); err != nil || len(u.Written) != len(m.Members)-1 {
		t.Fatalf("dry run: %d of %d, %v", len(u.Written), len(m.Members), err)
	}
	if entries, _ := os.ReadDir(into.Path("history")); len(entries) > 0 {
		t.Error("the dry run wrote something")
	}
	if _, err := bundle.Import(storetest.Writer(into), bytes.NewReader(one), bundle.Options{}); err != nil {
		t.Fatal(err)
	}
	for _, b := range m.Members {
		want, _ := os.ReadFile(s.Path(b.Path))
		if b.Path == "redact.toml" { // its owner puts it there
			if _, err := os.Stat(into.Path(b.Path)); err == nil {
				t.Error("rules of redaction were taken from a bundle")
			}
			write(t, into.Path(b.Path), string(want))
		}
		got, err := os.ReadFile(into.Path(b.Path))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %v, equal %v", b.Path, err, bytes.Equal(got, want))
		}
	}
	again, _ := export(t, into)
	if !bytes.Equal(one, again) {
		t.Error("the bundle of the filled store differs from the one it was filled from")
	}
	if _, err := bundle.Import(storetest.Writer(into), bytes.NewReader(one), bundle.Options{}); !errors.Is(err, bundle.ErrPopulated) {
		t.Errorf("a store with notes: %v, want ErrPopulated", err)
	}
}

func TestBundleMerge(t *testing.T) {
	data, _ := export(t, filled(t))
	s := empty(t)
	if _, err := bundle.Import(storetest.Writer(s), bytes.NewReader(data), bundle.Options{}); err != nil {
		t.Fatal(err)
	}
	name := "memory/semantic/a.md"
	mine, _ := os.ReadFile(s.Path(name))
	mine = bytes.Replace(mine, []byte("changed"), []byte("mine"), 1)
	if err := os.WriteFile(s.Path(name), mine, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := tombstone.Forget(storetest.Writer(s), "b"); err != nil {
		t.Fatal(err)
	}
	u, err := bundle.Import(storetest.Writer(s), bytes.NewReader(data), bundle.Options{Merge: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(u.Different) != 1 || u.Different[0] != name || len(u.Forgotten) != 2 ||
		!strings.HasPrefix(u.Forgotten[0], "history/b/") || u.Forgotten[1] != "local/semantic/b.md" {
		t.Errorf("merged: %+v", u)
	}
	if _, err := os.Stat(s.Path("history/b")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a former form of what was forgotten is back: %v", err)
	}
	if now, _ := os.ReadFile(s.Path(name)); !bytes.Equal(now, mine) {
		t.Error("what was there did not stay")
	}
}

// remade changes the members of a bundle.
func remade(t *testing.T, data []byte, change func(name string, data []byte) (string, []byte)) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for r := tar.NewReader(bytes.NewReader(data)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(r)
		name, body := change(h.Name, body)
		if name == "" {
			continue
		}
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(body)), Mode: 0o644}); err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write(body)
	}
	w.Close()
	return out.Bytes()
}

func TestBundleHostile(t *testing.T) {
	good, m := export(t, filled(t))
	first := m.Members[0].Path
	rename := func(to string) []byte {
		return remade(t, good, func(name string, data []byte) (string, []byte) {
			if name == "manifest.json" {
				return name, bytes.Replace(data, []byte(`"`+first+`"`), []byte(`"`+to+`"`), 1)
			}
			if name == first {
				return to, data
			}
			return name, data
		})
	}
	edit := func(change func(*bundle.Manifest)) []byte {
		return remade(t, good, func(name string, data []byte) (string, []byte) {
			if name != "manifest.json" {
				return name, data
			}
			var m bundle.Manifest
			if err := json.Unmarshal(data, &m); err != nil {
				t.Fatal(err)
			}
			change(&m)
			data, _ = json.Marshal(m)
			return name, data
		})
	}
	for name, data := range map[string][]byte{
		"nothing":           nil,
		"no tar":            []byte(strings.Repeat("x", 2000)),
		"cut short":         good[:len(good)/2],
		"climbing":          rename("../../etc/passwd"),
		"absolute":          rename("/etc/passwd"),
		"into git":          rename("conflicts/.GIT/config"),
		"settings":          rename("config.json"),
		"a device":          rename("corpora/CON.json"),
		"windows":           rename(`corpora\\..\\..\\x`),
		"another version":   edit(func(m *bundle.Manifest) { m.Version = 2 }),
		"another kind":      edit(func(m *bundle.Manifest) { m.Kind = "reflect-kb-export" }),
		"a member too many": edit(func(m *bundle.Manifest) { m.Members = m.Members[:len(m.Members)-1] }),
		"one too few":       edit(func(m *bundle.Manifest) { m.Members = append(m.Members, bundle.Member{Path: "memory/z.md"}) }),
		"changed": remade(t, good, func(name string, data []byte) (string, []byte) {
			return name, bytes.Replace(data, []byte("changed"), []byte("forged!"), 1)
		}),
	} {
		s := empty(t)
		if _, err := bundle.Import(storetest.Writer(s), bytes.NewReader(data), bundle.Options{}); err == nil {
			t.Errorf("%s: it was taken", name)
		}
		for range s.Walk() {
			t.Errorf("%s: something was written", name)
			break
		}
	}
}

func FuzzBundle(f *testing.F) {
	f.Add([]byte("x"))
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	_ = w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "manifest.json", Size: 79, Mode: 0o644})
	_, _ = w.Write([]byte(`{"format_version":1,"kind":"anamnesis-export","note_count":0,"members":[{}]}   `))
	w.Close()
	f.Add(b.Bytes())
	s, err := store.Open(store.Options{Root: f.TempDir()})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		u, err := bundle.Import(storetest.Writer(s), bytes.NewReader(data), bundle.Options{Merge: true, Dry: true})
		if err == nil && len(u.Manifest.Members) < len(u.Written) {
			t.Errorf("%d files of %d members", len(u.Written), len(u.Manifest.Members))
		}
	})
}

// A crash between the keeping of a form and the change leaves the form; the
// change that follows later is found by its own time all the same.
func TestFormsBeforeAfterCrash(t *testing.T) {
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	s, err := store.Open(store.Options{Root: t.TempDir(), Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	n := &note.Note{
		ID: "a", Type: note.Semantic, Title: "note", Body: "body", Project: "p", MachineID: "m", Scope: note.Portable,
		UserID: "self", WorkspaceID: "personal", Provenance: note.Provenance{Source: note.Human, Confidence: 1},
	}
	ref, _, err := storetest.Put(s, n, store.Ref{}, store.Update)
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(s.Path(ref.Path))
	if err != nil {
		t.Fatal(err)
	}
	n.Project = "q"
	if _, _, err := storetest.Put(s, n, ref, store.Update); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.Path(ref.Path), before, 0o600); err != nil { // as if the change had not come about
		t.Fatal(err)
	}
	now = now.Add(time.Hour)
	began := now
	if ref, err = s.Find("a"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := storetest.Put(s, n, ref, store.Update); err != nil {
		t.Fatal(err)
	}
	if forms, err := s.FormsBefore(began, time.Time{}); err != nil || len(forms) != 1 {
		t.Errorf("%d forms before the change, %v; want 1", len(forms), err)
	}
}
