package store

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"anamnesis/internal/note"
)

// A Former is the form that a note had before something changed it.
type Former struct {
	ID note.ID
	Revision
}

// FormsBefore lists, for every note that changed from since until until, the
// form it had before the first of these changes. It is what takes back a
// command that changed many notes. until may be zero: until now. What changed in
// another memory, before the note came here, is no change of this store.
func (s *Store) FormsBefore(since, until time.Time) ([]Former, error) {
	entries, err := os.ReadDir(s.Path("history"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read history: %w", err)
	}
	since = since.Truncate(time.Millisecond) // names of revisions know no more
	var all []Former
	for _, e := range entries {
		id, err := note.ParseID(e.Name())
		if err != nil || !e.IsDir() {
			continue
		}
		revs, err := s.History(id)
		if err != nil {
			return nil, err
		}
		for _, r := range slices.Backward(revs) { // oldest first
			if r.Reason != Imported && !r.At.Before(since) && (until.IsZero() || !r.At.After(until)) {
				all = append(all, Former{id, r})
				break
			}
		}
	}
	slices.SortFunc(all, func(a, b Former) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID))
	})
	return all, nil
}
