package ingest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"anamnesis/internal/note"
	"anamnesis/internal/store"
	"anamnesis/internal/store/layout"
	"anamnesis/internal/store/tombstone"
)

// A Choice says how a conflict ends.
type Choice string

// The choices.
const (
	KeepWinner Choice = "keep" // the winner stays; the loser goes to the note's history
	TakeLoser  Choice = "take" // the loser becomes the note; the winner goes to its history
	KeepBoth   Choice = "both" // the loser becomes a separate note, with conflict_of
	TakeEdited Choice = "edit" // the note becomes what the user made of the two
)

// ResolveConflict ends a conflict and returns the paths of the files it
// changed, relative to the store's root. edited is the whole file for Edit, and
// is not looked at for the other choices. In a conflict with a tombstone,
// KeepWinner erases the loser for good, and the others bring the note back and
// revoke the tombstone. The error is fs.ErrNotExist when there is no such conflict;
// a StaleError says that all is done and the index does not know it yet.
func (g *Ingester) ResolveConflict(ctx context.Context, id note.ID, choice Choice, edited []byte) (paths []string, err error) {
	err = locked(ctx, g.store, func(w *store.Writer) error {
		paths, err = resolveConflict(w, id, choice, edited)
		return err
	})
	if err != nil {
		return paths, err
	}
	return paths, g.refresh(ctx, paths)
}

func resolveConflict(w *store.Writer, id note.ID, choice Choice, edited []byte) (paths []string, err error) {
	s := w.Store()
	c, err := s.Conflicts().Get(id)
	if err != nil {
		return nil, err
	}
	loser, err := s.Conflicts().Loser(c)
	if err != nil {
		return nil, err
	}
	data := loser
	if choice == TakeEdited {
		data = edited
	}
	switch {
	case choice == KeepWinner:
		if c.Why != store.WhyForgotten && c.NoteID != "" {
			err = w.KeepRevision(c.NoteID, loser, store.Conceded)
		}
	case choice != TakeLoser && choice != KeepBoth && choice != TakeEdited:
		err = fmt.Errorf("%q is not one of %s, %s, %s and %s", choice, KeepWinner, TakeLoser, KeepBoth, TakeEdited)
	case layout.InTree(c.Path) == layout.Note:
		paths, err = resolveNote(w, c, choice, data)
	case choice == KeepBoth:
		err = errors.New("a file that is no note cannot stand there twice; keep, take or edit it")
	default:
		path := layout.Memory + "/" + c.Path
		if err = w.Replace(path, data); err == nil {
			paths = []string{path}
		}
	}
	if err != nil {
		return nil, fmt.Errorf("resolve conflict %s: %w", id, err)
	}
	return paths, w.DropConflict(c)
}

func resolveNote(w *store.Writer, c store.Conflict, choice Choice, data []byte) ([]string, error) {
	n, err := note.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("this version is no note, mend it and choose %s: %w", TakeEdited, err)
	}
	s := w.Store()
	now := note.At(s.Now())
	n.Scope, n.UpdatedAt, n.Edits = note.Portable, now, nil
	ref := store.Ref{}
	switch {
	case choice == KeepBoth && c.Why == store.WhyForgotten:
		return nil, fmt.Errorf("there is no other note to stand beside; choose %s or %s", KeepWinner, TakeLoser)
	case choice == KeepBoth:
		n.ID, n.ConflictOf, n.Supersedes = note.NewID(s.Now()), c.NoteID, nil
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
		n.Scope = store.ScopeOf(ref.Path)
	}
	var paths []string
	if c.Why == store.WhyForgotten {
		// The tombstone first: a note that stands below one would be erased again.
		if paths, err = tombstone.Revoke(w, n); err != nil {
			return nil, err
		}
	}
	written, err := putResolved(w, n, ref)
	if err != nil {
		return nil, err
	}
	return append(paths, written...), nil
}

// putResolved writes the note as which a conflict ends. Who decides is a person, and vouches for what they chose.
func putResolved(w *store.Writer, n *note.Note, ref store.Ref) ([]string, error) {
	if note.Claims(n) {
		if err := w.Vouch(n); err != nil {
			return nil, err
		}
	}
	if ref.Path != "" {
		if _, _, _, err := w.Store().Read(ref.Path); err != nil { // Put cannot rewrite what is no note
			return []string{ref.Path}, w.Overwrite(ref, n, store.Merged)
		}
	}
	got, _, err := w.Put(n, ref, store.Merged)
	if err != nil {
		return nil, err
	}
	if ref.Path != "" && ref.Path != got.Path {
		return []string{ref.Path, got.Path}, nil
	}
	return []string{got.Path}, nil
}

// knownSource returns a source that a new note may carry.
func knownSource(source string) string {
	if slices.Contains(note.Sources, source) {
		return source
	}
	return note.Merge
}
