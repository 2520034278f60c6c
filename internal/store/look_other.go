//go:build !linux && !darwin

package store

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// lookInto describes the note files among entries; found has a place for each entry.
func lookInto(_ *os.File, entries []fs.DirEntry, found []sight) {
	for i, e := range entries {
		if !isNoteFile(e) {
			continue
		}
		if fi, err := e.Info(); err == nil {
			found[i].size, found[i].modTime, found[i].there = fi.Size(), fi.ModTime(), true
		}
	}
}

// readFrom reads the start of a file in a folder, as far as buf goes.
func readFrom(dir *os.File, name string, buf []byte) (n int, err error) {
	f, err := os.Open(filepath.Join(dir.Name(), name))
	if err != nil {
		return 0, err
	}
	defer f.Close()
	if n, err = io.ReadFull(f, buf); err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	return n, err
}
