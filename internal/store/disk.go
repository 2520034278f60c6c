package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/store/layout"
)

// A Disk makes the changes a store asks for. The operating system's is OS; a
// test wraps it to count the steps and to stop at one. It is used by several
// goroutines at once.
type Disk interface {
	MkdirAll(dir string) error
	Create(dir string) (File, error) // a new temporary file in dir
	Rename(from, to string) error
	Exchange(from, to string) error // each gets the name of the other; from is gone afterwards if nothing stood at to
	Remove(name string) error
	SyncDir(dir string) error
	Append(name string, data []byte) error              // one write at the end, not synced
	AppendSynced(name string, data []byte) error        // the same, synced
	Overwrite(name string, at int64, data []byte) error // one write over bytes that are there, synced
}

// A File is a temporary file that is being written.
type File interface {
	Name() string
	Write(p []byte) (int, error)
	Sync() error
	Close() error
}

// OS is the operating system's disk.
type OS struct{}

// MkdirAll makes dir and its parents, private to the user.
func (OS) MkdirAll(dir string) error { return os.MkdirAll(dir, 0o700) }

// Create makes a temporary file in dir, mode 0600.
func (OS) Create(dir string) (File, error) { return os.CreateTemp(dir, layout.TempPrefix+"*") }

// Rename replaces to by from. On Windows a reader that holds the target open
// makes it fail for a moment, so it is tried for half a second.
func (OS) Rename(from, to string) error {
	err := os.Rename(from, to)
	for i := 0; err != nil && runtime.GOOS == "windows" && i < 25 && !errors.Is(err, fs.ErrNotExist); i++ {
		time.Sleep(20 * time.Millisecond)
		err = os.Rename(from, to)
	}
	return err
}

// exchangeByLink does what Exchange does, in three steps.
func (d OS) exchangeByLink(from, to string) error {
	was := from + "x"
	err := os.Link(to, was)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // a file system without links
		var data []byte
		if data, err = os.ReadFile(to); err == nil {
			err = os.WriteFile(was, data, 0o600)
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return d.Rename(from, to)
	}
	if err == nil {
		err = d.Rename(from, to)
	}
	if err != nil {
		return errors.Join(err, dropped(os.Remove(was)))
	}
	return d.Rename(was, from)
}

// Remove deletes a file.
func (OS) Remove(name string) error { return os.Remove(name) }

// SyncDir makes the names in dir durable. Windows has no such call and needs none.
func (OS) SyncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// Append adds data to the end of a file with one write. If a crash left the
// file without a final line feed, one is put first, so that the torn line
// spoils only itself.
func (OS) Append(name string, data []byte) error { return appendTo(name, data, false) }

// AppendSynced is Append; the data has reached the disk when it returns.
func (OS) AppendSynced(name string, data []byte) error { return appendTo(name, data, true) }

func appendTo(name string, data []byte, durable bool) error {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if fi, err := f.Stat(); err == nil && fi.Size() > 0 {
		var last [1]byte
		if _, err := f.ReadAt(last[:], fi.Size()-1); err == nil && last[0] != '\n' {
			data = append([]byte{'\n'}, data...)
		}
	}
	_, err = f.Write(data)
	if err == nil && durable {
		err = f.Sync()
	}
	return err
}

// Overwrite replaces bytes of a file, which keeps its length. A crash may leave some
// of the old and some of the new.
func (OS) Overwrite(name string, at int64, data []byte) error {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(data, at)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// replace writes data to a path below the root so that a reader sees the old
// bytes or the new ones, and nothing else, whatever happens in between. With
// durable it has reached the disk when replace returns.
func (s *Store) replace(path string, data []byte, durable bool) error {
	if s.unwritable != nil {
		return s.unwritable
	}
	if err := s.folders(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	full := s.Path(path)
	dir := filepath.Dir(full)
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		if err := s.disk.MkdirAll(dir); err != nil {
			return err
		}
		if durable {
			if err := s.disk.SyncDir(filepath.Dir(dir)); err != nil {
				return err
			}
		}
	}
	if fi, err := os.Lstat(full); err == nil && !fi.Mode().IsRegular() {
		return ErrNotRegular
	}
	f, err := s.disk.Create(dir)
	if err != nil {
		return err
	}
	if err := fill(f, data, durable); err != nil {
		return errors.Join(err, s.disk.Remove(f.Name()))
	}
	if err := s.disk.Rename(f.Name(), full); err != nil {
		return errors.Join(err, s.disk.Remove(f.Name()))
	}
	if !durable {
		return nil
	}
	return s.disk.SyncDir(dir)
}

func fill(f File, data []byte, durable bool) error {
	_, err := f.Write(data)
	if err == nil && durable {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// Replace writes a file of this machine that is no note and holds none, such as
// config.json, atomically and durably. Files that hold knowledge are written by a
// Writer alone.
func (s *Store) Replace(path string, data []byte) error {
	top, _, _ := strings.Cut(path, "/")
	if slices.Contains([]string{layout.Memory, layout.Local, "history", "conflicts"}, top) {
		return fmt.Errorf("write %s: what holds notes is written by a Writer", s.Path(path))
	}
	if err := s.replace(path, data, true); err != nil {
		return fmt.Errorf("write %s: %w", s.Path(path), err)
	}
	return nil
}

// writable reports whether files can be made in dir.
func writable(dir string) bool {
	f, err := os.CreateTemp(dir, layout.TempPrefix+"*")
	if err != nil {
		return false
	}
	f.Close()
	return os.Remove(f.Name()) == nil
}

// sweepAge is how old a temporary file must be before it is taken for the
// remains of a crash. No write of ours takes that long.
const sweepAge = time.Hour

// Sweep removes temporary files that a crash left behind.
func Sweep(s *Store) int {
	var removed int
	s.temps([]string{"."}, func(at string, age time.Duration) {
		if _, settled := parseAside(at); !settled && age > sweepAge && s.disk.Remove(at) == nil {
			removed++
		}
	})
	return removed
}

// temps calls each for the temporary files below some folders, with their age.
// Hidden folders are not entered, and what cannot be read is left alone.
func (s *Store) temps(tops []string, each func(at string, age time.Duration)) {
	for _, top := range tops {
		_ = filepath.WalkDir(s.Path(top), func(at string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return nil //nolint:nilerr // what cannot be read cannot be removed either
			case d.IsDir() && strings.HasPrefix(d.Name(), ".") && at != s.Path(top):
				return filepath.SkipDir
			case !layout.IsTemp(d.Name()) || !d.Type().IsRegular():
				return nil
			}
			if fi, err := d.Info(); err == nil { // else it took its place
				each(at, s.now().Sub(fi.ModTime()))
			}
			return nil
		})
	}
}
