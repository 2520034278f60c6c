package imports_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"anamnesis/internal/capture"
	"anamnesis/internal/imports"
	"anamnesis/internal/index"
	"anamnesis/internal/index/sqlite"
	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/redact"
	"anamnesis/internal/store"
	"anamnesis/internal/store/storetest"
)

// A room is a store with an importer, beside a home folder with other memories.
type room struct {
	testing.TB
	*imports.Importer
	store    *store.Store
	ingester *ingest.Ingester
	recorder *capture.Recorder
	home     string
}

func newRoom(t testing.TB) *room { return newRoomOf(t, "box") }

func newRoomOf(t testing.TB, machine string) *room {
	t.Helper()
	dir := t.TempDir()
	s, err := store.Open(store.Options{Root: filepath.Join(dir, "store"), Home: filepath.Join(dir, "home")})
	if err != nil {
		t.Fatal(err)
	}
	db, err := sqlite.Open(t.Context(), sqlite.Options{Path: s.Path("index.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	red, err := redact.New()
	if err != nil {
		t.Fatal(err)
	}
	ix := index.New(db, s, index.Embedding{})
	g := ingest.New(s, ix, red, ingest.Options{MachineID: machine, HoldSimilar: true})
	rec := capture.New(s, g, red, capture.Options{MachineID: machine})
	home := filepath.Join(dir, "home")
	im := imports.New(s, ix, g, rec, red, imports.Options{MachineID: machine, Homes: imports.Homes{
		Agents:    map[string]string{"claude": filepath.Join(home, ".claude"), "codex": filepath.Join(home, ".codex")},
		Learnings: filepath.Join(home, ".learnings"), Reflect: filepath.Join(home, ".reflect"),
	}})
	r := &room{Importer: im, store: s, ingester: g, recorder: rec, home: home}
	r.TB = t
	return r
}

// write puts a file below the home folder.
func (r *room) write(name, text string) string {
	r.Helper()
	path := filepath.Join(r.home, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		r.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		r.Fatal(err)
	}
	return path
}

const claudeMemory = ".claude/projects/-src-shop/memory/"

// memory writes a memory of Claude Code.
func (r *room) memory(name, kind, title, body string) {
	r.Helper()
	r.write(claudeMemory+name+".md", fmt.Sprintf("---\nname: %s\ndescription: %s\nmetadata:\n  type: %s\n---\n\n%s\n", name, title, kind, body))
}

func (r *room) plan(p *imports.Plan, err error) *imports.Plan {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
	return p
}

func (r *room) native() *imports.Plan {
	r.Helper()
	return r.plan(r.Native(r.Context(), imports.NativeOptions{}))
}

func (r *room) apply(p *imports.Plan) *imports.Report {
	r.Helper()
	rep, err := r.Apply(r.Context(), p, nil)
	if err != nil {
		r.Fatal(err)
	}
	for _, it := range rep.Items {
		if it.Outcome == imports.Failed {
			r.Errorf("%s: %s", it.Source, it.Why)
		}
	}
	return rep
}

// notes returns all notes by their ids.
func (r *room) notes() map[note.ID]*note.Note {
	r.Helper()
	all := make(map[note.ID]*note.Note)
	for ref := range r.store.Walk() {
		n, _, _, err := r.store.Read(ref.Path)
		if err != nil {
			r.Fatal(err)
		}
		all[n.ID] = n
	}
	return all
}

// titled returns the note with a title.
func (r *room) titled(title string) *note.Note {
	r.Helper()
	for _, n := range r.notes() {
		if n.Title == title {
			return n
		}
	}
	r.Fatalf("no note is titled %q", title)
	return nil
}

// item returns the item of a plan whose source ends so.
func item(t testing.TB, p *imports.Plan, suffix string) imports.Item {
	t.Helper()
	for _, it := range p.Items {
		if strings.HasSuffix(it.Source, suffix) {
			return it
		}
	}
	t.Fatalf("no item of %s in %+v", suffix, p.Items)
	return imports.Item{}
}

// edit changes a note as its owner would.
func (r *room) edit(id note.ID, change func(*note.Note)) {
	r.Helper()
	ref, err := r.store.Find(id)
	if err != nil {
		r.Fatal(err)
	}
	n, _, ref, err := r.store.Read(ref.Path)
	if err != nil {
		r.Fatal(err)
	}
	change(n)
	r.must(func() error { _, _, err := storetest.Put(r.store, n, ref, store.Update); return err })
}

func (r *room) must(f func() error) {
	r.Helper()
	if err := f(); err != nil {
		r.Fatal(err)
	}
}

func (r *room) want(p *imports.Plan, suffix string, action imports.Action, why string) {
	r.Helper()
	if it := item(r, p, suffix); it.Action != action || !strings.Contains(it.Why, why) {
		r.Errorf("%s is %s (%s), want %s (…%s…)", suffix, it.Action, it.Why, action, why)
	}
}

// lacks checks that a plan does not name a file.
func (r *room) lacks(p *imports.Plan, suffix string) {
	r.Helper()
	for _, it := range p.Items {
		if strings.HasSuffix(it.Source, suffix) {
			r.Errorf("the plan has %s: %s (%s)", it.Source, it.Action, it.Why)
		}
	}
}

// stopAfter is a context that ends after a number of looks at it.
type stopAfter struct {
	context.Context
	left *atomic.Int64
}

func (c stopAfter) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return c.Context.Err()
}

// A run that is stopped anywhere goes on where it was, and what is applied
// twice is applied once.
func TestStoppedAnywhere(t *testing.T) {
	t.Parallel()
	for stop := range 9 {
		r := newRoom(t)
		for i := range 4 {
			r.memory(fmt.Sprintf("m%d", i), "project", fmt.Sprintf("fact number %d", i), fmt.Sprintf("The deploy of host %d goes through the jump machine %d.", i, i*7))
		}
		p := r.native()
		var left atomic.Int64
		left.Store(int64(stop))
		rep, err := r.Apply(stopAfter{t.Context(), &left}, p, nil)
		if stop < 4 && err == nil {
			t.Errorf("stopped after %d looks, and no error", stop)
		}
		if rep.Totals[imports.Left]+rep.Totals[imports.Created] != 4 || len(r.notes()) < rep.Totals[imports.Created] {
			t.Errorf("stopped after %d looks: %v, %d notes", stop, rep.Totals, len(r.notes()))
		}
		r.apply(r.native())
		if n := len(r.notes()); n != 4 {
			t.Errorf("stopped after %d looks and run again: %d notes", stop, n)
		}
		if got := r.native().Totals(); got.Unchanged != 4 {
			t.Errorf("a third plan: %+v", got)
		}
	}
}

// A run that was killed had no time to write the ledger. The notes know by
// themselves that they were imported, and whether they were edited.
func TestKilledBeforeLedger(t *testing.T) {
	r := newRoom(t)
	r.memory("a", "project", "the port", "It listens on 8080.")
	r.memory("b", "project", "the host", "It runs on the small machine.")
	r.apply(r.native())
	r.edit(r.titled("the host").ID, func(n *note.Note) { n.Body = "It runs on the big machine." })
	if err := os.Remove(r.store.Path("imports.json")); err != nil {
		t.Fatal(err)
	}
	r.want(r.native(), "a.md", imports.Unchanged, "")
	r.memory("a", "project", "the port", "It listens on 9090.")
	r.memory("b", "project", "the host", "It runs on both machines.")
	p := r.native()
	r.want(p, "a.md", imports.Updates, "")
	r.want(p, "b.md", imports.Refused, "edited here")
}

// The old plan may be applied again as well.
func TestApplyTwice(t *testing.T) {
	r := newRoom(t)
	r.memory("a", "feedback", "rebase before you push", "Always rebase onto main before pushing.")
	p := r.native()
	first := r.apply(p)
	before := r.notes()
	second := r.apply(p)
	if len(first.Created) != 1 || len(second.Created) != 0 {
		t.Errorf("created %v, then %v", first.Created, second.Created)
	}
	for id, n := range r.notes() {
		if !note.Equal(before[id], n) {
			t.Errorf("%s changed", id)
		}
	}
	ids, err := r.Batch(first.Batch)
	if err != nil || !slices.Equal(ids, first.Created) {
		t.Errorf("batch %v %v, want %v", ids, err, first.Created)
	}
}

func TestProgress(t *testing.T) {
	r := newRoom(t)
	r.memory("a", "user", "one", "first body")
	r.memory("b", "user", "two", "second body")
	p := r.native()
	var last, total int64
	if _, err := r.Apply(t.Context(), p, func(d, of int64) { last, total = d, of }); err != nil {
		t.Fatal(err)
	}
	if last == 0 || last != total || total != p.Totals().Bytes {
		t.Errorf("%d of %d", last, total)
	}
}

// A ledger that cannot be read stops everything: without it, what was deleted
// would come back.
func TestBrokenLedger(t *testing.T) {
	r := newRoom(t)
	if err := r.store.Replace("imports.json", []byte("{")); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Native(t.Context(), imports.NativeOptions{}); err == nil || !strings.Contains(err.Error(), "imports.json") {
		t.Errorf("%v", err)
	}
}

// setTime sets the time of a file, because clocks of file systems are coarse.
func (r *room) setTime(name string, at time.Time) {
	r.Helper()
	if err := os.Chtimes(filepath.Join(r.home, filepath.FromSlash(name)), at, at); err != nil {
		r.Fatal(err)
	}
}
