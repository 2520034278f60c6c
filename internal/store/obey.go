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

// obeyedFile names the tombstones that this machine has carried out. It can be
// deleted: they are carried out once more then.
const obeyedFile = "obeyed.json"

// Obey carries out the tombstones that are new to this machine, as after an
// Adopt: of each note that was forgotten it erases the file, the sidecar, the
// history, held drafts and conflicts, and so of every other note that says
// exactly the same. Near-copies stay (ingest.Ingester.Alike names them). A note
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
	all, err := s.Tombstones()
	if err != nil {
		return nil, err
	}
	done := s.obeyed()
	var fresh []Tombstone
	for _, t := range all {
		if done[t.ID] != t.HMAC {
			fresh = append(fresh, t)
		}
	}
	if len(fresh) == 0 {
		return nil, nil
	}
	if erased, err = s.erase(fresh); err != nil {
		return erased, fmt.Errorf("carry out tombstones: %w", err)
	}
	stones := make(map[note.ID]string, len(all))
	for _, t := range all {
		stones[t.ID] = t.HMAC
	}
	return erased, s.writeObeyed(stones)
}

func (s *Store) obeyed() map[note.ID]string {
	var file struct {
		Stones map[note.ID]string `json:"stones"`
	}
	if data, _, err := s.readRegular(obeyedFile, 64<<20); err == nil {
		_ = json.Unmarshal(data, &file) // what cannot be read is done again
	}
	return file.Stones
}

func (s *Store) writeObeyed(stones map[note.ID]string) error {
	data, err := json.Marshal(map[string]any{"v": 1, "stones": stones})
	if err != nil {
		return err
	}
	return s.Replace(obeyedFile, append(data, '\n'))
}

// A verdict says what tombstones want of a text.
type verdict int

const (
	inPlace  verdict = iota
	goes             // it says exactly what was forgotten
	withheld         // it is the note that was forgotten, and says something else now
)

// judge returns what the tombstones want of a file, and the id in it.
func judge(stones []Tombstone, name string, data []byte) (note.ID, verdict) {
	n, err := note.Parse(data)
	id := stemID(name)
	said := ""
	words := -1
	if err == nil {
		id, said = n.ID, note.Normalize(n.Statement())
		words = len(strings.Fields(said))
	}
	v := inPlace
	for _, t := range stones {
		if t.Tokens == words && t.exactly(said) {
			return id, goes
		}
		if t.ID == id {
			v = withheld
		}
	}
	return id, v
}

// erase removes everything that the tombstones name, the note files last: a run
// that is repeated finds by them what belongs to them.
func (s *Store) erase(stones []Tombstone) (erased []string, err error) {
	ids := make(map[note.ID]bool, len(stones))
	for _, t := range stones {
		ids[t.ID] = true
	}
	var files []string
	for ref := range s.Walk() {
		data, _, err := s.readRegular(ref.Path, MaxNoteSize)
		if err != nil {
			continue // whoever needs the file reports it
		}
		id, v := judge(stones, ref.Path, data)
		if v == withheld && ref.Scope == note.Portable {
			if _, _, err := s.AddConflict(strings.TrimPrefix(ref.Path, "memory/"), nil, data); err != nil {
				return nil, err
			}
		}
		if v != inPlace && (v == goes || ref.Scope == note.Portable) {
			ids[id] = true
			files = append(files, ref.Path)
		}
	}
	if err := s.eraseTraces(stones, ids); err != nil {
		return nil, err
	}
	for _, path := range files {
		for _, name := range []string{sidecarPath(path), path} {
			if err := s.remove(name); err != nil {
				return erased, err
			}
		}
		erased = append(erased, path)
	}
	return erased, nil
}

// eraseTraces removes the histories, drafts and conflicts of notes, and what waits to be tried again.
func (s *Store) eraseTraces(stones []Tombstone, ids map[note.ID]bool) error {
	for id := range ids {
		if err := s.eraseHistory(id); err != nil {
			return err
		}
		if err := s.DropRetry(id); err != nil {
			return err
		}
	}
	for _, name := range s.heldFiles() {
		data, _, err := s.readRegular("spool/held/"+name, MaxNoteSize)
		if err != nil {
			continue
		}
		if id, v := judge(stones, name, data); v != inPlace || ids[id] {
			if err := s.remove("spool/held/" + name); err != nil {
				return err
			}
		}
	}
	conflicts, err := s.Conflicts()
	if err != nil {
		return err
	}
	for _, c := range conflicts {
		gone := ids[c.NoteID] && c.Why != WhyForgotten
		if data, err := s.Loser(c); err == nil && !gone {
			_, v := judge(stones, c.Path, data)
			gone = v == goes
		}
		if gone {
			if err := s.drop(c); err != nil {
				return err
			}
		}
	}
	return nil
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
