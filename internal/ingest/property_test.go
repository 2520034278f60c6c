package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/index/sqlite"
	"anamnesis/internal/ingest"
	"anamnesis/internal/ingest/ingesttest"
	"anamnesis/internal/note"
	"anamnesis/internal/redact"
	"anamnesis/internal/store"
	"anamnesis/internal/store/storetest"
	"anamnesis/internal/store/tombstone"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// A quickDisk does not wait for the disk: nothing here loses power.
type quickDisk struct{ store.OS }

type quickFile struct{ store.File }

func (quickDisk) SyncDir(string) error { return nil }
func (quickFile) Sync() error          { return nil }

func (d quickDisk) Create(dir string) (store.File, error) {
	f, err := d.OS.Create(dir)
	return quickFile{f}, err
}

// Two machines say and forget the same few things under changing titles.
type pair struct {
	tester
	draw      *rapid.T // nil in a test that says itself what happens
	now       time.Time
	machines  []*peer
	hub       map[string]string // the files on the remote
	said      map[string]bool   // bodies that somebody wrote
	decisions map[string]bool   // the last word about a body: it is forgotten
}

// A tester is what *testing.T and *rapid.T have in common.
type tester interface {
	rapid.TB
	Context() context.Context
	Cleanup(func())
}

type peer struct {
	*ingest.Ingester
	w     *pair
	name  string
	store *store.Store
	index *index.Index
	base  map[string]string // the remote as it was when they last met
}

// Each is the start of all that says it, and in no other.
var bodies = []string{
	broker,
	"Never deploy the storefront on a friday since the engineer on call is alone over the weekend.",
	"wait a minute",
}

var titles = []string{"Queue", "Nightly restart of the broker", "What the team learned about deploys in May"}

// key is what is forgotten with a note: a short body says nothing without its title.
func key(n *note.Note) string {
	for i, body := range bodies {
		if note.Normalize(n.Body) == note.Normalize(body) {
			if note.SelfContained(body) {
				return fmt.Sprint(i)
			}
			return fmt.Sprint(i, n.Title)
		}
	}
	return ""
}

func (w *pair) check(err error) {
	if err != nil {
		w.Fatal(err)
	}
}

func newPair(t tester, dir string, r *redact.Redactor) *pair {
	w := &pair{
		tester: t, now: time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC),
		hub: make(map[string]string), said: make(map[string]bool), decisions: make(map[string]bool),
	}
	for _, name := range []string{"a", "b"} {
		s, err := store.Open(store.Options{Root: filepath.Join(dir, name), Disk: quickDisk{}, Now: func() time.Time { return w.now }})
		w.check(err)
		db, err := sqlite.Open(t.Context(), sqlite.Options{Path: s.Path("index.db")})
		w.check(err)
		t.Cleanup(func() { db.Close() })
		p := &peer{w: w, name: name, store: s, index: index.New(db, s, index.Embedding{}), base: make(map[string]string)}
		p.Ingester = ingest.New(s, p.index, r, ingest.Options{MachineID: name, HoldSimilar: true})
		w.machines = append(w.machines, p)
	}
	return w
}

// write lets an agent or the owner write something, in another spelling now and then.
func (p *peer) write(source string, force bool) ingest.Outcome {
	w := p.w
	n := &note.Note{
		Type: rapid.SampledFrom(note.Types).Draw(w.draw, "type"), Title: rapid.SampledFrom(titles).Draw(w.draw, "title"),
		Body:  rapid.SampledFrom(bodies).Draw(w.draw, "body"),
		Scope: rapid.SampledFrom([]note.Scope{note.Portable, note.Portable, note.Local}).Draw(w.draw, "scope"), Provenance: note.Provenance{Source: source, Confidence: 1},
	}
	if rapid.Bool().Draw(w.draw, "loud") {
		n.Body = strings.ToUpper(n.Body) + "!"
	}
	if force {
		n.Scope = note.Portable // a lift of one machine alone is another story
	}
	return p.add(n, force)
}

