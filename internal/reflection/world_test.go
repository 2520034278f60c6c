package reflection_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/index/sqlite"
	"anamnesis/internal/ingest"
	"anamnesis/internal/ingest/ingesttest"
	"anamnesis/internal/llm"
	"anamnesis/internal/llm/llmtest"
	"anamnesis/internal/note"
	"anamnesis/internal/redact"
	"anamnesis/internal/reflection"
	"anamnesis/internal/store"
	"anamnesis/internal/store/queue"
)

// A world is a store with a model that answers what the test says.
type world struct {
	testing.TB
	*reflection.Reflector
	store    *store.Store
	index    *index.Index
	door     *ingest.Ingester
	redactor *redact.Redactor
	server   *llmtest.Server
	gen      llm.Generator
	now      time.Time
}

var plain = reflection.Options{MinSessions: 5, MinDurable: 2}

func newWorld(t testing.TB) *world { return openWorld(t, t.TempDir(), nil, plain) }

// openWorld opens the store at root on a disk.
func openWorld(t testing.TB, root string, disk store.Disk, o reflection.Options) *world {
	t.Helper()
	w := &world{TB: t, now: time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)}
	var err error
	if w.store, err = store.Open(store.Options{Root: root, Disk: disk, Now: func() time.Time { return w.now }}); err != nil {
		t.Fatal(err)
	}
	db, err := sqlite.Open(t.Context(), sqlite.Options{Path: w.store.Path("index.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	r, err := redact.New()
	if err != nil {
		t.Fatal(err)
	}
	w.index = index.New(db, w.store, index.Embedding{})
	w.door = ingest.New(w.store, w.index, r, ingest.Options{MachineID: "box", HoldSimilar: true})
	w.server = llmtest.New(t)
	w.redactor = r
	w.wait(120, o)
	return w
}

// wait makes another reflector, with a model that is waited for so many seconds.
func (w *world) wait(seconds float64, o reflection.Options) {
	w.Helper()
	var err error
	w.gen, err = llm.NewGenerator(llm.GeneratorOptions{Provider: llm.Local, URL: w.server.URL, Model: "m", Timeout: seconds}, llm.Network{},
		reflection.NewBudget(w.store, o).Watching(llm.Local, true).For("reflect"))
	if err != nil {
		w.Fatal(err)
	}
	w.Reflector = reflection.New(w.store, w.index, w.door, w.redactor, w.gen, o)
}

// answers sets what the model says.
func (w *world) answers(text string) { w.server.Answer = func(string, string) string { return text } }

// add writes a note as the one whom its source names, without asking what it is like.
func (w *world) add(n note.Note) note.ID {
	w.Helper()
	out, err := w.door.Admit(w.Context(), ingesttest.Whatever(&n))
	if err != nil || out.Stale != nil {
		w.Fatal(err, out.Stale)
	}
	// The clock of the world is ahead, and no note is newer than its file.
	if err := os.Chtimes(w.store.Path(out.Ref.Path), w.now, w.now); err != nil {
		w.Fatal(err)
	}
	if err := w.index.Refresh(w.Context(), out.Ref.Path); err != nil {
		w.Fatal(err)
	}
	return out.Note.ID
}

// sessions writes n sessions of a project.
func (w *world) sessions(project string, n int) []note.ID {
	w.Helper()
	var ids []note.ID
	for i := range n {
		ids = append(ids, w.add(note.Note{
			ID: note.ID(fmt.Sprintf("%s-s%d", project, i)), Type: note.Episodic, Project: project, Title: fmt.Sprintf("Session %d", i),
			Body: fmt.Sprintf("We ran make gen in step %d and the clients were generated.", i), Tags: []string{"session"},
			Provenance: note.Provenance{Source: note.SessionEnd, Confidence: 1, Session: fmt.Sprintf("id-%d", i)},
			UpdatedAt:  note.At(w.now.Add(-time.Hour + time.Duration(i)*time.Minute)),
		}))
	}
	return ids
}

func (w *world) read(id note.ID) *note.Note {
	w.Helper()
	ref, err := w.store.Find(id)
	if err != nil {
		w.Fatal(err)
	}
	n, _, _, err := w.store.Read(ref.Path)
	if err != nil {
		w.Fatal(err)
	}
	return n
}

// with lists the notes on the disk that have a tag.
func (w *world) with(tag string) []*note.Note {
	var all []*note.Note
	for ref := range w.store.Walk() {
		if n, _, _, err := w.store.Read(ref.Path); err == nil && n.HasTag(tag) {
			all = append(all, n)
		}
	}
	return all
}

// bytes is all that stands in the store, to see that nothing changed.
func (w *world) bytes() string {
	var b strings.Builder
	for ref := range w.store.Walk() {
		data, err := os.ReadFile(w.store.Path(ref.Path))
		if err != nil {
			w.Fatal(err)
		}
		fmt.Fprintf(&b, "%s\n%s\n", ref.Path, data)
	}
	return b.String()
}

func (w *world) tagged(tag string) (ids []note.ID) {
	for _, n := range w.with(tag) {
		ids = append(ids, n.ID)
	}
	slices.Sort(ids)
	return ids
}

const good = `[{"type": "procedural", "title": "Generate the clients", "body": "Run make gen."},
	{"type": "semantic", "title": "Clients are generated", "body": "Nobody edits the clients by hand."}]`

func wantErr(t *testing.T, err error, part string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), part) {
		t.Errorf("error %v, want %q in it", err, part)
	}
}

var errStop = errors.New("no space left on device")

// A stopDisk fails from its nth change on.
type stopDisk struct {
	store.OS
	left *int
}

func (d stopDisk) take() error {
	if *d.left--; *d.left < 0 {
		return errStop
	}
	return nil
}

func (d stopDisk) MkdirAll(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	return errors.Join(d.take(), d.mkdir(dir))
}

func (d stopDisk) mkdir(dir string) error {
	if *d.left < 0 {
		return nil
	}
	return d.OS.MkdirAll(dir)
}

func (d stopDisk) Create(dir string) (store.File, error) {
	if err := d.take(); err != nil {
		return nil, err
	}
	f, err := d.OS.Create(dir)
	return stopFile{f, d}, err
}

func (d stopDisk) Rename(from, to string) error {
	if err := d.take(); err != nil {
		return err
	}
	return d.OS.Rename(from, to)
}

func (d stopDisk) Remove(name string) error {
	if err := d.take(); err != nil {
		return err
	}
	return d.OS.Remove(name)
}

func (d stopDisk) SyncDir(string) error { return d.take() }

func (d stopDisk) Append(name string, data []byte) error {
	if err := d.take(); err != nil {
		return err
	}
	return d.OS.Append(name, data)
}

type stopFile struct {
	store.File
	disk stopDisk
}

func (f stopFile) Write(p []byte) (int, error) {
	if err := f.disk.take(); err != nil {
		n, _ := f.File.Write(p[:len(p)/2])
		return n, err
	}
	return f.File.Write(p)
}

func (f stopFile) Sync() error { return f.disk.take() }

// batches lists the batches that are not finished.
func (w *world) batches() []queue.Job {
	w.Helper()
	jobs, _, err := queue.Of(w.store).Look(queue.Batch)
	if err != nil {
		w.Fatal(err)
	}
	return jobs
}

var syncAll = index.SyncOptions{}
