package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"anamnesis/internal/note"
)

// A held draft is a complete note that waits for its owner's decision, because
// it says almost what another note says. It is in no index and in no tree.

func heldPath(id note.ID) string { return "spool/held/" + string(id) + ".md" }

// Hold keeps n as a held draft.
func (s *Store) Hold(n *note.Note) error {
	if err := s.replace(heldPath(n.ID), n.Format(), true); err != nil {
		return fmt.Errorf("hold draft %s: %w", n.ID, explain(err))
	}
	return nil
}

// Held lists the held drafts, oldest first. Files that are no note are left out.
func (s *Store) Held() []*note.Note {
	entries, _ := os.ReadDir(s.Path("spool/held"))
	var drafts []*note.Note
	for _, e := range entries {
		if stem, ok := strings.CutSuffix(e.Name(), ".md"); ok {
			if n, err := s.HeldDraft(note.ID(stem)); err == nil {
				drafts = append(drafts, n)
			}
		}
	}
	return drafts
}

// HeldDraft reads one held draft.
func (s *Store) HeldDraft(id note.ID) (*note.Note, error) {
	data, _, err := s.readRegular(heldPath(id), MaxNoteSize)
	if err != nil {
		return nil, fmt.Errorf("read held draft %s: %w", id, err)
	}
	return note.Parse(data)
}

// Release removes a held draft; the caller has written or refused it.
func (s *Store) Release(id note.ID) error {
	if err := s.disk.Remove(s.Path(heldPath(id))); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("release held draft %s: %w", id, err)
	}
	return nil
}
