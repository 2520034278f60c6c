package eval_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/config"
	"anamnesis/internal/embed"
	"anamnesis/internal/eval"
	"anamnesis/internal/index"
	"anamnesis/internal/index/sqlite"
	"anamnesis/internal/ingest"
	"anamnesis/internal/ingest/ingesttest"
	"anamnesis/internal/inject"
	"anamnesis/internal/llm"
	"anamnesis/internal/note"
	"anamnesis/internal/recall"
	"anamnesis/internal/redact"
	"anamnesis/internal/reflection"
	"anamnesis/internal/store"
)

// A model is a Generator that is a function.
type model func(p llm.Prompt) (string, error)

func (model) Name() string { return "local/m" }

func (m model) Generate(ctx context.Context, p llm.Prompt) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	return m(p)
}

// A world is a store as the program wires it, without word vectors.
type world struct {
	testing.TB
	*eval.Workbench
	redactor *redact.Redactor
	words    *embed.Static // nil for none
	copies   []string      // roots of the copies that were opened
	answer   model         // of reflection
}

// A lazyDisk does not wait for the platters: what tests write may be lost.
type lazyDisk struct{ store.OS }

func (lazyDisk) SyncDir(string) error { return nil }

func (d lazyDisk) Create(dir string) (store.File, error) {
	f, err := d.OS.Create(dir)
	return lazyFile{f}, err
}

type lazyFile struct{ store.File }

func (lazyFile) Sync() error { return nil }

var now = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{TB: t}
	var err error
	if w.redactor, err = redact.New(); err != nil {
		t.Fatal(err)
	}
	w.open()
	return w
}

func (w *world) open() {
	w.Setenv("TMPDIR", w.TempDir()) // where a test that fails leaves its copies
	bench, err := w.wire(w.Context(), filepath.Join(w.TempDir(), "store"), lazyDisk{})
	if err != nil {
		w.Fatal(err)
	}
	w.Workbench = bench
	w.Cleanup(bench.Close)
}

// setup opens a copy, as cli does.
func (w *world) setup(ctx context.Context, root string, disk store.Disk) (*eval.Workbench, error) {
	w.copies = append(w.copies, root)
	return w.wire(ctx, root, disk)
}

func (w *world) wire(ctx context.Context, root string, disk store.Disk) (*eval.Workbench, error) {
	set := config.Load(config.Environment{Lookup: func(string) (string, bool) { return "", false }, UserHome: root})
	s, err := store.Open(store.Options{Root: root, Disk: disk, Now: func() time.Time { return now }})
	if err != nil {
		return nil, err
	}
	db, err := sqlite.Open(ctx, sqlite.Options{Path: s.Path("index.db")})
	if err != nil {
		return nil, err
	}
	var e index.Embedding
	var m recall.Models
	if w.words != nil {
		e = index.Embedding{Local: w.words, Redact: w.redactor.Redact}
		m.Words = w.words
	}
	ix := index.New(db, s, e)
	engine := recall.New(ix, s, set.Recall, m)
	return &eval.Workbench{
		Store: s, Index: ix, Engine: engine, Injector: inject.New(engine, s, set.Inject),
		Ingester: ingest.New(s, ix, w.redactor, ingest.Options{MachineID: "box", HoldSimilar: true}),
		Start:    "<start>", End: "<end>", Close: func() { _ = ix.Close() },
	}, nil
}

func (w *world) reflector(b *eval.Workbench) *reflection.Reflector {
	var gen llm.Generator
	if w.answer != nil {
		gen = w.answer
	}
	return reflection.New(b.Store, b.Index, b.Ingester, w.redactor, gen, reflection.Options{MinSessions: 2, MinDurable: 2})
}

func (w *world) lab() eval.Lab {
	return eval.Lab{Live: w.Store, Setup: w.setup, Reflector: w.reflector}
}

// add writes notes as their owner.
func (w *world) add(notes ...note.Note) {
	w.Helper()
	for _, n := range notes {
		if n.Type == "" {
			n.Type = note.Semantic
		}
		if n.Title == "" {
			n.Title = "Note " + string(n.ID)
		}
		if n.Project == "" {
			n.Project = "p"
		}
		if n.UpdatedAt == "" {
			n.UpdatedAt = note.At(now.Add(-time.Hour))
		}
		if n.Provenance == (note.Provenance{}) {
			n.Provenance = note.Provenance{Source: note.Human, Confidence: 1}
		}
		out, err := w.Ingester.Admit(w.Context(), ingesttest.Whatever(&n))
		if err != nil || out.Stale != nil {
			w.Fatal(err, out.Stale)
		}
	}
}

// measure measures the world.
func (w *world) measure(cases ...eval.Case) *eval.Report {
	w.Helper()
	rep, err := eval.Measure(w.Context(), w.Workbench, cases, eval.RunOptions{})
	if err != nil {
		w.Fatal(err)
	}
	return rep
}

// tree is a hash of every file of the store but the index and the locks.
func (w *world) tree() string { return hashTree(w.TB, w.Store.Root()) }

func hashTree(t testing.TB, root string) string {
	t.Helper()
	sum := sha256.New()
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(d.Name(), "index.db") || strings.HasSuffix(name, ".bin") || strings.HasSuffix(name, ".lock") {
			return err
		}
		data, err := os.ReadFile(name)
		fi, serr := d.Info()
		if err == nil && serr == nil {
			sum.Write([]byte(name + "\x00" + fi.ModTime().String() + "\x00"))
			sum.Write(data)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

func ask(query string, ids ...note.ID) eval.Case {
	return eval.Case{Query: query, RelevantIDs: ids, Approved: true, Source: "human"}
}

func wantErr(t *testing.T, err error, part string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), part) {
		t.Errorf("error %v, want %q in it", err, part)
	}
}

func writeFile(t testing.TB, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "eval.jsonl")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func readFile(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
