package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"anamnesis/internal/note"
	"anamnesis/internal/store/layout"
)

// Spool is what waits on this machine: drafts for a decision, and the files of
// package queue for a background run. Nothing of it is knowledge before it is done,
// so it needs no Writer. It is safe for concurrent use.
type Spool struct{ s *Store }

// check refuses a path that is not below the spool, or is reached through a link.
func (q *Spool) check(name string) error {
	if !fs.ValidPath(name) || !strings.HasPrefix(name, layout.Spool+"/") {
		return fmt.Errorf("%.80q is no file of the spool", name)
	}
	return q.s.folders(name)
}

// Entries lists a folder of the spool in the order of the names. One that is not
// there has none; one that is a link is an error.
func (q *Spool) Entries(dir string) (entries []fs.DirEntry, err error) {
	if err = q.s.folders(dir + "/"); err == nil {
		entries, err = os.ReadDir(q.s.Path(dir))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return entries, err
}

// Write replaces a file of the spool so that a reader sees the old bytes or the
// new ones. With durable it has reached the disk when Write returns.
func (q *Spool) Write(name string, data []byte, durable bool) error {
	err := q.check(name)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		err = explain(q.s.replace(name, data, durable))
	}
	return err
}

// Rename moves a file within the spool and makes the folder it goes to.
func (q *Spool) Rename(from, to string) error {
	err := q.check(to)
	if errors.Is(err, fs.ErrNotExist) {
		err = q.s.disk.MkdirAll(q.s.Path(path.Dir(to)))
	}
	if err == nil {
		err = q.check(from)
	}
	if err == nil {
		err = q.s.disk.Rename(q.s.Path(from), q.s.Path(to))
	}
	return err
}

// Remove deletes a file of the spool. One that is gone is no error.
func (q *Spool) Remove(name string) error {
	err := q.check(name)
	if err == nil {
		err = q.s.disk.Remove(q.s.Path(name))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// RemoveJobs deletes the jobs of an id in a folder, whatever their attempts, but
// the one at the path keep.
func (q *Spool) RemoveJobs(dir string, id note.ID, keep string) error {
	entries, err := q.Entries(dir)
	for _, e := range entries {
		name := dir + "/" + e.Name()
		if first, _, _ := strings.Cut(e.Name(), "."); first == string(id) && name != keep && e.Type().IsRegular() {
			err = errors.Join(err, q.Remove(name))
		}
	}
	return err
}
