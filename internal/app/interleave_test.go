package app

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/ingest"
	"anamnesis/internal/ingest/ingesttest"
	"anamnesis/internal/note"
	"anamnesis/internal/replica"
	"anamnesis/internal/replica/replicatest"
	"anamnesis/internal/store"
	"anamnesis/internal/store/storetest"
	"anamnesis/internal/store/tombstone"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// A cheapDisk does not wait for the disk: nothing here loses power.
type cheapDisk struct{ store.OS }

type cheapFile struct{ store.File }

func (cheapDisk) SyncDir(string) error { return nil }
func (cheapFile) Sync() error          { return nil }

func (d cheapDisk) Create(dir string) (store.File, error) {
	f, err := d.OS.Create(dir)
	return cheapFile{f}, err
}

// A world is some machines and the remote between them, in memory or in git.
type world struct {
	t         *rapid.T
	dir       string
	hub       *replicatest.Hub // nil for git
	remote    string
	boxes     []*box
	at        time.Time
	count     int                // of words, each written once
	words     map[string]note.ID // that have to be somewhere in the end, and the note they were written to
	forgotten map[note.ID]string // the statements
	lost      map[note.ID]bool   // notes that were forgotten at some time
	quiet     bool               // nothing goes wrong any more
	down      bool
}

// A box is a machine with a separate store.
type box struct {
	w     *world
	name  string
	store *store.Store
	skew  time.Duration
}

var (
	errKilled   = errors.New("killed")
	wordPattern = regexp.MustCompile(`\bw\d+w\b`)
)

func newWorld(t *rapid.T, dir string, hub *replicatest.Hub) *world {
	w := &world{
		t: t, dir: dir, hub: hub, at: time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC),
		words: make(map[string]note.ID), forgotten: make(map[note.ID]string), lost: make(map[note.ID]bool), remote: "hub",
	}
	if hub == nil {
		w.remote = filepath.Join(dir, "hub.git")
		if out, err := exec.Command("git", "init", "-q", "--bare", "--initial-branch=main", w.remote).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	for i := range rapid.IntRange(2, 4).Draw(t, "machines") {
		b := &box{w: w, name: "m" + strconv.Itoa(i)}
		b.skew = time.Duration(rapid.SampledFrom([]int{0, 0, 0, 1, -1, 7200, -7200}).Draw(t, "skew")) * time.Second
		s, err := store.Open(store.Options{Root: filepath.Join(dir, b.name), Disk: cheapDisk{}, Now: func() time.Time { return w.at.Add(b.skew) }})
		if err != nil {
			t.Fatal(err)
		}
		b.store = s
		w.boxes = append(w.boxes, b)
	}
	return w
}

// word returns a word that was never written before.
func (w *world) word(id note.ID) string {
	w.count++
	word := fmt.Sprintf("w%dw", w.count)
	w.words[word] = id
	return word
}

// give up everything that a text says: its owner threw it away.
func (w *world) giveUp(text string) {
	for _, word := range wordPattern.FindAllString(text, -1) {
		delete(w.words, word)
	}
}

// check fails the test on an error that is not part of the play.
func (w *world) check(err error) {
	if err != nil && !errors.Is(err, errKilled) {
		w.t.Fatal(err)
	}
}

// some draws one of a machine's notes, nil when it has none.
func (b *box) some() (*note.Note, store.Ref) {
	refs := slices.Collect(b.store.Walk())
	if len(refs) == 0 {
		return nil, store.Ref{}
	}
	ref := rapid.SampledFrom(refs).Draw(b.w.t, "note")
	n, _, ref, err := b.store.Read(ref.Path)
	b.w.check(err)
	return n, ref
}

