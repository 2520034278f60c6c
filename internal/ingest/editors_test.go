package ingest_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// A busyDisk lets an editor move before each step of ours, and dies at one.
type busyDisk struct {
	quickDisk
	before func(what string) error
}

func (d busyDisk) MkdirAll(dir string) error {
	return errors.Join(d.before("mkdir"), d.quickDisk.MkdirAll(dir))
}

func (d busyDisk) Create(dir string) (store.File, error) {
	if err := d.before("create"); err != nil {
		return nil, err
	}
	return d.quickDisk.Create(dir)
}

func (d busyDisk) Rename(from, to string) error {
	if err := d.before("rename"); err != nil {
		return err
	}
	return d.quickDisk.Rename(from, to)
}

func (d busyDisk) Exchange(from, to string) error {
	if err := d.before("exchange"); err != nil {
		return err
	}
	return d.quickDisk.Exchange(from, to)
}

func (d busyDisk) Remove(name string) error {
	if err := d.before("remove"); err != nil {
		return err
	}
	return d.quickDisk.Remove(name)
}

func (d busyDisk) SyncDir(string) error { return d.before("syncdir") }

var errKilled = errors.New("killed")

// A desk is a store, one note in it, and an editor that has it open.
type desk struct {
	*testing.T
	*rand.Rand
	root, path string // of the store, and of the note below it
	id         note.ID
	now        time.Time
	kill       int // before this step of ours, counted down; -1 never
	editor     *editor
	mu         sync.Mutex // files are written side by side
}

// An editor saves one form of a note, in steps: in place (open, write, close) or by a
// rename (write, rename).
type editor struct {
	form    []byte
	step    int
	in      *os.File // in place
	renames bool
	done    bool
}

func (d *desk) full() string { return filepath.Join(d.root, filepath.FromSlash(d.path)) }

func (d *desk) must(err error) {
	if err != nil {
		d.Helper()
		d.Fatal(err)
	}
}

// move lets the editor do its next step.
func (d *desk) move() {
	e := d.editor
	if e == nil || e.done {
		return
	}
	e.step++
	var err error
	switch {
	case e.renames && e.step == 1:
		err = os.WriteFile(d.full()+"~", e.form, 0o600)
	case e.renames:
		err, e.done = os.Rename(d.full()+"~", d.full()), true
	case e.step == 1:
		if e.in, err = os.OpenFile(d.full(), os.O_WRONLY|os.O_TRUNC, 0); errors.Is(err, fs.ErrNotExist) {
			err, e.form, e.done = nil, nil, true // nothing to save into: the editor says so
		}
	case e.step == 2:
		_, err = e.in.Write(e.form)
	default:
		err, e.done = e.in.Close(), true
	}
	d.must(err)
}

// open returns the store as a process sees it that begins now.
func (d *desk) open() *store.Store {
	s, err := store.Open(store.Options{Root: d.root, Now: func() time.Time { return d.now }, Disk: busyDisk{before: func(string) error {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.kill == 0 {
			return errKilled
		}
		d.kill--
		if d.IntN(3) == 0 {
			d.move()
		}
		return nil
	}}})
	d.must(err)
	return s
}

// kept reports whether a form stands in the file, in a former form or in a conflict, whole or
// merged with another.
func (d *desk) kept(mark string) bool {
	found := false
	_ = filepath.WalkDir(d.root, func(at string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() && strings.HasSuffix(at, ".md") && !strings.HasPrefix(e.Name(), ".") {
			if data, err := os.ReadFile(at); err == nil {
				found = found || bytes.Contains(data, []byte(mark))
			}
		}
		return nil
	})
	return found
}

// An editor knows no lock. Whatever it saves, in place or by a rename, before, while or after
// a sync or a capture writes the same note, and whenever that is killed, stands afterwards in
// the note, in its history or in a conflict.
func TestEditorsLoseNothing(t *testing.T) {
	rounds := 10_000
	switch {
	case os.Getenv("ANAMNESIS_SOAK") != "":
		rounds = 200_000
	case testing.Short():
		rounds = 1_000
	case os.Getenv("ANAMNESIS_CI") == "": // who runs all tests by hand waits for them
		rounds = 3_000
	}
	seed := uint64(time.Now().UnixNano())
	if given := os.Getenv("ANAMNESIS_SEED"); given != "" {
		_, _ = fmt.Sscan(given, &seed)
	}
	t.Logf("seed %d (ANAMNESIS_SEED)", seed)
	var d *desk
	for i := range rounds {
		if i%50 == 0 { // histories are read: short ones are quick
			d = &desk{T: t, Rand: rand.New(rand.NewPCG(seed, uint64(i))), root: t.TempDir(), kill: -1, now: time.Now()}
			d.first()
		}
		d.round(i)
		if t.Failed() {
			t.Fatalf("in round %d", i)
		}
	}
}

// first writes the note.
func (d *desk) first() {
	n := &note.Note{
		ID: note.NewID(d.now), Type: note.Semantic, Title: "Tea", Body: "First.\n\nSecond.\n\nThird.", Project: "p", MachineID: "m", Scope: note.Portable,
		Provenance: note.Provenance{Source: note.Human, Confidence: 1}, CreatedAt: note.At(d.now), UpdatedAt: note.At(d.now),
	}
	w, err := d.open().BeginWrite(d.Context())
	d.must(err)
	defer w.End()
	ref, _, err := w.Put(n, store.Ref{}, store.Update)
	d.must(err)
	d.id, d.path = n.ID, ref.Path
}