// add writes a note.
func (p *peer) add(n *note.Note, force bool) ingest.Outcome {
	w := p.w
	draft := ingesttest.DraftOf(n)
	draft.Reason, draft.Force = store.Capture, force
	out, err := p.Admit(w.Context(), draft)
	w.check(errors.Join(err, out.Stale))
	if out.Result != ingest.Dropped {
		w.said[key(n)] = true
	}
	if out.Revoked {
		w.decisions[key(n)] = false
	}
	return out
}

func (p *peer) forget() {
	w := p.w
	var all []note.ID
	for ref := range p.store.Walk() {
		if ref.Scope == note.Portable {
			n, _, _, err := p.store.Read(ref.Path)
			w.check(err)
			all = append(all, n.ID)
		}
	}
	if len(all) == 0 {
		return
	}
	p.forgetNote(rapid.SampledFrom(all).Draw(w.draw, "note"))
}

func (p *peer) forgetNote(id note.ID) {
	w := p.w
	n, err := p.store.LatestRevision(id)
	w.check(err)
	w.decisions[key(n)] = true
	f, err := tombstone.Forget(storetest.Writer(p.store), n.ID)
	w.check(err)
	w.check(p.index.Refresh(w.Context(), f.Notes...))
}

// files reads what a machine keeps below a folder.
func (p *peer) files(tree string) map[string]string {
	all := make(map[string]string)
	err := fs.WalkDir(os.DirFS(p.store.Root()), tree, func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || err == nil && !d.Type().IsRegular() {
			return nil
		}
		if err == nil {
			var data []byte
			data, err = os.ReadFile(p.store.Path(name))
			all[strings.TrimPrefix(name, tree+"/")] = string(data)
		}
		return err
	})
	p.w.check(err)
	return all
}

// sync is what a machine does, with the remote as a set of files.
func (p *peer) sync() {
	w := p.w
	bytesOf := func(files map[string]string, name string) []byte {
		if text, ok := files[name]; ok {
			return []byte(text)
		}
		return nil
	}
	for range 3 {
		theirs := make(fstest.MapFS)
		for name, text := range w.hub {
			theirs[name] = &fstest.MapFile{Data: []byte(text)}
		}
		merge, err := ingest.NewIncoming(p.store).Merger(storetest.Tree{FS: theirs})
		w.check(err)
		ours, merged := p.files("memory"), make(map[string]string)
		names := make(map[string]bool)
		for _, files := range []map[string]string{ours, w.hub, p.base} {
			for name := range files {
				names[name] = true
			}
		}
		var changes []ingest.RemoteChange
		for name := range names {
			was := bytesOf(ours, name)
			now, other, err := merge(name, bytesOf(p.base, name), was, bytesOf(w.hub, name))
			w.check(err)
			if other != nil {
				_, _, err := storetest.Writer(p.store).AddConflict(name, now, other)
				w.check(err)
			}
			changes = append(changes, ingest.RemoteChange{Path: name, Old: was, New: now})
			if now != nil {
				merged[name] = string(now)
			}
		}
		late, err := ingest.NewIncoming(p.store).Apply(changes)
		if w.check(err); len(late) > 0 {
			w.Fatalf("changed meanwhile: %v", late)
		}
		w.hub, p.base = merged, merged
		changed, err := onePlace(w, p.store)
		w.check(err)
		_, err = p.index.Sync(w.Context(), index.SyncOptions{})
		w.check(err)
		if len(changed) == 0 {
			return
		}
	}
}

// live plays a number of steps, and then lets both sync until nothing moves.
func (w *pair) live(steps int) {
	for range steps {
		w.now = w.now.Add(5 * time.Second)
		p := rapid.SampledFrom(w.machines).Draw(w.draw, "machine")
		switch rapid.IntRange(0, 9).Draw(w.draw, "step") {
		case 0, 1:
			p.write(note.Human, false)
		case 2:
			p.write(note.Human, true)
		case 3, 4, 5:
			p.write(note.Agent, false)
		case 6, 7:
			p.forget()
		default:
			p.sync()
		}
	}
	w.settle()
	w.agree()
	w.stayForgotten()
}

