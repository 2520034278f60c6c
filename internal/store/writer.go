package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"anamnesis/internal/note"
	"anamnesis/internal/store/layout"
)

// Reasons for a change, as they stand in the names of history files.
const (
	Update   = "update"
	Capture  = "capture"
	Archived = "archive"
	Merged   = "merge"
	Deleted  = "delete"
	Restored = "restore"
	Conceded = "conflict" // the loser of a conflict that was resolved
	Imported = "import"   // it changed in another memory, before it came here
)

// A Writer is the right to change what a store keeps: it holds the store lock.
// Only package ingest, the one door in, asks for one; a test names whoever else
// does. When a method of a Writer returns without an error, what it wrote is on
// the disk.
type Writer struct {
	s      *Store
	unlock func()
	run    *Run // nil: nobody takes what is written back as a whole

	decision *Decision // nil: the change is no decision

	wide []string // files of the ledger that have two hashes for a note
}

// BeginWrite waits for the store lock, LockTimeout at most (ErrLocked), and
// returns the right to write. Nobody may hold it across a network or a model
// call. The caller ends it with End. A store that cannot be written returns
// ErrReadOnly.
func (s *Store) BeginWrite(ctx context.Context) (*Writer, error) {
	unlock, err := s.Lock(ctx)
	if err != nil {
		return nil, err
	}
	w := &Writer{s: s, unlock: unlock, run: runOf(ctx, s)}
	w.settle()
	if err := w.beginLedger(); err != nil {
		unlock()
		return nil, fmt.Errorf("begin the ledger of authors: %w", err)
	}
	w.decision = decisionOf(ctx, s)
	return w, nil
}

// End gives the store lock back.
func (w *Writer) End() {
	w.narrow()
	w.unlock()
}

// Store returns the store that w writes.
func (w *Writer) Store() *Store { return w.s }

// Put writes n, which the caller has validated, and returns its file. A note
// that exists keeps its place unless its type or scope changed; its former
// bytes go to history first, under reason. Only what changed is rewritten, and
// when nothing did nothing is written: changed is false.
func (w *Writer) Put(n *note.Note, old Ref, reason string) (ref Ref, changed bool, err error) {
	s, path := w.s, NotePath(n.Scope, n.Type, n.ID)
	var former []byte
	if old.Path != "" {
		if former, _, err = s.readRegular(old.Path, MaxNoteSize); err != nil {
			return Ref{}, false, fmt.Errorf("put note %s: %w", s.Path(old.Path), err)
		}
		if was, err := note.Parse(former); err == nil {
			if was.Type == n.Type && old.Scope == n.Scope {
				path = old.Path
			}
			n = n.Clone()
			n.InheritEdits(was)
		}
	} else if _, err := os.Lstat(s.Path(path)); !errors.Is(err, fs.ErrNotExist) {
		return Ref{}, false, fmt.Errorf("put note %s: a file of that name is there already; choose another id", s.Path(path))
	}
	var data []byte
	if former == nil {
		data = n.Format()
	} else if data, err = n.Rewrite(former); err != nil {
		return Ref{}, false, fmt.Errorf("put note %s: %w", s.Path(path), err)
	}
	if former != nil && path == old.Path && bytes.Equal(data, former) {
		ref, err = s.Stat(path)
		return ref, false, err
	}
	if former != nil {
		if err := w.KeepRevision(n.ID, former, reason); err != nil {
			return Ref{}, false, fmt.Errorf("put note %s: keep its former state: %w", s.Path(path), err)
		}
	}
	if err := w.writeDown(n.ID, old.Path, former, path, data); err != nil {
		return Ref{}, false, fmt.Errorf("put note %s: %w", s.Path(path), explain(err))
	}
	if former != nil && path == old.Path {
		err = w.replaceNote(n.ID, path, data, former)
	} else {
		err = s.replace(path, data, true)
	}
	if err != nil {
		return Ref{}, false, fmt.Errorf("put note %s: %w", s.Path(path), explain(err))
	}
	if former != nil && path != old.Path {
		// The old file goes last: a crash in between leaves both, and index.Sync names the second.
		if err = w.MoveSidecar(old.Path, path); err == nil {
			err = w.removeNote(n.ID, old.Path, former)
		}
		if err != nil {
			return Ref{}, false, fmt.Errorf("put note %s: leave its former place: %w", s.Path(old.Path), err)
		}
	}
	ref, err = s.Stat(path)
	return ref, true, err
}

// Overwrite replaces a file that is no note by n, and keeps it in history under reason.
func (w *Writer) Overwrite(ref Ref, n *note.Note, reason string) error {
	data, _, err := w.s.readRegular(ref.Path, MaxNoteSize)
	if err == nil {
		err = w.KeepRevision(n.ID, data, reason)
	}
	if err == nil {
		err = w.writeDown(n.ID, ref.Path, data, ref.Path, n.Format())
	}
	if err == nil {
		err = w.replaceNote(n.ID, ref.Path, n.Format(), data)
	}
	return err
}