func (d *desk) round(i int) {
	d.now = d.now.Add(time.Second)
	before, err := os.ReadFile(d.full())
	d.must(err)
	was, err := note.Parse(before)
	d.must(err)

	// The editor has read the note, and will save it with a separate paragraph.
	mark := fmt.Sprintf("edit %d", i)
	mine := was.Clone()
	paragraphs := strings.Split(mine.Body, "\n\n")
	paragraphs[d.IntN(min(3, len(paragraphs)))] = mark
	mine.Body = strings.Join(paragraphs, "\n\n")
	d.editor = &editor{form: mine.Format(), renames: d.IntN(2) == 0}
	for range d.IntN(3) {
		d.move()
	}
	if d.kill = -1; d.IntN(3) == 0 {
		d.kill = d.IntN(14)
	}
	d.writer(i)
	d.kill = -1
	for !d.editor.done {
		d.move()
	}
	if got, err := os.ReadFile(d.full()); err != nil {
		d.Errorf("the note has no file: %v", err)
	} else if _, err := note.Parse(got); err != nil {
		d.Errorf("the note cannot be read: %v", err)
	}

	// The next process that writes finds what came late.
	d.now = d.now.Add(2 * time.Minute)
	w, err := d.open().BeginWrite(d.Context())
	d.must(err)
	w.End()
	if d.editor.form != nil && !d.kept(mark) {
		d.Errorf("%q, which the editor saved, is nowhere", mark)
	}
	// Paragraphs of earlier rounds would make the note longer and longer.
	if i%10 == 9 {
		_ = os.RemoveAll(filepath.Join(d.root, "conflicts"))
	}
}

// writer is a sync or a capture that changes the note; it may be killed.
func (d *desk) writer(i int) {
	s := d.open()
	data, err := os.ReadFile(d.full())
	if err != nil {
		return
	}
	n, err := note.Parse(data)
	if err != nil {
		return // an editor is at it
	}
	n.AddTags(fmt.Sprintf("round-%d", i))
	n.UpdatedAt = note.At(d.now)
	if d.IntN(2) == 0 {
		n.Body = strings.Replace(n.Body, "Third", "3rd", 1)
	}
	switch d.IntN(3) {
	case 0:
		rel, _ := strings.CutPrefix(d.path, "memory/")
		_, err = ingest.NewIncoming(s).Apply([]ingest.RemoteChange{{Path: rel, Old: data, New: n.Format()}})
	case 1:
		var w *store.Writer
		if w, err = s.BeginWrite(d.Context()); err == nil {
			var ref store.Ref
			if ref, err = s.Stat(d.path); err == nil {
				_, _, err = w.Put(n, ref, store.Update)
			}
			w.End()
		}
	default: // a hook reads
		_, _, _, err = s.Read(d.path)
		if err != nil {
			err = nil // while an editor is at it
		}
	}
	if err != nil && d.kill != 0 {
		d.Errorf("%v", err)
	}
}

// A note that another one absorbs may be open in an editor, too: what that saves is in no case lost.
func TestEditorsAgainstAbsorb(t *testing.T) {
	rounds := 400
	if os.Getenv("ANAMNESIS_SOAK") != "" {
		rounds = 20_000
	}
	seed := uint64(time.Now().UnixNano())
	if given := os.Getenv("ANAMNESIS_SEED"); given != "" {
		_, _ = fmt.Sscan(given, &seed)
	}
	t.Logf("seed %d (ANAMNESIS_SEED)", seed)
	dir := t.TempDir()
	for i := range rounds {
		d := &desk{T: t, Rand: rand.New(rand.NewPCG(seed, uint64(i))), root: filepath.Join(dir, fmt.Sprint(i)), kill: -1, now: time.Now()}
		d.first()
		stays := d.path
		d.now = d.now.Add(time.Second)
		d.first() // one that says the same: it goes
		data, err := os.ReadFile(d.full())
		d.must(err)
		n, err := note.Parse(data)
		d.must(err)
		mark := fmt.Sprintf("edit %d", i)
		n.Body = strings.Replace(n.Body, "Second.", mark, 1)
		d.editor = &editor{form: n.Format(), renames: d.IntN(2) == 0}
		for range d.IntN(3) {
			d.move()
		}
		if d.IntN(3) == 0 {
			d.kill = d.IntN(14)
		}
		s := d.open()
		if w, err := s.BeginWrite(d.Context()); err == nil {
			from, ferr := s.Stat(d.path)
			into, ierr := s.Stat(stays)
			if ferr == nil && ierr == nil {
				_ = w.MergeSidecar(from, into) // it is killed, or an editor is at it
			}
			w.End()
		}
		d.kill = -1
		for !d.editor.done {
			d.move()
		}
		d.now = d.now.Add(2 * time.Minute)
		w, err := d.open().BeginWrite(d.Context())
		d.must(err)
		w.End()
		if d.editor.form != nil && !d.kept(mark) {
			t.Fatalf("round %d: %q, which the editor saved, is nowhere", i, mark)
		}
	}
}
