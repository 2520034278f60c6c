package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// A ConflictView is a conflict and where its two versions stand.
type ConflictView struct {
	store.Conflict
	Title string `json:"title"`
	Kept  string `json:"kept_path,omitempty"` // the file that stands in its place
	Other string `json:"other_path"`          // the one that waits
}

func viewConflict(s *store.Store, c store.Conflict) ConflictView {
	v := ConflictView{Conflict: c, Other: s.Path("conflicts/" + string(c.ID) + ".md")}
	if ref, err := conflictPlace(s, c); err == nil {
		v.Kept = s.Path(ref)
	}
	if loser, err := s.Conflicts().Loser(c); err == nil {
		if n, err := note.Parse(loser); err == nil {
			v.Title = n.Title
		}
	}
	return v
}

// Sentence says what happened.
func (v *ConflictView) Sentence() string {
	switch v.Why {
	case store.WhyForgotten:
		return fmt.Sprintf("memory/%s was forgotten on one machine and changed on another", v.Path)
	case store.WhyUnreadable:
		return fmt.Sprintf("one of the two versions of memory/%s is not a note", v.Path)
	case store.WhyBody:
		return fmt.Sprintf("the same lines of memory/%s were changed on two machines", v.Path)
	}
	what := "the same lines"
	if len(v.Fields) > 0 {
		what = strings.Join(v.Fields, ", ")
	}
	return fmt.Sprintf("%s of memory/%s was changed on two machines", what, v.Path)
}

// conflictPlace returns the file, relative to the root, that stands in the place
// for which two versions compete.
func conflictPlace(s *store.Store, c store.Conflict) (string, error) {
	path := "memory/" + c.Path
	_, err := s.Stat(path)
	if errors.Is(err, fs.ErrNotExist) && c.NoteID != "" && strings.HasSuffix(path, ".md") {
		ref, ferr := s.Find(c.NoteID)
		return ref.Path, ferr
	}
	return path, err
}

// ConflictsAnswer lists the conflicts, oldest first.
type ConflictsAnswer struct {
	Conflicts []ConflictView `json:"conflicts"`
}

// Conflicts lists what a merge could not decide.
func Conflicts(s *store.Store) (a ConflictsAnswer, err error) {
	found, err := s.Conflicts().List()
	for _, c := range found {
		a.Conflicts = append(a.Conflicts, viewConflict(s, c))
	}
	return a, err
}

// findConflict finds the conflict that an id, or the beginning or end of one, names.
func findConflict(s *store.Store, name string) (store.Conflict, error) {
	id, err := note.ParseID(strings.TrimSpace(name))
	if err != nil {
		return store.Conflict{}, Usagef("%w", err)
	}
	all, err := s.Conflicts().List()
	if err != nil {
		return store.Conflict{}, err
	}
	var found []store.Conflict
	want := strings.ToLower(string(id))
	for _, c := range all {
		have, about := strings.ToLower(string(c.ID)), strings.ToLower(string(c.NoteID))
		if have == want {
			return c, nil
		}
		part := strings.HasPrefix(have, want) || strings.HasSuffix(have, want) || strings.HasSuffix(about, want)
		if about == want || len(want) >= MinPrefix && part {
			found = append(found, c)
		}
	}
	switch len(found) {
	case 0:
		return store.Conflict{}, Errorf(NotFound, "there is no conflict %s; `anamnesis review conflicts` lists them", name)
	case 1:
		return found[0], nil
	}
	return store.Conflict{}, Usagef("%s names %s; `anamnesis review conflicts` lists their ids", name, Plural(len(found), "conflict"))
}

// ConflictAnswer is a conflict with both versions.
type ConflictAnswer struct {
	ConflictView
	Kept  *string `json:"kept"` // null when there is no version in its place
	Other string  `json:"other"`
	Diff  string  `json:"diff"`

	kept []byte
}

// ShowConflict returns the conflict that name names, with both versions.
func ShowConflict(s *store.Store, name string) (a ConflictAnswer, err error) {
	c, err := findConflict(s, name)
	if err != nil {
		return a, err
	}
	kept, other, err := versions(s, c)
	if err != nil {
		return a, err
	}
	a = ConflictAnswer{ConflictView: viewConflict(s, c), Other: string(other), Diff: note.Unified("kept", "other", string(kept),
		string(other)), kept: kept}
	if kept != nil {
		text := string(kept)
		a.Kept = &text
	}
	return a, nil
}

// versions returns both versions of a conflict; kept is nil when there is none.
func versions(s *store.Store, c store.Conflict) (kept, other []byte, err error) {
	if other, err = s.Conflicts().Loser(c); err != nil {
		return nil, nil, err
	}
	place, err := conflictPlace(s, c)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, other, nil
	}
	if err == nil {
		kept, err = os.ReadFile(s.Path(place))
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read the version of %s that stands in its place: %w", c.Path, err)
	}
	return kept, other, nil
}

// EditText is the text to edit for a conflict: both versions, with marks where
// they differ.
func (a *ConflictAnswer) EditText() string {
	if a.Kept == nil {
		return a.Other
	}
	return note.Marked(*a.Kept, a.Other)
}

// CheckEdited returns what is wrong with an edited version: marks that are left,
// a text that is no note, another id, or a note that changed since.
func (a *ConflictAnswer) CheckEdited(s *store.Store, data []byte) error {
	if l := note.Unresolved(string(data)); l != "" {
		return fmt.Errorf("the line %q is still in it", l)
	}
	if strings.HasSuffix(a.Path, ".md") {
		n, err := note.Parse(data)
		if err == nil && n.ID != a.NoteID {
			err = fmt.Errorf("it has the id %s and not %s; an id never changes", n.ID, a.NoteID)
		}
		if err == nil {
			err = n.Validate()
		}
		if err != nil {
			return err
		}
	}
	if now, _, err := versions(s, a.Conflict); err != nil || !bytes.Equal(now, a.kept) {
		return errors.New("the note changed in the meantime")
	}
	return nil
}

// ResolvedAnswer says how a conflict ended.
type ResolvedAnswer struct {
	Resolved store.Conflict `json:"resolved"`
	Choice   ingest.Choice  `json:"choice"`
	Changed  []string       `json:"changed"`
	Left     int            `json:"left"`
}

// ResolveConflict ends a conflict. edited is the text of the choice TakeEdited.
func ResolveConflict(ctx context.Context, r *Rooms, name string, choice ingest.Choice, edited []byte) (a ResolvedAnswer, err error) {
	c, err := findConflict(r.Store, name)
	if err != nil {
		return a, err
	}
	paths, err := r.Ingester.ResolveConflict(ctx, c.ID, choice, edited)
	if err = StaleIndex(r, err); err != nil {
		return a, err
	}
	return ResolvedAnswer{c, choice, paths, r.Store.Conflicts().Count()}, nil
}
