package store

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/note"
)

// Why a conflict is there.
const (
	WhyBody       = "body"       // both sides changed the same lines
	WhyFields     = "fields"     // both sides changed a field of the front matter
	WhyForgotten  = "forgotten"  // one side forgot what the other changed
	WhyUnreadable = "unreadable" // one side is no note, or no note can hold both
)

// A Conflict is the other version of something that a merge could not decide.
// The winner stands in its place, so a conflict stops nothing; the loser waits
// in conflicts/ until its owner says what to do with it.
type Conflict struct {
	V      int      `json:"v"`
	ID     note.ID  `json:"id"`
	At     string   `json:"at"`   // RFC 3339
	Path   string   `json:"path"` // relative to memory/
	NoteID note.ID  `json:"note_id,omitempty"`
	Why    string   `json:"why"`
	Fields []string `json:"fields,omitempty"` // in which the two differ; note.BodyKey is the body
	Winner string   `json:"winner,omitempty"` // SHA-256 of the winning file, hex; empty when there is none
	Loser  string   `json:"loser"`            // SHA-256 of the losing file, hex
}

func conflictPath(id note.ID, ext string) string { return "conflicts/" + string(id) + ext }

func digest(data []byte) string {
	if data == nil {
		return ""
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// AddConflict keeps the loser of a merge at a path relative to memory/; a nil
// winner says that there is none, because the note was forgotten. What a
// conflict of that path holds already, as after a crash, is not kept a second
// time; added is false then. The caller holds the store lock.
func (s *Store) AddConflict(path string, winner, loser []byte) (c Conflict, added bool, err error) {
	kind, ok := classify(path)
	if !ok {
		return c, false, fmt.Errorf("keep the other version of %q: %w", path, errUnknownPath)
	}
	now := s.now()
	c = Conflict{V: 1, ID: note.NewID(now), At: now.UTC().Format(time.RFC3339), Path: path, Winner: digest(winner), Loser: digest(loser)}
	c.describe(kind, winner, loser)
	all, err := s.Conflicts()
	if err != nil {
		return c, false, err
	}
	for _, old := range all {
		if old.Path == path && (old.Loser == c.Loser || s.holds(old, c, loser)) {
			return old, false, nil
		}
	}
	data, err := json.Marshal(c)
	// The description comes last: without it there is no conflict.
	if err == nil {
		err = s.replace(conflictPath(c.ID, ".md"), loser, true)
	}
	if err == nil {
		err = s.replace(conflictPath(c.ID, ".json"), append(data, '\n'), true)
	}
	if err != nil {
		return c, false, fmt.Errorf("keep the other version of %s: %w", s.Path("memory/"+path), explain(err))
	}
	return c, true, nil
}

// describe says why there is a conflict, and about which note.
func (c *Conflict) describe(kind fileKind, winner, loser []byte) {
	c.NoteID = stemID(c.Path)
	lost, err := note.Parse(loser)
	won, werr := note.Parse(winner)
	if kind == noteFile || kind == slotFile {
		switch {
		case err == nil:
			c.NoteID = lost.ID
		case werr == nil:
			c.NoteID = won.ID
		}
	}
	switch {
	case winner == nil:
		c.Why = WhyForgotten
	case kind != noteFile && kind != slotFile:
		c.Why = WhyFields
	case err != nil || werr != nil:
		c.Why = WhyUnreadable
	default:
		c.Why, c.Fields = WhyFields, note.Differences(won, lost)
		if slices.Contains(c.Fields, note.BodyKey) {
			c.Why = WhyBody
		}
	}
}

// holds reports whether the loser of an older conflict says in every field of c what the loser of c says.
func (s *Store) holds(old, c Conflict, loser []byte) bool {
	if old.Why != c.Why && old.Why != WhyBody || len(c.Fields) == 0 {
		return false
	}
	data, err := s.Loser(old)
	if err != nil {
		return false
	}
	a, erra := note.Parse(data)
	b, errb := note.Parse(loser)
	if erra != nil || errb != nil {
		return false
	}
	differ := note.Differences(a, b)
	return !slices.ContainsFunc(c.Fields, func(f string) bool { return !slices.Contains(old.Fields, f) || slices.Contains(differ, f) })
}

// Conflicts lists the conflicts, oldest first. Files that are none are left out.
func (s *Store) Conflicts() ([]Conflict, error) {
	entries, err := os.ReadDir(s.Path("conflicts"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read conflicts: %w", err)
	}
	var all []Conflict
	for _, e := range entries {
		stem, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok {
			continue
		}
		if known, ok := s.known.Load(stem); ok {
			all = append(all, known.(Conflict))
		} else if c, err := s.Conflict(note.ID(stem)); err == nil {
			s.known.Store(stem, c)
			all = append(all, c)
		}
	}
	return all, nil
}

// CountConflicts counts the conflicts by the names of their files. Session
// starts call it: it reads one folder.
func (s *Store) CountConflicts() int {
	entries, _ := os.ReadDir(s.Path("conflicts")) // what cannot be read is told by those who need it
	n := 0
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".json") && e.Name()[0] != '.' {
			n++
		}
	}
	return n
}

// Conflict reads one conflict. The error is fs.ErrNotExist when there is none.
func (s *Store) Conflict(id note.ID) (Conflict, error) {
	var c Conflict
	if _, err := note.ParseID(string(id)); err != nil {
		return c, fmt.Errorf("read conflict: %w", err)
	}
	data, _, err := s.readRegular(conflictPath(id, ".json"), 64<<10)
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	if err == nil && (c.V != 1 || c.ID != id) {
		err = errors.New("it was written by another version")
	}
	if err == nil {
		if _, ok := classify(c.Path); !ok {
			err = errUnknownPath
		}
	}
	if err != nil {
		return c, fmt.Errorf("read conflict %s: %w", id, err)
	}
	return c, nil
}

// Loser reads the version that lost.
func (s *Store) Loser(c Conflict) ([]byte, error) {
	data, _, err := s.readRegular(conflictPath(c.ID, ".md"), MaxNoteSize)
	if err != nil {
		return nil, fmt.Errorf("read the other version of conflict %s: %w", c.ID, err)
	}
	return data, nil
}

// drop removes a conflict, its description last.
func (s *Store) drop(c Conflict) error {
	for _, ext := range []string{".md", ".json"} {
		if err := s.disk.Remove(s.Path(conflictPath(c.ID, ext))); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove conflict %s: %w", c.ID, err)
		}
	}
	return s.disk.SyncDir(s.Path("conflicts"))
}
