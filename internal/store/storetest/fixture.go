package storetest

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"anamnesis/internal/note"
	"anamnesis/internal/store"
	"anamnesis/internal/store/layout"
)

// Open opens a store in a new folder; home is the parent of everything.
func Open(t *testing.T) (s *store.Store, home string) {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s, err = store.Open(store.Options{Root: filepath.Join(home, ".anamnesis"), Home: home})
	if err != nil {
		t.Fatal(err)
	}
	return s, home
}

// WriteFile writes a file by its full path, and the folders above it.
func WriteFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Draft returns a small valid note.
func Draft(id note.ID) *note.Note {
	return &note.Note{
		ID: id, Type: note.Semantic, Title: "t", Body: "b", Project: "p", MachineID: "m", Scope: note.Portable,
		UserID: "self", WorkspaceID: "w",
		Provenance: note.Provenance{Source: note.Human, Confidence: 1},
		CreatedAt:  "2026-01-01T00:00:00+00:00", UpdatedAt: "2026-01-01T00:00:00+00:00",
	}
}

// NoteBytes returns the file of a Draft with a body.
func NoteBytes(id note.ID, body string) []byte {
	n := Draft(id)
	n.Body = body
	return n.Format()
}

// ReadFile returns a file of the store, nil when there is none.
func ReadFile(t *testing.T, s *store.Store, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(s.Path(path))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return data
}

// At returns a store whose clock stands.
func At(t *testing.T, day int) *store.Store {
	t.Helper()
	s, err := store.Open(store.Options{Root: t.TempDir(), Now: func() time.Time { return time.Date(2026, 6, day, 12, 0, 0, 0, time.UTC) }})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// WalkFiles calls f for every file of a tree but the store lock and the ledger, which the first lock
// makes.
func WalkFiles(tree fs.FS, f func(name string)) error {
	return fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && path.Base(name) == layout.Authors {
			return fs.SkipDir
		}
		if err == nil && d.Type().IsRegular() && d.Name() != "store.lock" {
			f(name)
		}
		return err
	})
}

// A Tree is a file system as a tombstone.Tree.
type Tree struct{ fs.FS }

// List returns the paths of all files.
func (t Tree) List() (all []string, err error) {
	err = WalkFiles(t.FS, func(name string) { all = append(all, name) })
	return all, err
}

// Read reads a file.
func (t Tree) Read(path string) ([]byte, error) { return fs.ReadFile(t.FS, path) }

// Files lists the files of a store.
func Files(t *testing.T, s *store.Store) []string {
	t.Helper()
	var all []string
	err := WalkFiles(os.DirFS(s.Root()), func(name string) { all = append(all, name) })
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Holds reports whether any file of the store holds a word.
func Holds(t *testing.T, s *store.Store, word string) bool {
	t.Helper()
	found := false
	for _, name := range Files(t, s) {
		found = found || strings.Contains(string(ReadFile(t, s, name)), word)
	}
	return found
}

// On opens the store at a root again, with another disk.
func On(t *testing.T, root string, d store.Disk) *store.Store {
	t.Helper()
	s, err := store.Open(store.Options{Root: root, Disk: d})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// CrashDisk stops at the step of a number, and refuses every one behind it.
type CrashDisk struct {
	store.OS
	mu    *sync.Mutex
	steps *int
	stop  int // 0 means never
}

// ErrCrash is what a CrashDisk says from its step on.
var ErrCrash = errors.New("the machine stopped")

// NewCrashDisk returns a CrashDisk that stops at a step; 0 means never.
func NewCrashDisk(stop int) CrashDisk {
	return CrashDisk{mu: new(sync.Mutex), steps: new(int), stop: stop}
}

func (d CrashDisk) step() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	*d.steps++
	if d.stop > 0 && *d.steps >= d.stop {
		return ErrCrash
	}
	return nil
}

// MkdirAll is a step.
func (d CrashDisk) MkdirAll(dir string) error {
	return firstError(d.step(), func() error { return d.OS.MkdirAll(dir) })
}

// Rename is a step.
func (d CrashDisk) Rename(from, to string) error {
	return firstError(d.step(), func() error { return d.OS.Rename(from, to) })
}

// Exchange is a step.
func (d CrashDisk) Exchange(from, to string) error {
	return firstError(d.step(), func() error { return d.OS.Exchange(from, to) })
}

// Remove is a step.
func (d CrashDisk) Remove(name string) error {
	return firstError(d.step(), func() error { return d.OS.Remove(name) })
}

// AppendSynced is a step. At the one where the disk stops, half of the data is written.
func (d CrashDisk) AppendSynced(name string, data []byte) error {
	if err := d.step(); err != nil {
		if d.Steps() == d.stop {
			err = errors.Join(err, d.OS.Append(name, data[:len(data)/2]))
		}
		return err
	}
	return d.OS.AppendSynced(name, data)
}

// SyncDir is a step.
func (d CrashDisk) SyncDir(string) error { return d.step() }

// Create is a step, and so is the Sync of the file.
func (d CrashDisk) Create(dir string) (store.File, error) {
	if err := d.step(); err != nil {
		return nil, err
	}
	f, err := d.OS.Create(dir)
	return crashFile{f, d}, err
}

type crashFile struct {
	store.File
	disk CrashDisk
}

// Sync is a step.
func (f crashFile) Sync() error { return f.disk.step() }

func firstError(err error, f func() error) error {
	if err != nil {
		return err
	}
	return f()
}

// Steps returns how many steps were asked for.
func (d CrashDisk) Steps() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return *d.steps
}
