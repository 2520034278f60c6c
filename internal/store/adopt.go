package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// A Change is a file under memory/ that another machine changed.
type Change struct {
	Path     string // relative to memory/, with slashes
	Old, New []byte // nil when the file is not there
}

// Adopt brings the files of another machine into memory/. A file that is no
// longer what its change says stays as it is, and its path (as in the Change)
// is in changed: look at it again, and merge again. All others are written. A
// path that is not one of ours, or that leads through a symbolic link, is an
// error, and then nothing is.
//
// What a note was before goes to its history first. Then every new file is
// written and reaches the disk under a temporary name, and only then they all
// take their places: an error or a crash before that changes nothing, and one
// in between leaves whole files, of which a second Adopt finds those done that
// are done. The deletion of a tombstone is passed over. The caller holds the
// store lock, and calls Obey afterwards.
func (s *Store) Adopt(changes []Change) (changed []string, err error) {
	if s.readOnly {
		return nil, fmt.Errorf("adopt %d files: %w", len(changes), ErrReadOnly)
	}
	a := adoption{store: s, seen: make(map[string]bool), good: make(map[string]bool), stones: sync.OnceValues(func() ([]Tombstone, error) { return s.tombstonesWith(changes) })}
	for _, c := range changes {
		current, err := a.admit(c)
		if err != nil {
			return nil, fmt.Errorf("adopt %s: %w", s.Path("memory/"+c.Path), err)
		}
		if !current {
			changed = append(changed, c.Path)
		}
	}
	if err = a.spare(changes); err == nil {
		err = a.write()
	}
	if err == nil {
		err = a.place(a.history)
	}
	if err == nil {
		err = a.place(a.files)
	}
	if err != nil {
		return changed, fmt.Errorf("adopt %d files: %w; run the sync again", len(changes), errors.Join(err, a.discard()))
	}
	return changed, nil
}

// An adoption is one run of Adopt.
type adoption struct {
	store   *Store
	seen    map[string]bool // paths of the changes
	good    map[string]bool // folders that are folders
	history []placement
	files   []placement
	stones  func() ([]Tombstone, error) // of memory/, with those that come
}

// A placement is a file that is written, or one that goes.
type placement struct {
	path string // relative to the root
	data []byte // nil removes it
	temp string // where the data are until they take their place
}

// admit checks a change and plans what it asks for. It reports whether the file
// is still what the change says.
func (a *adoption) admit(c Change) (current bool, err error) {
	s := a.store
	kind, ok := classify(c.Path)
	switch {
	case !ok || !filepath.IsLocal(filepath.FromSlash(c.Path)):
		return false, errUnknownPath
	case a.seen[c.Path]:
		return false, errors.New("it is named twice")
	case int64(len(c.New)) > MaxNoteSize:
		return false, fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, len(c.New), MaxNoteSize)
	}
	a.seen[c.Path] = true
	path := "memory/" + c.Path
	present, err := a.read(path)
	switch {
	case err != nil:
		return false, err
	case same(present, c.New), kind == tombstoneFile && c.New == nil:
		return true, nil
	case !same(present, c.Old):
		return false, nil
	}
	a.files = append(a.files, placement{path: path, data: c.New})
	if kind != noteFile || present == nil {
		return true, nil
	}
	// What was forgotten leaves no trace, also where it came back for a while.
	stones, err := a.stones()
	if err != nil {
		return false, err
	}
	id, v := judge(stones, c.Path, present)
	if v == goes {
		return true, nil
	}
	reason := Merged
	if c.New == nil {
		reason = Deleted
	}
	name, again, err := s.revision(id, present, reason)
	if err != nil || name == "" || again != "" {
		return true, err
	}
	a.history = append(a.history, placement{path: name, data: present})
	return true, nil
}

// read returns a file, nil when there is none. What is no plain file, or is
// reached through something that is no folder, is an error.
func (a *adoption) read(path string) ([]byte, error) {
	s := a.store
	dir := path[:strings.LastIndexByte(path, '/')+1]
	if !a.good[dir] {
		if err := s.folders(dir); err == nil {
			a.good[dir] = true
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		} else {
			return nil, nil
		}
	}
	fi, err := os.Lstat(s.Path(path))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !fi.Mode().IsRegular():
		return nil, ErrNotRegular
	}
	data, err := os.ReadFile(s.Path(path))
	if data == nil && err == nil {
		data = []byte{}
	}
	return data, err
}

// write makes the folders and the temporary files, and waits until they are on the disk.
func (a *adoption) write() error {
	all := slices.Concat(refs(a.history), refs(a.files))
	if err := a.folders(all); err != nil {
		return err
	}
	return inParallel(all, func(p *placement) error {
		if p.data == nil {
			return nil
		}
		f, err := a.store.disk.Create(filepath.Dir(a.store.Path(p.path)))
		if err != nil {
			return err
		}
		p.temp = f.Name()
		return fill(f, p.data, true)
	})
}

func refs(list []placement) []*placement {
	out := make([]*placement, len(list))
	for i := range list {
		out[i] = &list[i]
	}
	return out
}

// folders makes the folders that are missing, and makes their names durable.
func (a *adoption) folders(all []*placement) error {
	made := make(map[string]bool)
	var parents []string
	for _, p := range all {
		if p.data == nil {
			continue
		}
		dir := filepath.Dir(a.store.Path(p.path))
		if made[dir] {
			continue
		}
		made[dir] = true
		var missing []string
		for d := dir; ; d = filepath.Dir(d) {
			if _, err := os.Lstat(d); !errors.Is(err, fs.ErrNotExist) {
				break
			}
			missing = append(missing, filepath.Dir(d))
		}
		if len(missing) == 0 {
			continue
		}
		if err := a.store.disk.MkdirAll(dir); err != nil {
			return err
		}
		parents = append(parents, missing...)
	}
	return a.sync(parents)
}

// sync makes the names in folders durable.
func (a *adoption) sync(dirs []string) error {
	slices.Sort(dirs)
	return inParallel(slices.Compact(dirs), a.store.disk.SyncDir)
}

// place brings files to their places.
func (a *adoption) place(list []placement) (err error) {
	disk := a.store.disk
	var dirs []string
	for i := range list {
		p := &list[i]
		full := a.store.Path(p.path)
		if p.data == nil {
			if err = disk.Remove(full); errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
		} else {
			err = disk.Rename(p.temp, full)
		}
		if err != nil {
			break
		}
		p.temp = ""
		dirs = append(dirs, filepath.Dir(full))
	}
	return errors.Join(err, a.sync(dirs))
}

// discard removes temporary files that took no place.
func (a *adoption) discard() error {
	var errs []error
	for _, p := range slices.Concat(refs(a.history), refs(a.files)) {
		if p.temp != "" {
			if err := a.store.disk.Remove(p.temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

// atOnce is how many files wait for the disk at the same time: it writes many
// with one flush, so that waiting for them one by one is what takes long.
const atOnce = 16

// inParallel calls f for every element, at most atOnce at a time. Behind the
// first error nothing more is begun.
func inParallel[T any](list []T, f func(T) error) error {
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		next int
		errs []error
	)
	for range min(atOnce, len(list)) {
		wg.Go(func() {
			for {
				mu.Lock()
				i := next
				next++
				stop := i >= len(list) || len(errs) > 0
				mu.Unlock()
				if stop {
					return
				}
				if err := f(list[i]); err != nil {
					mu.Lock()
					errs = append(errs, err)
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}
