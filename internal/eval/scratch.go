package eval

import (
	"errors"
	"io/fs"
	"os"
	"sync"

	"anamnesis/internal/store"
)

// A scratch is the disk of a throw-away store: nothing waits to be durable, and
// what is written can be taken back.
type scratch struct {
	store.OS
	mu     sync.Mutex
	before map[string]*[]byte // while it watches: what stood at a path, nil for nothing
}

// watch begins to remember.
func (d *scratch) watch() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.before = make(map[string]*[]byte)
}

// undo puts back what stood there when watch was called, and returns the paths
// that it touched. Appended logs are left: nobody reads them.
func (d *scratch) undo() (paths []string, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for path, data := range d.before {
		paths = append(paths, path)
		if data != nil {
			err = errors.Join(err, os.WriteFile(path, *data, 0o600))
		} else if rerr := os.Remove(path); !errors.Is(rerr, fs.ErrNotExist) {
			err = errors.Join(err, rerr)
		}
	}
	d.before = nil
	return paths, err
}

// remember keeps what stands at a path before its first change.
func (d *scratch) remember(path string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, known := d.before[path]; known || d.before == nil {
		return nil
	}
	data, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.before[path] = nil
	case err != nil:
		return err
	default:
		d.before[path] = &data
	}
	return nil
}

// Create makes a temporary file that is not synced.
func (d *scratch) Create(dir string) (store.File, error) {
	f, err := d.OS.Create(dir)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.before != nil {
		d.before[f.Name()] = nil
	}
	return scratchFile{f}, nil
}

// Rename replaces to by from.
func (d *scratch) Rename(from, to string) error {
	if err := d.remember(to); err != nil {
		return err
	}
	return d.OS.Rename(from, to)
}

// Exchange lets two files change places.
func (d *scratch) Exchange(from, to string) error {
	if err := d.remember(to); err != nil {
		return err
	}
	return d.OS.Exchange(from, to)
}

// Remove deletes a file.
func (d *scratch) Remove(name string) error {
	if err := d.remember(name); err != nil {
		return err
	}
	return d.OS.Remove(name)
}

// SyncDir waits for nothing.
func (*scratch) SyncDir(string) error { return nil }

type scratchFile struct{ store.File }

// Sync waits for nothing.
func (scratchFile) Sync() error { return nil }
