package store

import (
	"errors"
	"fmt"
	"io/fs"

	"anamnesis/internal/note"
)

// Archive takes a note out of recall; Unarchive undoes it. reason may be empty.
// changed is false when the note is archived already. The caller holds the store lock.
func (s *Store) Archive(id note.ID, reason string) (ref Ref, changed bool, err error) {
	return s.setStatus(id, "archived", reason)
}

// Unarchive brings an archived note back. Notes with another status stay as they are.
func (s *Store) Unarchive(id note.ID) (ref Ref, changed bool, err error) {
	return s.setStatus(id, "", "")
}

func (s *Store) setStatus(id note.ID, status, reason string) (ref Ref, changed bool, err error) {
	if ref, err = s.Find(id); err != nil {
		return ref, false, err
	}
	n, _, ref, err := s.Read(ref.Path)
	if err != nil || n.Status == status || status == "" && n.Status != "archived" {
		return ref, false, err
	}
	n.Status, n.StatusReason, n.UpdatedAt = status, reason, note.At(s.now())
	return s.Put(n, ref, Archived)
}

// Forgotten says what forgetting a note erases, or has erased.
type Forgotten struct {
	ID        note.ID
	Title     string
	Notes     []string  // files of the note and of those that say exactly the same, relative to the root
	Others    []Other   // those of them with another title, or of another project
	Sidecars  int       // files of entities beside them
	History   int       // former forms of all of them
	Held      []note.ID // drafts that wait and say the same
	Conflicts []note.ID
	Tombstone string // relative to the root
}

// An Other is a note that says the same as one that is forgotten.
type Other struct{ Path, Title, Project string }

// PlanForget says what Forget would erase, and changes nothing.
func (s *Store) PlanForget(id note.ID) (Forgotten, error) {
	f, _, err := s.planForget(id)
	return f, err
}

// Forget erases a note and all that this machine keeps of it: the file, every
// note that says exactly the same, sidecars, history, held drafts, conflicts. A
// tombstone stays, which recognises the statement without holding it; it is on
// the disk before anything goes, so that Obey finishes what a crash interrupts.
// What git remembers is not erased. The index has to be told of f.Notes and
// f.Tombstone, also when there is an error: it may be about the last step alone,
// which removes what killed writes left. The caller holds the store lock.
func (s *Store) Forget(id note.ID) (f Forgotten, err error) {
	f, stone, err := s.planForget(id)
	if err != nil {
		return f, err
	}
	if err := s.Bury(scopeOf(f.Tombstone), stone); err != nil {
		return f, err
	}
	if _, err := s.erase(graveOf(stone, scopeOf(f.Tombstone)), nil); err != nil {
		return f, fmt.Errorf("forget note %s: %w", id, err)
	}
	done := s.obeyed()
	if done.Stones == nil {
		done.Stones = make(map[note.ID]string)
	}
	done.Stones[id] = stone.HMAC
	if err := s.writeObeyed(done); err != nil {
		return f, err
	}
	return f, s.eraseLeftovers()
}

func (s *Store) planForget(id note.ID) (f Forgotten, stone Tombstone, err error) {
	f.ID = id
	n, err := s.Remembered(id)
	if err != nil {
		return f, stone, fmt.Errorf("forget note %s: %w", id, err)
	}
	f.Title = n.Title
	stone = NewTombstone(id, n.Statement(), s.now())
	said := n.Saying()
	ids := map[note.ID]bool{id: true}
	scope := note.Local
	for ref := range s.Walk() {
		data, _, err := s.readRegular(ref.Path, MaxNoteSize)
		if err != nil {
			continue
		}
		found, v := judge([]Tombstone{stone}, ref.Path, data)
		if v == inPlace {
			continue
		}
		ids[found] = true
		f.Notes = append(f.Notes, ref.Path)
		if o, err := note.Parse(data); err == nil && (o.Title != n.Title || o.Project != n.Project) {
			f.Others = append(f.Others, Other{ref.Path, o.Title, o.Project})
		}
		if _, err := s.lstat(sidecarPath(ref.Path)); err == nil {
			f.Sidecars++
		}
		if ref.Scope == note.Portable {
			scope = note.Portable
		}
	}
	if len(f.Notes) == 0 {
		scope = n.Scope
	}
	f.Tombstone = tombstonePath(scope, id)
	if data, _, err := s.readRegular(f.Tombstone, maxRecord); err == nil {
		if old, ok := readTombstone(data); ok {
			stone.At = after(old.At, s.now())
		}
	}
	if stone.At, err = s.afterLifts(stone.At, &said); err != nil {
		return f, stone, err
	}
	for id := range ids {
		revs, err := s.History(id)
		if err != nil {
			return f, stone, err
		}
		f.History += len(revs)
	}
	for _, draft := range s.Held() {
		if _, v := graveOf(stone, scope).judgeDraft("", draft.Format()); v != inPlace || ids[draft.ID] {
			f.Held = append(f.Held, draft.ID)
		}
	}
	conflicts, err := s.Conflicts()
	for _, c := range conflicts {
		if ids[c.NoteID] && c.Why != WhyForgotten {
			f.Conflicts = append(f.Conflicts, c.ID)
		}
	}
	return f, stone, err
}