// settle lets both sync until nothing moves.
func (w *pair) settle() {
	for range 2 {
		for _, p := range w.machines {
			p.sync()
		}
	}
}

func (w *pair) agree() {
	if diff := cmp.Diff(w.machines[0].files("memory"), w.machines[1].files("memory")); diff != "" {
		w.Fatalf("the two differ:\n%s", diff)
	}
	for _, p := range w.machines {
		for _, tree := range []string{"memory", "local", "history", "conflicts", "spool/held"} {
			for name, text := range p.files(tree) {
				n, err := note.Parse([]byte(text))
				if err != nil {
					continue
				}
				if w.decisions[key(n)] {
					w.Fatalf("%s: %s/%s says what was forgotten, as %q", p.name, tree, name, n.Title)
				}
			}
		}
		for body, gone := range w.decisions {
			if !gone && !p.keeps(body) {
				w.Fatalf("%s: %q is gone, and its owner wrote it again", p.name, body)
			}
		}
	}
	for body := range w.said {
		if _, decided := w.decisions[body]; !decided && !w.machines[0].keeps(body) && !w.machines[1].keeps(body) {
			w.Fatalf("%q is gone, and nobody forgot it", body)
		}
	}
}

// stayForgotten lets agents write more: what was forgotten stays forgotten.
func (w *pair) stayForgotten() {
	for _, p := range w.machines {
		for range 5 {
			out := p.write(note.Agent, false)
			if out.Note != nil && w.decisions[key(out.Note)] {
				w.Fatalf("%s: what was forgotten is %s again, as %q", p.name, out.Result, out.Note.Title)
			}
		}
	}
}

// keeps reports whether a machine has a note of a body.
func (p *peer) keeps(body string) bool {
	for _, tree := range []string{"memory", "local", "spool/held"} {
		for _, text := range p.files(tree) {
			if n, err := note.Parse([]byte(text)); err == nil && key(n) == body {
				return true
			}
		}
	}
	return false
}

// TestForgettingConverges lets two machines write, forget and sync in any order.
// When both have synced they have the same, the last word about everything holds,
// and what was forgotten is nowhere, under no title. rapid prints the seed of a
// failure.
func TestForgettingConverges(t *testing.T) {
	r, err := redact.New()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cases, most := 0, 12
	if os.Getenv("ANAMNESIS_SOAK") != "" {
		most = 100_000 // as many as -rapid.checks says
	}
	rapid.Check(t, func(rt *rapid.T) {
		if cases++; cases > most {
			return
		}
		w := newPair(rt, filepath.Join(dir, fmt.Sprint(cases)), r)
		w.draw = rt
		w.live(rapid.IntRange(3, 20).Draw(rt, "steps"))
	})
}

// TestWrittenAgainBeforeSync has the owner write on one machine what the other has just forgotten, while
// the note is still there: nothing of it changes but that it holds again.
func TestWrittenAgainBeforeSync(t *testing.T) {
	r, err := redact.New()
	if err != nil {
		t.Fatal(err)
	}
	w := newPair(t, t.TempDir(), r)
	a, b := w.machines[0], w.machines[1]
	rule := func(title string) *note.Note {
		w.now = w.now.Add(5 * time.Second)
		return &note.Note{
			Type: note.Semantic, Scope: note.Portable, Title: title, Body: bodies[1],
			Provenance: note.Provenance{Source: note.Human, Confidence: 1},
		}
	}
	first := a.add(rule(titles[1]), false)
	a.add(rule(titles[2]), true)
	copied := b.add(rule(titles[2]), false)
	a.sync()
	b.forgetNote(copied.Note.ID)
	w.now = w.now.Add(5 * time.Second)
	a.forgetNote(first.Note.ID)
	b.sync() // the notes of a arrive, and the tombstone of a does not
	if out := b.add(rule(titles[2]), true); !out.Revoked {
		t.Fatalf("written again: %s", out.Result)
	}
	w.settle()
	w.agree()
}
