package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"anamnesis/internal/note"
)

// obeyedFile names the tombstones that this machine has carried out. When it is
// deleted they are carried out once more.
const obeyedFile = "obeyed.json"

// Obey carries out the tombstones that are new to this machine, as after an
// Adopt: of each note that was forgotten it erases the file, the sidecar, the
// history, held drafts and conflicts, and so of every other note that says
// exactly the same, in the tree that the tombstone is for. A note that came to
// this machine together with the tombstone is left alone (see sparing).
// Near-copies stay (ingest.Ingester.Alike names them). A note
// of that id that says something else by now was changed by somebody who
// did not know: it goes to conflicts/ and not away. A conflict in which a
// tombstone took part waits on.
//
// It returns the paths of the notes that are gone, relative to the root. When it
// stops half way, the next call begins again; without new tombstones it reads
// those only. The caller holds the store lock.
func (s *Store) Obey() (erased []string, err error) {
	if s.readOnly {
		return nil, fmt.Errorf("carry out tombstones: %w", ErrReadOnly)
	}
	all, err := s.graves()
	if err != nil {
		return nil, err
	}
	fresh := s.arriving(all)
	if len(fresh.local) == 0 { // it has those of memory/ too
		return nil, nil
	}
	if erased, err = s.erase(fresh, s.obeyed().Spared); err != nil {
		return erased, fmt.Errorf("carry out tombstones: %w", err)
	}
	stones := make(map[note.ID]string, len(all.local))
	for _, t := range all.local {
		stones[t.ID] = t.HMAC
	}
	err = s.writeObeyed(obeyed{Stones: stones})
	if err == nil {
		_ = s.eraseLeftovers() // a file that cannot be removed holds up no sync; the doctor names it
	}
	return erased, err
}

// Obeyed is what obeyedFile holds.
type obeyed struct {
	V      int                `json:"v"`
	Stones map[note.ID]string `json:"stones"`           // id to HMAC
	Spared sparing            `json:"spared,omitempty"` // until they are carried out
}

func (s *Store) obeyed() (o obeyed) {
	if data, _, err := s.readRegular(obeyedFile, 64<<20); err != nil || json.Unmarshal(data, &o) != nil {
		return obeyed{} // what cannot be read is done again
	}
	return o
}

func (s *Store) writeObeyed(o obeyed) error {
	if o.V = 1; o.Stones == nil {
		o.Stones = make(map[note.ID]string)
	}
	data, err := json.Marshal(o)
	if err != nil {
		return err
	}
	return s.Replace(obeyedFile, append(data, '\n'))
}

func (s *Store) heldFiles() []string {
	if s.folders("spool/held/") != nil {
		return nil
	}
	entries, _ := os.ReadDir(s.Path("spool/held"))
	var names []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".md") && e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	return names
}

// eraseHistory removes the forms a note had, and their folder.
func (s *Store) eraseHistory(id note.ID) error {
	if _, err := note.ParseID(string(id)); err != nil {
		return nil //nolint:nilerr // a note of such an id has no history
	}
	dir := historyDir(id)
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

// remove deletes a file below the root for good. One that is gone is no error.
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
