package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"anamnesis/internal/note"
	"anamnesis/internal/store/layout"
)

// ReadSidecar reads the file of entities beside the note at path. It is nil for
// a note that has none. What had to be left out is in the warnings.
func (s *Store) ReadSidecar(path string) (*note.Sidecar, []note.Warning, error) {
	path = layout.SidecarOf(path)
	data, _, err := s.readRegular(path, MaxNoteSize)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read sidecar %s: %w", s.Path(path), err)
	}
	side, warnings, err := note.ParseSidecar(data)
	if err != nil {
		return nil, warnings, fmt.Errorf("read sidecar %s: %w", s.Path(path), err)
	}
	return side, warnings, nil
}

// addSidecar makes a ref tell of the sidecar too, so that whoever compares refs
// notices a change of either: the sizes are added, the later time counts. The folders
// above have been looked at.
func (s *Store) addSidecar(ref *Ref) {
	fi, err := os.Lstat(s.Path(layout.SidecarOf(ref.Path)))
	ref.Sidecar = !errors.Is(err, fs.ErrNotExist)
	if err != nil || !fi.Mode().IsRegular() {
		return
	}
	ref.Size += fi.Size()
	if fi.ModTime().After(ref.ModTime) {
		ref.ModTime = fi.ModTime()
	}
}
