package doctor_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/connect"
	"anamnesis/internal/doctor"
	"anamnesis/internal/embed"
	"anamnesis/internal/index"
	"anamnesis/internal/index/sqlite"
	"anamnesis/internal/note"
	"anamnesis/internal/recall"
	"anamnesis/internal/redact"
	"anamnesis/internal/replica"
	"anamnesis/internal/store"
	"anamnesis/internal/store/storetest"
)

// A body is a healthy installation, made of files in a temporary folder.
type body struct {
	*doctor.Target
	dir, root, bin, settings, servers string
}

// healthy makes one with n notes.
func healthy(t testing.TB, n int) *body {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &body{dir: dir, root: filepath.Join(dir, "store"), bin: filepath.Join(dir, "bin", "anamnesis")}
	if runtime.GOOS == "windows" {
		b.bin += ".exe"
	}
	b.write(t, b.bin, "#!/bin/sh\n", 0o755)
	s, err := store.Open(store.Options{Root: b.root})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		b.addNote(t, s, fmt.Sprintf("Lesson %d", i), fmt.Sprintf("The build of part %d wants the flag --tags=%d; %s", i, i, strings.Repeat("otherwise it fails late. ", 20)))
	}
	for _, kind := range []string{store.Injected, store.Captured, store.Drained} {
		if err := s.Events().Log(store.Record{Kind: kind, Session: "s1"}); err != nil {
			t.Fatal(err)
		}
	}
	words, err := embed.OpenStatic(index.Words)
	if err != nil {
		t.Fatal(err)
	}
	db, err := sqlite.Open(t.Context(), sqlite.Options{Path: s.Path("index.db")})
	if err != nil {
		t.Fatal(err)
	}
	ix := index.New(db, s, index.Embedding{Local: words})
	t.Cleanup(func() { ix.Close() })
	if _, err := ix.Sync(t.Context(), index.SyncOptions{}); err != nil {
		t.Fatal(err)
	}
	redactor, err := redact.New()
	if err != nil {
		t.Fatal(err)
	}
	claude := filepath.Join(dir, "claude")
	b.settings, b.servers = filepath.Join(claude, "settings.json"), filepath.Join(dir, "claude.json")
	h := connect.Default()
	b.installs(t, filepath.Dir(b.bin), h.Release, h.Release.Version)
	hooks, err := h.Settings.Install(nil, h.Settings.PlainHooks(connect.CommandPrefix(connect.Env{MachineID: "box"}, b.bin)), connect.Own)
	if err != nil {
		t.Fatal(err)
	}
	b.write(t, b.settings, string(hooks), 0o600)
	b.write(t, b.servers, `{"mcpServers": {"anamnesis": {"command": "`+filepath.ToSlash(b.bin)+`", "args": []}}, "numStartups": 3}`, 0o600)
	b.Target = &doctor.Target{
		Store: s, Index: ix, Engine: recall.New(ix, s, recall.Options{}, recall.Models{}), Redactor: redactor,
		Self: b.bin, Version: "1.0", Path: filepath.Dir(b.bin), Patience: 100,
		Harnesses: []doctor.Harness{{
			Client: h, Home: claude, ServersPath: b.servers,
			Also: []string{filepath.Join(dir, "project", "settings.json")},
			Trust: func(context.Context) ([]connect.Approval, error) {
				return []connect.Approval{{Event: "prompt", Runs: true}}, nil
			},
		}},
		Reader:   func() (string, error) { return "agent only", nil },
		Project:  func(context.Context) (string, error) { return "", nil },
		Settings: []doctor.Setting{{Name: "machine_id", Source: "file", HasEffect: true}},
		Sync: func(context.Context) (replica.SyncState, error) {
			return replica.SyncState{Initialized: true, Remote: "you@desk:memory.git", LastSync: time.Now().Add(-time.Hour).Format(time.RFC3339), Detail: "ok"}, nil
		},
		Waiting:    func(context.Context) ([]string, error) { return nil, nil },
		Server:     func(context.Context) ([]string, error) { return []string{"it answers"}, nil },
		Team:       func(context.Context) (doctor.Team, error) { return doctor.Team{Age: time.Minute, Mirrored: 3}, nil },
		Namesakes:  func(context.Context) ([]string, error) { return nil, nil },
		GitVersion: func(context.Context) (string, error) { return "git version 2.45.1", nil },
		Room:       func(string) (int64, error) { return 8 << 30, nil },
		Handshake:  func(context.Context) error { return nil },
		Models: func(context.Context) []doctor.LocalModel {
			return []doctor.LocalModel{{Name: "minilm", Setting: "recall.embed.model", Took: 9 * time.Millisecond}}
		},
		Graph: func(ctx context.Context) ([]index.SidecarState, int, error) {
			return index.SidecarStates(ctx, s, nil)
		},
		VersionOf: func(context.Context, string) (string, error) { return "anamnesis 0.9 linux/amd64", nil },
	}
	return b
}

func (b *body) write(t testing.TB, path, text string, mode fs.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// installs puts the client of an agent on the search path, as npm does on Windows.
func (b *body) installs(t testing.TB, dir string, r connect.Release, version string) {
	t.Helper()
	b.write(t, filepath.Join(dir, r.Program), "", 0o700)
	b.write(t, filepath.Join(dir, "node_modules", filepath.FromSlash(r.Package), "package.json"),
		fmt.Sprintf(`{"name": %q, "version": %q}`, r.Package, version), 0o600)
}

// put writes a file of the store.
func (b *body) put(t testing.TB, name, text string) { b.write(t, b.Store.Path(name), text, 0o600) }

func (b *body) addNote(t testing.TB, s *store.Store, title, text string) note.ID {
	t.Helper()
	now := time.Now()
	n := note.Note{
		ID: note.NewID(now), Type: note.Semantic, Scope: note.Portable, Project: "shop", Title: title, Body: text,
		MachineID: "box", CreatedAt: note.At(now), UpdatedAt: note.At(now),
		Provenance: note.Provenance{Source: note.Human, Confidence: 1},
	}
	if _, _, err := storetest.Put(s, &n, store.Ref{}, store.Update); err != nil {
		t.Fatal(err)
	}
	return n.ID
}

// forget empties a table of the index.
func forget(t testing.TB, b *body, table string) {
	t.Helper()
	db, err := sql.Open("sqlite", b.Store.Path("index.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("DELETE FROM " + table); err != nil {
		t.Fatal(err)
	}
}

// sync brings the index into step.
func (b *body) sync(t testing.TB) {
	t.Helper()
	if _, err := b.Index.Sync(t.Context(), index.SyncOptions{}); err != nil {
		t.Fatal(err)
	}
}

// one examines one check.
func (b *body) one(t testing.TB, id string) doctor.Result {
	t.Helper()
	r := doctor.Examine(t.Context(), b.Target, []string{id})
	if len(r) != 1 || r[0].ID != id {
		t.Fatalf("Examine(%q) = %+v", id, r)
	}
	return r[0]
}

// tree describes every file below a folder: name, mode, time and bytes. What
// SQLite keeps beside an open database is left out.
func tree(t testing.TB, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || strings.HasSuffix(path, "-shm") || strings.HasSuffix(path, "-wal") {
			return err
		}
		fi, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s %v %v", path, fi.Mode(), fi.ModTime())
		if fi.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, " %x", sha256.Sum256(data))
		}
		b.WriteByte('\n')
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
