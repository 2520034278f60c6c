package store

import (
	"errors"
	"fmt"
	"io/fs"

	"anamnesis/internal/note"
)

// Absorb removes the note at from, which the note at into says as well. Its
// bytes go to its own history, from which Reinstate brings it back; its sidecar
// is united with the one of into. The caller holds the store lock, and has
// written into what it wants to keep of the note itself.
func (s *Store) Absorb(from, into Ref) error {
	n, data, _, err := s.Read(from.Path)
	if err != nil {
		return fmt.Errorf("absorb note %s: %w", s.Path(from.Path), err)
	}
	if err := s.uniteSidecars(from.Path, into.Path); err != nil {
		return fmt.Errorf("absorb note %s: unite its entities with those of %s: %w", n.ID, s.Path(into.Path), err)
	}
	if err := s.remember(n.ID, data, Deleted); err != nil {
		return fmt.Errorf("absorb note %s: keep its former state: %w", n.ID, err)
	}
	// The note goes last: after a crash it is found again, and absorbed again.
	for _, name := range []string{sidecarPath(from.Path), from.Path} {
		if err := s.remove(name); err != nil {
			return fmt.Errorf("absorb note %s: %w", n.ID, err)
		}
	}
	return nil
}

// uniteSidecars writes the entities of both notes beside the second.
func (s *Store) uniteSidecars(from, into string) error {
	ours, _, err := s.readRegular(sidecarPath(from), MaxNoteSize)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	theirs, _, err := s.readRegular(sidecarPath(into), MaxNoteSize)
	if err == nil {
		ours = note.ReconcileSidecars(nil, theirs, ours).Data
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return s.replace(sidecarPath(into), ours, true)
}