func (b *box) add() {
	w := b.w
	t := rapid.SampledFrom(note.Types).Draw(w.t, "type")
	now := note.At(b.store.Now())
	n := &note.Note{
		ID: note.ID(fmt.Sprintf("n%03d", w.count)), Type: t, Project: "p", MachineID: b.name, Scope: note.Portable,
		UserID: "self", WorkspaceID: "personal", Provenance: note.Provenance{Source: note.Human, Confidence: 1}, CreatedAt: now, UpdatedAt: now,
	}
	n.Title = "title " + w.word(n.ID)
	for i := range rapid.IntRange(1, 3).Draw(w.t, "paragraphs") {
		n.Body += strings.Repeat("\n\n", min(i, 1)) + "paragraph " + w.word(n.ID)
	}
	_, _, err := storetest.Put(b.store, n, store.Ref{}, store.Update)
	w.check(err)
}

// edit changes a note in one of the ways in which notes change.
func (b *box) edit() {
	n, ref := b.some()
	if n == nil {
		return
	}
	w := b.w
	parts := strings.Split(n.Body, "\n\n")
	at := rapid.IntRange(0, len(parts)-1).Draw(w.t, "paragraph")
	switch rapid.IntRange(0, 6).Draw(w.t, "edit") {
	case 0:
		parts[at] = "changed " + w.word(n.ID)
	case 1:
		parts[at] += "\nline " + w.word(n.ID)
	case 2:
		parts = slices.Insert(parts, at, "inserted "+w.word(n.ID))
	case 3:
		parts = slices.Delete(parts, at, at+1)
	case 4:
		n.Title = "title " + w.word(n.ID)
	case 5:
		n.AddTags("tag-" + w.word(n.ID))
	case 6:
		n.Rule = "rule " + w.word(n.ID)
	}
	n.Body, n.UpdatedAt = strings.Join(parts, "\n\n"), note.At(b.store.Now())
	_, _, err := storetest.Put(b.store, n, ref, store.Update)
	w.check(err)
}

func (b *box) move() {
	if n, ref := b.some(); n != nil {
		n.Type, n.UpdatedAt = rapid.SampledFrom(note.Types).Draw(b.w.t, "new type"), note.At(b.store.Now())
		_, _, err := storetest.Put(b.store, n, ref, store.Update)
		b.w.check(err)
	}
}

func (b *box) archive() {
	n, _ := b.some()
	if n == nil {
		return
	}
	var err error
	if n.Status == "" {
		_, _, err = ingesttest.Archive(b.store, n.ID, "reason "+b.w.word(n.ID))
	} else {
		_, _, err = ingesttest.Unarchive(b.store, n.ID)
	}
	b.w.check(err)
}

func (b *box) forget() {
	if n, _ := b.some(); n != nil {
		b.w.lost[n.ID] = true
		b.w.giveUp(string(n.Format()))
		b.w.forgotten[n.ID] = note.Normalize(n.Statement())
		_, err := tombstone.Forget(storetest.Writer(b.store), n.ID)
		b.w.check(err)
	}
}

// remove deletes a file as a user does.
func (b *box) remove() {
	if n, ref := b.some(); n != nil {
		b.w.giveUp(string(n.Format()))
		b.w.check(os.Remove(b.store.Path(ref.Path)))
	}
}

func (b *box) resolve() {
	all, err := b.store.Conflicts().List()
	b.w.check(err)
	if len(all) == 0 {
		return
	}
	c := rapid.SampledFrom(all).Draw(b.w.t, "conflict")
	choice := rapid.SampledFrom([]ingest.Choice{ingest.KeepWinner, ingest.TakeLoser, ingest.KeepBoth}).Draw(b.w.t, "choice")
	loser, err := b.store.Conflicts().Loser(c)
	b.w.check(err)
	if c.Why == store.WhyForgotten {
		switch choice {
		case ingest.KeepWinner:
			b.w.giveUp(string(loser))
		case ingest.TakeLoser:
			delete(b.w.forgotten, c.NoteID)
			if n, err := note.Parse(loser); err == nil { // the note is another one now
				maps.DeleteFunc(b.w.forgotten, func(_ note.ID, said string) bool { return said == note.Normalize(n.Statement()) })
			}
		case ingest.KeepBoth, ingest.TakeEdited:
			return
		}
	}
	if _, err = ingest.New(b.store, nil, nil, ingest.Options{}).ResolveConflict(context.Background(), c.ID, choice, nil); err != nil && !strings.Contains(err.Error(), "is no note") {
		b.w.check(err)
	}
}

