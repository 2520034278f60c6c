package tombstone

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// Grace is how long a forgotten note can be brought back before it is erased.
const Grace = 10 * time.Minute

// marksFile lists the notes that are forgotten and not erased yet. Only this machine reads it.
const marksFile = "forgetting.json"

// A Mark says that a note is forgotten and will be erased. Its file stays where it is until then; the index leaves it out, and it
// does not travel.
type Mark struct {
	ID    note.ID    `json:"id"`
	Scope note.Scope `json:"scope"` // of the tombstone that will name it
	At    time.Time  `json:"at"`
	Until time.Time  `json:"until"` // it can be brought back before
	Paths []string   `json:"paths"` // of the note and of those that say exactly the same, relative to the root
	Stone Tombstone  `json:"stone"`
}

// Over reports whether the time to bring the note back is over. A clock that was set back ends it too.
func (m *Mark) Over(now time.Time) bool { return !now.Before(m.Until) || now.Before(m.At.Add(-Grace)) }

// Clock is the time of day, here, at which the note is erased.
func (m *Mark) Clock() string { return m.Until.Local().Format("15:04") }

// Marks reads the marks of a store, the oldest first.
func Marks(s *store.Store) (all []Mark, err error) {
	data, err := s.ReadFile(marksFile, 64<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	if err != nil {
		return nil, fmt.Errorf("read what is forgotten and not erased yet in %s: %w", s.Path(marksFile), err)
	}
	return all, nil
}

// Forgetting tells, for one reading of the marks, which ids are forgotten and not erased yet.
func Forgetting(s *store.Store) (func(note.ID) bool, error) {
	all, err := Marks(s)
	if len(all) == 0 {
		return func(note.ID) bool { return false }, err
	}
	return func(id note.ID) bool { return slices.ContainsFunc(all, func(m Mark) bool { return m.ID == id }) }, nil
}

// AddMark marks a note as forgotten. A second mark of an id takes the place of the first one.
func AddMark(w *store.Writer, m Mark) error {
	all, err := Marks(w.Store())
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(old Mark) bool { return old.ID == m.ID })
	return writeMarks(w, append(all, m))
}

// DropMarks removes the marks of some notes, and returns them.
func DropMarks(w *store.Writer, ids ...note.ID) (dropped []Mark, err error) {
	all, err := Marks(w.Store())
	if err != nil {
		return nil, err
	}
	left := slices.DeleteFunc(slices.Clone(all), func(m Mark) bool {
		if slices.Contains(ids, m.ID) {
			dropped = append(dropped, m)
			return true
		}
		return false
	})
	if len(dropped) == 0 {
		return nil, nil
	}
	return dropped, writeMarks(w, left)
}

func writeMarks(w *store.Writer, all []Mark) error {
	if len(all) == 0 {
		return store.Erase(w, marksFile)
	}
	data, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return w.Store().Replace(marksFile, append(data, '\n'))
}

// setOfMarks holds the tombstones of marks.
func setOfMarks(all []Mark) Set {
	var portable, local []Tombstone
	for i := range all {
		if all[i].Scope == note.Local {
			local = append(local, all[i].Stone)
		} else {
			portable = append(portable, all[i].Stone)
		}
	}
	return NewSet(portable, local)
}

// PlanMark returns the mark of a note, and what forgetting it would erase, as far as candidates, the files that may say the same,
// tell. It reads no other note.
func PlanMark(s *store.Store, id note.ID, candidates []store.Ref) (Mark, Forgotten, error) {
	all, err := plan(s, []note.ID{id}, readFiles(s, candidates))
	if err != nil {
		return Mark{}, Forgotten{ID: id}, err
	}
	f, now := all[0].Forgotten, s.Now()
	return Mark{
		ID: id, Scope: store.ScopeOf(f.Tombstone), At: now, Until: now.Add(Grace), Paths: f.Notes, Stone: all[0].stone,
	}, f, nil
}
