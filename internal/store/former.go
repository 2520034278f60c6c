package store

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"anamnesis/internal/note"

	"github.com/oklog/ulid/v2"
)

// maxImported is how many former forms an import may add to one note.
const maxImported = 50

// A Recollection is a form that a note had in another memory, before it came here.
type Recollection struct {
	At   time.Time  // when another form took its place there
	Key  string     // what tells it from other forms of that time, always the same, such as a hash
	Form *note.Note // with the id that the note has here
}

// Recollect adds forms from another memory to the history of a note that stands
// here, each under its own time, where they are listed and can be restored. It
// returns how many are new; a second call with the same changes nothing. Of more
// than fifty the newest are taken. A form that was forgotten is passed over;
// one that is no valid form of that note is an error, and then nothing is
// written. The caller holds the store lock.
func (s *Store) Recollect(id note.ID, all []Recollection) (added int, err error) {
	fail := func(err error) (int, error) {
		return added, fmt.Errorf("add former forms to note %s: %w", id, err)
	}
	if stubbed("S6") || len(all) == 0 {
		return 0, nil
	}
	ref, err := s.Find(id)
	if err != nil {
		return fail(err)
	}
	stones, err := s.TombstonesFor(ref.Scope)
	if err != nil {
		return fail(err)
	}
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b Recollection) int { return a.At.Compare(b.At) })
	files := make(map[string][]byte)
	var names []string
	for _, r := range all[max(0, len(all)-maxImported):] {
		switch {
		case r.Form.ID != id:
			return fail(fmt.Errorf("one has the id %s", r.Form.ID))
		case r.At.After(s.now()) || r.At.Year() < 1970:
			return fail(fmt.Errorf("one is of %s", r.At.Format(time.RFC3339)))
		}
		if err := r.Form.Validate(); err != nil {
			return fail(err)
		}
		data := r.Form.Format()
		if int64(len(data)) > MaxNoteSize {
			return fail(ErrTooLarge)
		}
		if _, v := judge(stones, "", data); v != inPlace {
			continue
		}
		name := recollectionPath(id, r)
		if _, twice := files[name]; !twice {
			files[name] = data
			names = append(names, name)
		}
	}
	if err := s.folders(historyDir(id) + "/"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fail(err)
	}
	room := maxImported - s.imported(id)
	for _, name := range slices.Backward(names) { // the newest first, where not all have room
		if _, err := s.lstat(name); !errors.Is(err, fs.ErrNotExist) || added >= room {
			continue
		}
		if err := s.replace(name, files[name], true); err != nil {
			return fail(err)
		}
		added++
	}
	return added, nil
}

// recollectionPath names a former form by its time and its key, so that it is
// found again whatever a later version makes of it.
func recollectionPath(id note.ID, r Recollection) string {
	var u ulid.ULID
	_ = u.SetTime(uint64(r.At.UnixMilli())) // between 1970 and now, which fits
	sum := sha256.Sum256([]byte(string(id) + "\x00" + r.Key))
	_ = u.SetEntropy(sum[:10])
	return historyDir(id) + "/" + u.String() + "-" + Imported + ".md"
}

// imported counts the forms of a note that came from another memory.
func (s *Store) imported(id note.ID) int {
	revs, err := s.History(id)
	if err != nil && !os.IsNotExist(err) {
		return maxImported
	}
	n := 0
	for _, r := range revs {
		if r.Reason == Imported {
			n++
		}
	}
	return n
}
