package store

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"anamnesis/internal/note"
	"anamnesis/internal/store/layout"
)

// Why a conflict is there.
const (
	WhyBody       = "body"       // both sides changed the same lines
	whyFields     = "fields"     // both sides changed a field of the front matter
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

// ErrUnknownPath says that no file of that name belongs into memory/.
var ErrUnknownPath = errors.New("a file of that name does not belong into memory/")

// Digest returns the SHA-256 of a file in hex, "" for nil: one that is not there.
func Digest(data []byte) string {
	if data == nil {
		return ""
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Conflicts are the files in conflicts/. It is safe for concurrent use.
type Conflicts struct {
	s     *Store
	known sync.Map // name of a description → Conflict: they never change, and a merge may make many
}

// AddConflict keeps the loser of a merge at a path relative to memory/; a nil
// winner says that there is none, because the note was forgotten. What a
// conflict of that path holds already, as after a crash, is not kept a second
// time; added is false then.
func (w *Writer) AddConflict(path string, winner, loser []byte) (c Conflict, added bool, err error) {
	s := w.s
	class := layout.InTree(path)
	if class == layout.Unknown {
		return c, false, fmt.Errorf("keep the other version of %q: %w", path, ErrUnknownPath)
	}
	now := s.now()
	c = Conflict{V: 1, ID: note.NewID(now), At: now.UTC().Format(time.RFC3339), Path: path, Winner: Digest(winner), Loser: Digest(loser)}
	c.describe(class, winner, loser)
	all, err := s.conflicts.List()
	if err != nil {
		return c, false, err
	}
	for _, old := range all {
		if old.Path == path && (old.Loser == c.Loser || s.conflicts.holds(old, c, loser)) {
			return old, false, nil
		}
	}
	data, err := json.Marshal(c)
	// The description comes last: without it there is no conflict.
	if err == nil {
		err = s.replace(layout.ConflictOf(c.ID, ".md"), loser, true)
	}
	if err == nil {
		err = s.replace(layout.ConflictOf(c.ID, ".json"), append(data, '\n'), true)
	}
	if err != nil {
		return c, false, fmt.Errorf("keep the other version of %s: %w", s.Path("memory/"+path), explain(err))
	}
	return c, true, nil
}

// describe says why there is a conflict, and about which note.
func (c *Conflict) describe(class layout.Class, winner, loser []byte) {
	c.NoteID = StemID(c.Path)
	lost, err := note.Parse(loser)
	won, werr := note.Parse(winner)
	isNote := class == layout.Note || class == layout.Slot
	if isNote {
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
	case !isNote:
		c.Why = whyFields
	case err != nil || werr != nil:
		c.Why = WhyUnreadable
	default:
		c.Why, c.Fields = whyFields, note.Differences(won, lost)
		if slices.Contains(c.Fields, note.BodyKey) {
			c.Why = WhyBody
		}
	}
}

// holds reports whether the loser of an older conflict says in every field of c what the loser of c says.
func (k *Conflicts) holds(old, c Conflict, loser []byte) bool {
	if old.Why != c.Why && old.Why != WhyBody || len(c.Fields) == 0 {
		return false
	}
	data, err := k.Loser(old)
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

// List lists the conflicts, oldest first. Files that are none are left out.
func (k *Conflicts) List() ([]Conflict, error) {
	entries, err := k.s.entries("conflicts")
	if err != nil {
		return nil, fmt.Errorf("read conflicts: %w", err)
	}
	var all []Conflict
	for _, e := range entries {
		stem, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok {
			continue
		}
		if known, ok := k.known.Load(stem); ok {
			all = append(all, known.(Conflict))
		} else if c, err := k.Get(note.ID(stem)); err == nil {
			k.known.Store(stem, c)
			all = append(all, c)
		}
	}
	return all, nil
}

// Count is how many List lists. What cannot be read is shown by those who need it.
func (k *Conflicts) Count() int {
	all, _ := k.List()
	return len(all)
}

// Get reads one conflict. The error is fs.ErrNotExist when there is none.
func (k *Conflicts) Get(id note.ID) (Conflict, error) {
	var c Conflict
	if _, err := note.ParseID(string(id)); err != nil {
		return c, fmt.Errorf("read conflict: %w", err)
	}
	data, _, err := k.s.readRegular(layout.ConflictOf(id, ".json"), 64<<10)
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	if err == nil && (c.V != 1 || c.ID != id) {
		err = errors.New("it was written by another version")
	}
	if err == nil && layout.InTree(c.Path) == layout.Unknown {
		err = ErrUnknownPath
	}
	if err != nil {
		return c, fmt.Errorf("read conflict %s: %w", id, err)
	}
	return c, nil
}

// Loser reads the version that lost.
func (k *Conflicts) Loser(c Conflict) ([]byte, error) {
	data, _, err := k.s.readRegular(layout.ConflictOf(c.ID, ".md"), MaxNoteSize)
	if err != nil {
		return nil, fmt.Errorf("read the other version of conflict %s: %w", c.ID, err)
	}
	return data, nil
}

// DropConflict removes a conflict, its description last.
func (w *Writer) DropConflict(c Conflict) error {
	for _, ext := range []string{layout.NoteSuffix, ".json"} {
		if err := w.s.disk.Remove(w.s.Path(layout.ConflictOf(c.ID, ext))); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove conflict %s: %w", c.ID, err)
		}
	}
	return w.s.disk.SyncDir(w.s.Path("conflicts"))
}
