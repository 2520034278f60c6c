package store

import (
	"errors"
	"fmt"
	"io/fs"

	"anamnesis/internal/note"
	"anamnesis/internal/store/layout"
)

// Hold keeps n as a held draft: a complete note that waits for its owner's
// decision, because it says almost what another note says. It is in no index and
// in no tree.
func (w *Writer) Hold(n *note.Note) error { return w.HoldAs(n.ID, n.Format()) }

// HoldAs is Hold for a draft of which the bytes are known.
func (w *Writer) HoldAs(id note.ID, data []byte) error {
	err := w.changeDraft(id, data)
	if err == nil {
		err = w.s.replace(layout.HeldOf(id), data, true)
	}
	if err != nil {
		return fmt.Errorf("hold draft %s: %w", id, explain(err))
	}
	return nil
}

// Release removes a held draft; the caller has written or refused it.
func (w *Writer) Release(id note.ID) error {
	err := w.changeDraft(id, nil)
	if err == nil {
		err = w.s.disk.Remove(w.s.Path(layout.HeldOf(id)))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("release held draft %s: %w", id, err)
	}
	return nil
}

// changeDraft says to the decision what is about to become of a draft. It has no history: the
// journal has it whole.
func (w *Writer) changeDraft(id note.ID, now []byte) error {
	if !w.decision.named() {
		return nil
	}
	was, err := w.s.ReadFile(layout.HeldOf(id), MaxNoteSize)
	if err != nil && !errors.Is(err, fs.ErrNotExist) || sumOf(was) == sumOf(now) {
		return err
	}
	return w.decision.add(&Change{Kind: DraftChange, ID: id, Former: sumOf(was), Text: string(was), Now: sumOf(now)})
}

// Held lists the held drafts, oldest first. Files that are no note are left out.
func (q *Spool) Held() []*note.Note {
	var drafts []*note.Note
	// A folder that cannot be read holds none.
	_ = q.s.ReadFolder(layout.Drafts, layout.NoteSuffix, MaxNoteSize, func(_ string, data []byte) {
		if n, err := note.Parse(data); err == nil {
			drafts = append(drafts, n)
		}
	})
	return drafts
}

// HeldDraft reads one held draft.
func (q *Spool) HeldDraft(id note.ID) (*note.Note, error) {
	data, _, err := q.s.readRegular(layout.HeldOf(id), MaxNoteSize)
	if err != nil {
		return nil, fmt.Errorf("read held draft %s: %w", id, err)
	}
	return note.Parse(data)
}
