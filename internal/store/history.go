package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/note"

	"github.com/oklog/ulid/v2"
)

// A Revision is a form a note had before a change.
type Revision struct {
	Name   string    // file name without .md
	At     time.Time // when it was replaced
	Reason string    // why
	Path   string    // relative to the store's root
}

func historyDir(id note.ID) string { return "history/" + string(id) }

// remember stores the bytes a note has before it changes. Bytes equal to the
// newest revision are stored already: a crash after this step and before the
// change leaves such a copy. It then gets the time of this change, by which
// FormsBefore finds it.
func (s *Store) remember(id note.ID, data []byte, reason string) error {
	name, again, err := s.revision(id, data, reason)
	switch {
	case err != nil || name == "":
		return err
	case again != "":
		if err := s.disk.Rename(s.Path(again), s.Path(name)); err != nil {
			return err
		}
		return s.disk.SyncDir(s.Path(historyDir(id)))
	}
	return s.replace(name, data, true)
}

// revision returns the path under which the form data of a note belongs into
// its history, and the path of the newest revision if that holds it already.
func (s *Store) revision(id note.ID, data []byte, reason string) (name, again string, err error) {
	if stubbed("S6") || id == "" {
		return "", "", nil
	}
	if err := s.folders(historyDir(id) + "/"); err != nil && !errors.Is(err, fs.ErrNotExist) {
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
	return historyDir(id) + "/" + string(note.NewID(s.now())) + "-" + reason + ".md", again, nil
}

// History lists the revisions of a note, newest first.
func (s *Store) History(id note.ID) ([]Revision, error) {
	dir := historyDir(id)
	entries, err := os.ReadDir(s.Path(dir))
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read history of note %s: %w", id, err)
	}
	var revs []Revision
	for _, e := range entries {
		name, isNote := strings.CutSuffix(e.Name(), ".md")
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