// Reinstate gives a note that stands at from the bytes of a former form, which stood at
// to. What it is now goes to the history. A note that is gone has no from; without to it
// leaves its place, with its sidecar.
func (w *Writer) Reinstate(id note.ID, from, to string, former []byte) error {
	reason := Restored
	if to == "" {
		reason, former = Deleted, nil
	}
	var now []byte
	var err error
	if from != "" {
		if now, _, err = w.s.readRegular(from, MaxNoteSize); err == nil {
			err = w.KeepRevision(id, now, reason)
		}
	}
	if err == nil {
		err = w.writeDown(id, from, now, to, former)
	}
	switch {
	case err != nil:
		return err
	case from == to:
		return w.replaceNote(id, to, former, now)
	case to != "":
		err = w.Replace(to, former)
	}
	if err != nil || from == "" {
		return err
	}
	if to != "" {
		err = w.MoveSidecar(from, to)
	} else {
		err = w.dropSidecar(id, from)
	}
	if err != nil {
		return err
	}
	return w.removeNote(id, from, now)
}

// dropSidecar removes the sidecar of a note, if it has one, and keeps its bytes.
func (w *Writer) dropSidecar(id note.ID, path string) error {
	side := layout.SidecarOf(path)
	data, _, err := w.s.readRegular(side, MaxNoteSize)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = w.KeepSidecar(id, data)
	}
	if err == nil {
		err = w.Remove(side)
	}
	return err
}

// writeDown says to the run and to the decision what is about to be done to a note.
func (w *Writer) writeDown(id note.ID, from string, former []byte, to string, now []byte) error {
	if now != nil {
		if err := w.run.note(id, from, former, to, now); err != nil {
			return err
		}
	}
	return w.decision.add(&Change{Kind: NoteChange, ID: id, From: from, Former: sumOf(former), To: to, Now: sumOf(now)})
}

// Replace writes a file below the root whole, whatever it is for, and keeps
// nothing of what stood there.
func (w *Writer) Replace(path string, data []byte) error { return w.s.replace(path, data, true) }

// Remove deletes a file below the root for good, but no note: an editor may have saved it in this moment (RemoveNote), or its
// words are to go with all that is kept of them (Erase). A file that is gone is no error.
func (w *Writer) Remove(path string) error {
	if layout.IsNotePath(path) {
		return fmt.Errorf("erase %s: a note is not removed without what an editor saved there", w.s.Path(path))
	}
	return w.s.remove(path)
}

// Erase deletes a file below the root for good, also a note, with what an editor may have saved there. A file that is gone is no
// error.
func Erase(w *Writer, path string) error { return w.s.remove(path) }

func (s *Store) remove(path string) error {
	_, err := s.lstat(path)
	if err == nil {
		err = s.disk.Remove(s.Path(path))
	}
	if err == nil {
		err = s.disk.SyncDir(filepath.Dir(s.Path(path)))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("erase %s: %w", s.Path(path), err)
	}
	return nil
}

// MoveSidecar takes the sidecar of a note, if it has one, along to the note's new place.
func (w *Writer) MoveSidecar(from, to string) error {
	was := layout.SidecarOf(from)
	if _, err := w.s.lstat(was); err != nil {
		return nil //nolint:nilerr // it has none
	}
	return w.s.disk.Rename(w.s.Path(was), w.s.Path(layout.SidecarOf(to)))
}

// WriteSidecar unites entities with those that stand beside the note at path already.
func (w *Writer) WriteSidecar(path string, data []byte) error {
	path = layout.SidecarOf(path)
	there, _, err := w.s.readRegular(path, MaxNoteSize)
	switch {
	case err == nil:
		data = note.ReconcileSidecars(nil, there, data).Data
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return w.Replace(path, data)
}

// MergeSidecar removes the note at from, which the note at into says as well. Its
// bytes go to its own history, from which a restore brings it back; its sidecar
// is united with the one of into. The caller has written into what it wants to
// keep of the note itself.
func (w *Writer) MergeSidecar(from, into Ref) error {
	n, data, _, err := w.s.Read(from.Path)
	if err != nil {
		return fmt.Errorf("absorb note %s: %w", w.s.Path(from.Path), err)
	}
	side, _, err := w.s.readRegular(layout.SidecarOf(from.Path), MaxNoteSize)
	if err == nil {
		err = w.WriteSidecar(into.Path, side)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("absorb note %s: unite its entities with those of %s: %w", n.ID, w.s.Path(into.Path), err)
	}
	if err := w.KeepRevision(n.ID, data, Deleted); err != nil {
		return fmt.Errorf("absorb note %s: keep its former state: %w", n.ID, err)
	}
	if err := w.writeDown(n.ID, from.Path, data, "", nil); err != nil {
		return fmt.Errorf("absorb note %s: %w", n.ID, err)
	}
	// The note goes last: after a crash it is found again, and absorbed again.
	err = w.Remove(layout.SidecarOf(from.Path))
	if err == nil {
		err = w.removeNote(n.ID, from.Path, data)
	}
	if err != nil {
		return fmt.Errorf("absorb note %s: %w", n.ID, err)
	}
	return nil
}
