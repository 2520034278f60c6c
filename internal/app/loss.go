package app

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/replica"
	"anamnesis/internal/store"
	"anamnesis/internal/store/layout"
)

// rewritten is why a note waits that says something else, as many others do.
const rewritten = "it says something else, as many others do"

// loss says what a change takes away of a note. One made here by Anamnesis itself is
// meant: its former form stands in the history, or was erased and the new one is named
// (allowLoss). So is one that its owner has released, for a sync with remote.
func loss(r *Rooms, remote bool) func(path string, was, now []byte, here bool) (replica.Loss, string) {
	var list *allowed // read when first needed
	return func(path string, was, now []byte, here bool) (replica.Loss, string) {
		loss, what := lossOf(path, was, now)
		if loss == replica.NoLoss || !here {
			return loss, what
		}
		if list == nil {
			a := readAllowed(r)
			list = &a
		}
		id := IDOf(path)
		forms, sum := list.Changed[id], store.Digest(now)
		if remote && slices.Contains(forms, sum) || slices.Contains(forms, byCommand+sum) || loss != replica.Unreadable && revised(r, id, was) {
			return replica.NoLoss, ""
		}
		return loss, replica.LossWhy + what
	}
}

func lossOf(path string, was, now []byte) (replica.Loss, string) {
	if layout.InTree(path) != layout.Note {
		return replica.NoLoss, ""
	}
	before, err := note.Parse(was)
	if err != nil {
		return replica.NoLoss, ""
	}
	after, err := note.Parse(now)
	switch {
	case len(bytes.Trim(now, "\x00 \r\n\t")) == 0:
		return replica.Unreadable, "the file is empty"
	case err != nil:
		return replica.Unreadable, "it is no note any more (" + note.Line(err.Error(), 80) + ")"
	case note.Truncated(was, now):
		return replica.Shrunk, "the file ends in the middle"
	case note.Shrunk(before, after):
		return replica.Shrunk, fmt.Sprintf("most of its text is gone (%d bytes of %d are left)", len(after.Body), len(before.Body))
	case note.Reworded(before, after):
		return replica.Rewritten, rewritten
	}
	return replica.NoLoss, ""
}

// revised reports whether the history of a note holds a form.
func revised(r *Rooms, id note.ID, was []byte) bool {
	revs, err := r.Store.History(id)
	return err == nil && slices.ContainsFunc(revs, func(rev store.Revision) bool {
		data, err := r.Store.ReadFile(rev.Path, store.MaxNoteSize)
		return err == nil && bytes.Equal(data, was)
	})
}

// erases returns the notes that tombstones would erase when the changes are made.
func erases(r *Rooms, changes []replica.Change) (all []replica.Change, err error) {
	list := make([]ingest.RemoteChange, len(changes))
	for i, c := range changes {
		list[i] = ingest.RemoteChange(c)
	}
	erased, err := ingest.NewIncoming(r.Store).WouldErase(list)
	for _, d := range erased {
		if path, ok := strings.CutPrefix(d.Path, layout.Memory+"/"); ok {
			all = append(all, replica.Change{Path: path, Old: d.Data})
		}
	}
	return all, err
}

// unasked is how many notes tombstones may always erase.
const unasked = 5

// overGraves stops a sync when tombstones that came by another way than a merge,
// such as a pull by hand, would erase too much.
func overGraves(r *Rooms, s *SyncResult) (stop bool, err error) {
	erased, err := ingest.NewIncoming(r.Store).WouldErase(nil)
	if err != nil || len(erased) <= unasked {
		return false, err
	}
	total := 0
	for range r.Store.Walk() {
		total++
	}
	if float64(len(erased)) <= maxDelete*float64(total) {
		return false, nil
	}
	const most = 10
	var titles []string
	for _, d := range erased[:min(len(erased), most)] {
		titles = append(titles, fmt.Sprintf("%q", note.Line(cmp.Or(titleOf(d.Data), d.Path), 60)))
	}
	text := strings.Join(titles, ", ")
	if left := len(erased) - len(titles); left > 0 {
		text += fmt.Sprintf(" and %d more", left)
	}
	s.State, s.Conflicted = replica.Held, true
	s.why = fmt.Sprintf("tombstones would erase %d of %d notes here: %s; nothing was erased and nothing sent; "+
		"allow it if it is meant: `anamnesis sync --allow-delete`", len(erased), total, text)
	s.Detail = s.why
	return true, nil
}

// tellUnseen names what is neither read nor sent, one line a kind.
func tellUnseen(r *Rooms, s *SyncResult) {
	var unseen []WithheldFile
	files, _, _ := store.LookUnseen(r.Store)
	for _, u := range files {
		if path, portable := strings.CutPrefix(u.Path, layout.Memory); portable {
			unseen = append(unseen, WithheldFile{ID: string(IDOf(path)), Path: strings.TrimPrefix(path, "/"), Why: u.Why})
		}
	}
	for _, k := range replica.WithheldKinds(unseen) {
		s.Conflicted = true
		s.Detail += "; " + k.String()
	}
	s.Held = append(s.Held, unseen...)
}
