package ingest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// What undoing a run does, or would do, to a note of it.
const (
	UndoRestored = "restored" // it has the form that it had before the run
	UndoArchived = "archived" // the run or the decision made it
	UndoEdited   = "edited"   // somebody changed it since, and it stays
	UndoGone     = "gone"     // it was deleted or forgotten since
	UndoLost     = "lost"     // its former form is not in the history any more, and it stays
	UndoNothing  = "nothing"  // it is as it was before the run
)

// An Undone is what became of a note of a run.
type Undone struct {
	ID     note.ID
	Title  string
	Result string
	Path   string // relative to the root
	Rev    string // of the form before the run, as the history names it
}

// UndoRun gives every note that a run wrote the form it had before, and archives those
// that it made; with apply false it only says so. A note that is not as the run left it
// was changed by somebody since, or between two writes of the run, and stays as it is.
// The paths are those that changed, also when there is an error: the index has to be
// informed of them.
func UndoRun(ctx context.Context, s *store.Store, l store.RunLog, apply bool) (all []Undone, paths []string, err error) {
	lines := make(map[note.ID][]store.RunLine)
	for _, line := range l.Lines {
		lines[line.Note] = append(lines[line.Note], line)
	}
	do := func(w *store.Writer) error {
		for _, id := range l.Notes() {
			if err := ctx.Err(); err != nil {
				return err
			}
			u, err := undoNote(w, s, l.ID, lines[id])
			if err != nil {
				return fmt.Errorf("undo what the run %s did to note %s: %w", l.ID, id, err)
			}
			all = append(all, u)
			if w != nil && (u.Result == UndoRestored || u.Result == UndoArchived) {
				paths = append(paths, lines[id][0].From, u.Path)
			}
		}
		return nil
	}
	if apply {
		err = locked(ctx, s, do)
	} else {
		err = do(nil)
	}
	return all, paths, err
}

// undoNote undoes the changes of one note. Without a writer it only looks.
func undoNote(w *store.Writer, s *store.Store, run note.ID, lines []store.RunLine) (Undone, error) {
	first, last := lines[0], lines[len(lines)-1]
	u := Undone{ID: first.Note, Path: last.To}
	data, err := s.ReadFile(last.To, store.MaxNoteSize)
	if errors.Is(err, fs.ErrNotExist) {
		u.Result = UndoGone
		if ref, err := s.Find(first.Note); err == nil { // it was moved
			u.Result, u.Path = UndoEdited, ref.Path
		}
		return u, nil
	}
	if err != nil {
		return u, err
	}
	n, err := note.Parse(data)
	if err != nil {
		n = nil // the run left a note, so somebody changed it
	} else {
		u.Title = n.Title
	}
	former, rev, err := formerOf(s, first)
	if err != nil {
		return u, err
	}
	u.Rev = rev
	switch sum := store.Digest(data); {
	case first.From != "" && sum == first.Former && last.To == first.From:
		u.Result = UndoNothing
		return u, nil
	case sum != last.Now || !chained(lines):
		u.Result = UndoEdited
		return u, nil
	case first.From != "" && former == nil:
		u.Result = UndoLost
		return u, nil
	case first.From != "":
		if u.Result = UndoRestored; w != nil {
			u.Path = first.From
			err = w.Reinstate(first.Note, last.To, first.From, former)
		}
		return u, err
	case n == nil || n.Decided():
		u.Result = UndoNothing
		return u, nil
	}
	if u.Result = UndoArchived; w == nil {
		return u, nil
	}
	ref, err := s.Stat(last.To)
	if err == nil {
		n.Archive("the run " + string(run) + " was undone")
		n.UpdatedAt = note.At(s.Now())
		_, _, err = w.Put(n, ref, store.Archived)
	}
	return u, err
}

// chained reports whether nobody else changed a note between the writes of a run.
func chained(lines []store.RunLine) bool {
	for i := 1; i < len(lines); i++ {
		if lines[i].From != lines[i-1].To || lines[i].Former != lines[i-1].Now {
			return false
		}
	}
	return true
}

// formerOf looks in the history for the form that a note had before a run; nil when it is not there.
func formerOf(s *store.Store, first store.RunLine) (data []byte, rev string, err error) {
	if first.From == "" {
		return nil, "", nil
	}
	revs, err := s.History(first.Note)
	if err != nil {
		return nil, "", err
	}
	for _, r := range revs {
		if data, err := s.ReadFile(r.Path, store.MaxNoteSize); err == nil && store.Digest(data) == first.Former {
			return data, r.Name, nil
		}
	}
	return nil, "", nil
}