// open returns the machine's replica, wired as the program wires it.
func (b *box) open() replica.Backend {
	w := b.w
	o := replica.Options{
		Dir: b.store.Path("memory"), MachineID: b.name, Remote: w.remote, Env: os.Environ(), AllowDelete: true, Now: b.store.Now,
		Merger: func(theirs replica.Tree) (replica.Merge, error) { return ingest.NewIncoming(b.store).Merger(theirs) },
		Settle: func(c replica.Conflict) error {
			if !w.quiet && rapid.IntRange(0, 9).Draw(w.t, "while keeping a loser") == 0 {
				return errKilled
			}
			_, _, err := storetest.Writer(b.store).AddConflict(c.Path, c.Merged, c.Other)
			return err
		},
		Apply: func(changes []replica.Change) ([]string, error) {
			list := make([]ingest.RemoteChange, len(changes))
			for i, c := range changes {
				list[i] = ingest.RemoteChange(c)
			}
			happens := 9
			if !w.quiet {
				happens = rapid.IntRange(0, 9).Draw(w.t, "while applying")
			}
			switch happens {
			case 0:
				b.edit()
			case 1: // in the middle
				part := rapid.IntRange(0, len(list)).Draw(w.t, "written")
				_, err := ingest.NewIncoming(b.store).Apply(list[:part])
				return nil, errors.Join(errKilled, err)
			}
			changed, err := ingest.NewIncoming(b.store).Apply(list)
			if happens == 2 { // the files are there, the branch has not moved
				return nil, errors.Join(errKilled, err)
			}
			return changed, err
		},
	}
	var r replica.Backend
	var err error
	if w.hub != nil {
		r, err = w.hub.Open(o)
	} else {
		r, err = replica.Open(o)
	}
	w.check(err)
	return r
}

// sync is what the command does, without the index.
func (b *box) sync() {
	w := b.w
	for range rounds {
		out, err := b.open().Sync(w.t.Context())
		if err != nil && !errors.Is(err, errKilled) {
			w.t.Fatalf("%s: %+v, %v", b.name, out, err)
		}
		if w.quiet && (err != nil || out.Offline || out.Conflicted || out.Held) {
			w.t.Fatalf("%s: %+v, %v", b.name, out, err)
		}
		if err != nil || !w.quiet && rapid.IntRange(0, 9).Draw(w.t, "killed after the sync") == 0 {
			return
		}
		changed, err := ingest.NewIncoming(b.store).Finish(w.t.Context(), func([]string) error { return nil }, func() bool { return true })
		w.check(err)
		if len(changed) == 0 {
			return
		}
	}
}

// cut takes the remote off the network, or brings it back.
func (w *world) cut(down bool) {
	if w.hub != nil {
		w.hub.Cut(w.remote, down)
	} else if down != w.down {
		from, to := w.remote, w.remote+".cut"
		if !down {
			from, to = to, from
		}
		w.check(os.Rename(from, to))
	}
	w.down = down
}

// live plays a number of steps, and then lets everybody sync.
func (w *world) live(steps int) {
	for range steps {
		w.at = w.at.Add(time.Duration(rapid.SampledFrom([]int{0, 1, 1, 5, 3600}).Draw(w.t, "seconds")) * time.Second)
		b := rapid.SampledFrom(w.boxes).Draw(w.t, "machine")
		switch rapid.IntRange(0, 19).Draw(w.t, "step") {
		case 0, 1, 2:
			b.add()
		case 3, 4, 5, 6, 7:
			b.edit()
		case 8, 9:
			b.move()
		case 10:
			b.archive()
		case 11:
			b.forget()
		case 12:
			b.remove()
		case 13:
			b.resolve()
		case 14:
			w.cut(rapid.Bool().Draw(w.t, "down"))
		default:
			b.sync()
		}
	}
	w.cut(false)
	w.quiet = true
	for range 3 {
		for _, b := range w.boxes {
			w.at = w.at.Add(time.Second)
			b.sync()
		}
	}
	w.agree()
}