// Remembered returns a note, or the newest form in the history of one that is gone.
func (s *Store) Remembered(id note.ID) (*note.Note, error) {
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
	return s.form(id, revs[0])
}

// form reads a former form of a note.
func (s *Store) form(id note.ID, rev Revision) (*note.Note, error) {
	data, _, err := s.readRegular(rev.Path, MaxNoteSize)
	if err != nil {
		return nil, fmt.Errorf("read revision %s of note %s: %w", rev.Name, id, err)
	}
	n, err := note.Parse(data)
	if err == nil && n.ID != id {
		err = fmt.Errorf("it has the id %s", n.ID)
	}
	if err != nil {
		return nil, fmt.Errorf("read revision %s of note %s: %w", rev.Name, id, err)
	}
	return n, nil
}

// Restore gives a note the form it had before a change; revision is the name of
// one of History. The present form goes to the history. A note that was deleted
// comes back, one that was forgotten does not. The caller holds the store lock.
func (s *Store) Restore(id note.ID, revision string) (ref Ref, changed bool, err error) {
	if _, err := note.ParseID(string(id)); err != nil {
		return Ref{}, false, fmt.Errorf("restore note %s: %w", id, err)
	}
	revs, err := s.History(id)
	if err != nil {
		return Ref{}, false, fmt.Errorf("restore note %s: %w", id, err)
	}
	for _, rev := range revs {
		if rev.Name != revision {
			continue
		}
		data, _, err := s.readRegular(rev.Path, MaxNoteSize)
		if err != nil {
			return Ref{}, false, fmt.Errorf("restore note %s: read revision %s: %w", id, rev.Name, err)
		}
		return s.Reinstate(id, data)
	}
	return Ref{}, false, fmt.Errorf("restore note %s: there is no revision %q; history lists %d", id, revision, len(revs))
}

// Reinstate gives a note the form that stands in data, as Restore does with one
// of its history. A file in its place that is no note goes to the history too.
func (s *Store) Reinstate(id note.ID, data []byte) (ref Ref, changed bool, err error) {
	fail := func(err error) (Ref, bool, error) {
		return Ref{}, false, fmt.Errorf("restore note %s: %w", id, err)
	}
	n, err := note.Parse(data)
	if err == nil && n.ID != id {
		err = fmt.Errorf("this form has the id %s", n.ID)
	}
	if err != nil {
		return fail(err)
	}
	if ref, err = s.Find(id); err == nil {
		n.Scope = ref.Scope
	} else if !errors.Is(err, fs.ErrNotExist) {
		return fail(err)
	}
	stones, err := s.TombstonesFor(n.Scope)
	if err != nil {
		return fail(err)
	}
	if forgot(stones, n) {
		return fail(ErrForgotten)
	}
	n.UpdatedAt, n.Edits = note.At(s.now()), nil
	if err := n.Validate(); err != nil {
		return fail(err)
	}
	if ref.Path != "" {
		if _, _, _, err := s.Read(ref.Path); err != nil { // Put cannot rewrite what is no note
			if err := s.overwrite(ref, n, Restored); err != nil {
				return fail(err)
			}
			ref, err = s.Stat(ref.Path)
			return ref, err == nil, err
		}
	}
	return s.Put(n, ref, Restored)
}

// ErrForgotten says that a note was forgotten and does not come back this way.
var ErrForgotten = errors.New("it was forgotten; what was forgotten does not come back this way")
