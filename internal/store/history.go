package store

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/note"
	"anamnesis/internal/store/layout"

	"github.com/oklog/ulid/v2"
)

// A Revision is a form a note had before a change.
type Revision struct {
	Name   string    // file name without .md
	At     time.Time // when it was replaced
	Reason string    // why
	Path   string    // relative to the store's root
}

// History lists the revisions of a note, newest first.
func (s *Store) History(id note.ID) ([]Revision, error) {
	dir := layout.HistoryOf(id)
	entries, err := s.entries(dir)
	if err != nil {
		return nil, fmt.Errorf("read history of note %s: %w", id, err)
	}
	var revs []Revision
	for _, e := range entries {
		name, isNote := strings.CutSuffix(e.Name(), layout.NoteSuffix)
		stamp, reason, ok := strings.Cut(name, "-")
		if !isNote || !ok || !e.Type().IsRegular() {
			continue
		}
		u, err := ulid.ParseStrict(stamp)
		if err != nil {
			continue
		}
		revs = append(revs, Revision{Name: name, At: ulid.Time(u.Time()), Reason: reason, Path: dir + "/" + e.Name()})
	}
	slices.Reverse(revs) // ReadDir sorts by name, and names begin with a ULID
	return revs, nil
}

// Histories returns the ids of the notes that have former forms.
func Histories(s *Store) (ids []note.ID, err error) {
	entries, err := s.entries("history")
	for _, e := range entries {
		if id, perr := note.ParseID(e.Name()); perr == nil && e.IsDir() {
			ids = append(ids, id)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("list the notes with a history: %w", err)
	}
	return ids, nil
}

// ReadRevision reads a former form of a note.
func (s *Store) ReadRevision(id note.ID, rev Revision) (*note.Note, error) {
	data, _, err := s.readRegular(rev.Path, MaxNoteSize)
	var n *note.Note
	if err == nil {
		n, err = note.Parse(data)
	}
	if err == nil && n.ID != id {
		err = fmt.Errorf("it has the id %s", n.ID)
	}
	if err != nil {
		return nil, fmt.Errorf("read revision %s of note %s: %w", rev.Name, id, err)
	}
	return n, nil
}

// LatestRevision returns a note, or the newest form in the history of one that is gone.
func (s *Store) LatestRevision(id note.ID) (*note.Note, error) {
	if _, err := note.ParseID(string(id)); err != nil {
		return nil, err
	}
	ref, err := s.Find(id)
	if err == nil {
		n, _, _, err := s.Read(ref.Path)
		return n, err
	}
	revs, herr := s.History(id)
	if herr != nil || len(revs) == 0 {
		return nil, errors.Join(err, herr)
	}
	return s.ReadRevision(id, revs[0])
}

// A Former is the form that a note had before something changed it.
type Former struct {
	ID note.ID
	Revision
}

// FormsBefore lists, for every note that changed from since until until, the
// form it had before the first of these changes. It is what takes back a
// command that changed many notes. until may be zero: until now. What changed in
// another memory, before the note came here, is no change of this store.
func (s *Store) FormsBefore(since, until time.Time) ([]Former, error) {
	entries, err := s.entries("history")
	if err != nil {
		return nil, fmt.Errorf("read history: %w", err)
	}
	since = since.Truncate(time.Millisecond) // names of revisions know no more
	var all []Former
	for _, e := range entries {
		id, err := note.ParseID(e.Name())
		if err != nil || !e.IsDir() {
			continue
		}
		revs, err := s.History(id)
		if err != nil {
			return nil, err
		}
		for _, r := range slices.Backward(revs) { // oldest first
			if r.Reason != Imported && !r.At.Before(since) && (until.IsZero() || !r.At.After(until)) {
				all = append(all, Former{id, r})
				break
			}
		}
	}
	slices.SortFunc(all, func(a, b Former) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID))
	})
	return all, nil
}

// KeepRevision stores the bytes a note has before it changes. Bytes equal to the
// newest revision are stored already: a crash after this step and before the
// change leaves such a copy. It then gets the time of this change, by which
// FormsBefore finds it.
func (w *Writer) KeepRevision(id note.ID, data []byte, reason string) error {
	s := w.s
	name, again, err := s.revision(id, data, reason)
	switch {
	case err != nil || name == "":
		return err
	case again != "":
		if err := s.disk.Rename(s.Path(again), s.Path(name)); err != nil {
			return err
		}
		return s.disk.SyncDir(s.Path(layout.HistoryOf(id)))
	}
	return s.replace(name, data, true)
}

// graphMended is why a sidecar was kept: it was tidied, or its note is gone.
const graphMended = "graph"

// KeepSidecar stores the bytes that the sidecar of a note has before it is mended or goes.
// They are no form of the note: History does not list them, and EraseHistory takes them along.
func (w *Writer) KeepSidecar(id note.ID, data []byte) error {
	if _, err := note.ParseID(string(id)); err != nil {
		return err
	}
	name := layout.HistoryOf(id) + "/" + string(note.NewID(w.s.now())) + "-" + graphMended + layout.SidecarSuffix
	return w.s.replace(name, data, true)
}

// revision returns the path under which the form data of a note belongs into
// its history, and the path of the newest revision if that holds it already.
func (s *Store) revision(id note.ID, data []byte, reason string) (name, again string, err error) {
	if id == "" {
		return "", "", nil
	}
	dir := layout.HistoryOf(id)
	if err := s.folders(dir + "/"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", "", err
	}
	revs, err := s.History(id)
	if err != nil {
		return "", "", err
	}
	if len(revs) > 0 && revs[0].Reason != Imported {
		if newest, _, err := s.readRegular(revs[0].Path, MaxNoteSize); err == nil && bytes.Equal(newest, data) {
			again = revs[0].Path
		}
	}
	return dir + "/" + string(note.NewID(s.now())) + "-" + reason + layout.NoteSuffix, again, nil
}

// EraseHistory removes the forms a note had, and their folder.
func (w *Writer) EraseHistory(id note.ID) error {
	if _, err := note.ParseID(string(id)); err != nil {
		return nil //nolint:nilerr // a note of such an id has no history
	}
	s, dir := w.s, layout.HistoryOf(id)
	if err := s.eraseAsides(id); err != nil {
		return err
	}
	err := s.folders(dir + "/")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var entries []os.DirEntry
	if err == nil {
		entries, err = os.ReadDir(s.Path(dir))
	}
	for _, e := range entries {
		if err == nil && !e.IsDir() {
			err = s.disk.Remove(s.Path(dir + "/" + e.Name()))
		}
	}
	if err == nil {
		err = s.disk.Remove(s.Path(dir))
	}
	if err == nil {
		err = s.disk.SyncDir(s.Path("history"))
	}
	if err != nil {
		return fmt.Errorf("erase history of note %s: %w", id, err)
	}
	return nil
}