// agree checks what has to hold when everybody has synced.
func (w *world) agree() {
	var all strings.Builder
	var want map[string]string
	for i, b := range w.boxes {
		have := b.read("memory")
		delete(have, ".gitattributes")
		if i == 0 {
			want = have
		} else if diff := cmp.Diff(want, have); diff != "" {
			w.t.Fatalf("%s and %s differ:\n%s", w.boxes[0].name, b.name, diff)
		}
		for _, tree := range []string{"memory", "history", "conflicts"} {
			for path, text := range b.read(tree) {
				all.WriteString(text + "\n")
				n, err := note.Parse([]byte(text))
				if err != nil {
					continue
				}
				said := note.Normalize(n.Statement())
				for id, gone := range w.forgotten {
					if said == gone {
						w.t.Fatalf("%s: %s/%s says what was forgotten with %s", b.name, tree, path, id)
					}
				}
			}
		}
		places := make(map[note.ID]string)
		for ref := range b.store.Walk() {
			id := IDOf(ref.Path)
			if other, twice := places[id]; twice {
				w.t.Fatalf("%s: %s stands in %s and %s", b.name, id, other, ref.Path)
			}
			places[id] = ref.Path
		}
	}
	text := all.String()
	for word := range w.words {
		if !strings.Contains(text, word) && !w.excused(word) {
			w.t.Fatalf("%s is nowhere", word)
		}
	}
}

// excused reports whether a word belongs to a note that was forgotten: what was
// written to that without knowing may be erased with its history.
func (w *world) excused(word string) bool { return w.lost[w.words[word]] }

// read returns the files below a folder of a machine's store.
func (b *box) read(tree string) map[string]string {
	files := make(map[string]string)
	root := b.store.Path(tree)
	err := filepath.WalkDir(root, func(at string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case d.Name() == ".git":
			return fs.SkipDir
		case d.Type().IsRegular():
			data, err := os.ReadFile(at)
			rel, rerr := filepath.Rel(root, at)
			files[filepath.ToSlash(rel)] = string(data)
			return errors.Join(err, rerr)
		}
		return nil
	})
	b.w.check(err)
	return files
}

// checks runs a property a number of times.
func checks(t *testing.T, n int, prop func(*rapid.T)) {
	f := flag.Lookup("rapid.checks")
	was := f.Value.String()
	if err := f.Value.Set(strconv.Itoa(n)); err != nil {
		t.Fatal(err)
	}
	defer f.Value.Set(was)
	rapid.Check(t, prop)
}

// soaking is how many cases a run tries.
func soaking(n, long int) int {
	switch {
	case os.Getenv("ANAMNESIS_SOAK") != "":
		return long
	case testing.Short():
		return n / 10
	case os.Getenv("ANAMNESIS_CI") == "": // who runs all tests by hand waits for them
		return n / 3
	}
	return n
}

// TestInterleavings lets machines add, edit, move, archive, forget, delete,
// resolve and sync in any order, with clocks that are wrong, a remote that comes
// and goes, and syncs that are killed in the middle. When everybody has synced
// all stores are equal, everything that was written is in a note, a history or a
// conflict, and what was forgotten is nowhere. rapid prints the seed of a failure.
func TestInterleavings(t *testing.T) {
	dir := t.TempDir()
	cases := 0
	checks(t, soaking(1000, 20000), func(rt *rapid.T) {
		cases++
		at := filepath.Join(dir, fmt.Sprint(cases))
		defer os.RemoveAll(at)
		newWorld(rt, at, replicatest.NewHub()).live(rapid.IntRange(4, 24).Draw(rt, "steps"))
	})
}

// TestInterleavingsOnGit does the same with repositories.
func TestInterleavingsOnGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	dir := t.TempDir()
	cases := 0
	checks(t, soaking(20, 3000), func(rt *rapid.T) {
		cases++
		at := filepath.Join(dir, fmt.Sprint(cases))
		defer os.RemoveAll(at)
		if err := os.MkdirAll(at, 0o700); err != nil {
			rt.Fatal(err)
		}
		newWorld(rt, at, nil).live(rapid.IntRange(4, 12).Draw(rt, "steps"))
	})
}
