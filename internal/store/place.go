package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"anamnesis/internal/note"
)

// A Replacement is a file that ReplaceAll writes, or one that goes.
type Replacement struct {
	Path   string  // relative to the root
	Data   []byte  // nil removes it
	Note   note.ID // whose form Former is
	Former []byte  // what goes to the history of Note before; nil keeps nothing
	Reason string  // of that revision
}

// ReplaceAll writes many files. First the former forms go to their histories.
// Every new file is written and reaches the disk under a temporary name, and only
// then they all take their places: an error or a crash before that changes
// nothing, and one in between leaves whole files, so that a second call does what
// is left.
func (w *Writer) ReplaceAll(files []Replacement) error {
	p := placing{store: w.s, writer: w}
	for _, f := range files {
		p.files = append(p.files, placement{path: f.Path, data: f.Data, note: f.Note, former: f.Former})
		if f.Former == nil {
			continue
		}
		name, again, err := w.s.revision(f.Note, f.Former, f.Reason)
		if err != nil {
			return err
		}
		if name != "" && again == "" {
			p.history = append(p.history, placement{path: name, data: f.Former})
		}
	}
	err := p.write()
	if err == nil {
		err = p.place(p.history)
	}
	if err == nil {
		err = p.place(p.files)
	}
	if err != nil {
		return errors.Join(err, p.discard())
	}
	for _, f := range p.files {
		if f.edit != nil {
			err = errors.Join(err, w.bring(f.note, f.path, f.former, f.edit))
		}
	}
	return err
}

// A placing is one run of ReplaceAll.
type placing struct {
	store   *Store
	writer  *Writer
	history []placement
	files   []placement
}

// A placement is a file that is written, or one that goes.
type placement struct {
	path string // relative to the root
	data []byte // nil removes it
	temp string // where the data are until they take their place

	note         note.ID // whose form former is, which stood at path when it was read
	former, edit []byte  // edit is what an editor saved there since
}

// write makes the folders and the temporary files, and waits until they are on the disk.
func (a *placing) write() error {
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
func (a *placing) folders(all []*placement) error {
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
func (a *placing) sync(dirs []string) error {
	slices.Sort(dirs)
	return inParallel(slices.Compact(dirs), a.store.disk.SyncDir)
}

// place brings files to their places.
func (a *placing) place(list []placement) (err error) {
	disk := a.store.disk
	var dirs []string
	for i := range list {
		p := &list[i]
		full := a.store.Path(p.path)
		if p.former != nil && p.data != nil {
			p.edit, err = a.writer.displace(p.note, p.path, p.temp, p.data, p.former)
		} else if p.former != nil {
			err = dropped(a.writer.removeNote(p.note, p.path, p.former))
		} else if p.data == nil {
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
func (a *placing) discard() error {
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
