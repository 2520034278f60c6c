package store

import (
	"errors"
	"fmt"
	"io/fs"

	"anamnesis/internal/note"
)

// A Choice says how a conflict ends.
type Choice string

// The choices.
const (
	Keep Choice = "keep" // the winner stays; the loser goes to the note's history
	Take Choice = "take" // the loser becomes the note; the winner goes to its history
	Both Choice = "both" // the loser becomes a note of its own, with conflict_of
	Edit Choice = "edit" // the note becomes what the user made of the two
)

// ResolveConflict ends a conflict and returns the paths of the files it
// changed, relative to the store's root. edited is the whole file for Edit, and
// is not looked at for the other choices.
//
// In a conflict with a tombstone, Keep erases the loser for good, and Take and
// Edit bring the note back and lift the tombstone. The caller holds the store lock.
func (s *Store) ResolveConflict(id note.ID, choice Choice, edited []byte) (paths []string, err error) {
	c, err := s.Conflict(id)
	if err != nil {
		return nil, err
	}
	loser, err := s.Loser(c)
	if err != nil {
		return nil, err
	}
	data := loser
	if choice == Edit {
		data = edited
	}
	kind, _ := classify(c.Path)
	switch {
	case choice == Keep:
		if c.Why != WhyForgotten && c.NoteID != "" {
			err = s.remember(c.NoteID, loser, Conceded)
		}
	case choice != Take && choice != Both && choice != Edit:
		err = fmt.Errorf("%q is not one of %s, %s, %s and %s", choice, Keep, Take, Both, Edit)
	case kind == noteFile:
		paths, err = s.resolveNote(c, choice, data)
	case choice == Both:
		err = errors.New("a file that is no note cannot stand there twice; keep, take or edit it")
	default:
		path := "memory/" + c.Path
		if err = s.replace(path, data, true); err == nil {
			paths = []string{path}
		}
	}
	if err != nil {
		return nil, fmt.Errorf("resolve conflict %s: %w", id, err)
	}
	return paths, s.drop(c)
}

func (s *Store) resolveNote(c Conflict, choice Choice, data []byte) ([]string, error) {
	n, err := note.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("this version is no note, mend it and choose %s: %w", Edit, err)
	}
	now := note.At(s.now())
	n.Scope, n.UpdatedAt, n.Edits = note.Portable, now, nil
	ref := Ref{}
	switch {
	case choice == Both && c.Why == WhyForgotten:
		return nil, fmt.Errorf("there is no other note to stand beside; choose %s or %s", Keep, Take)
	case choice == Both:
		n.ID, n.ConflictOf, n.Supersedes = note.NewID(s.now()), c.NoteID, nil
		n.Provenance.Source = knownSource(n.Provenance.Source)
		if err := n.ValidateNew(); err != nil {
			return nil, err
		}
	default:
		if n.ID != c.NoteID {
			return nil, fmt.Errorf("it has the id %s and not %s; an id never changes", n.ID, c.NoteID)
		}
		if err := n.Validate(); err != nil {
			return nil, err
		}
		ref, err = s.Find(n.ID)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		n.Scope = scopeOf(ref.Path)
	}
	var paths []string
	if c.Why == WhyForgotten {
		// The tombstone first: a note that stands below one would be erased again.
		if paths, err = s.Lift(n); err != nil {
			return nil, err
		}
	}
	if ref.Path != "" {
		if _, _, _, err := s.Read(ref.Path); err != nil { // Put cannot rewrite what is no note
			return append(paths, ref.Path), s.overwrite(ref, n, Merged)
		}
	}
	got, _, err := s.Put(n, ref, Merged)
	if err != nil {
		return nil, err
	}
	if ref.Path != "" && ref.Path != got.Path {
		paths = append(paths, ref.Path)
	}
	return append(paths, got.Path), nil
}

// overwrite replaces a file that is no note by n, and keeps it in history under reason.
func (s *Store) overwrite(ref Ref, n *note.Note, reason string) error {
	data, _, err := s.readRegular(ref.Path, MaxNoteSize)
	if err != nil {
		return err
	}
	if err := s.remember(n.ID, data, reason); err != nil {
		return err
	}
	return s.replace(ref.Path, n.Format(), true)
}

// knownSource returns a source that a new note may carry.
func knownSource(source string) string {
	for _, known := range note.Sources {
		if source == known {
			return source
		}
	}
	return note.Merge
}
