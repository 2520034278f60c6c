package eval

import (
	"errors"
	"io/fs"
	"slices"

	"anamnesis/internal/note"
)

// Redirect makes the cases of a file expect the notes that stand for others: into says
// which. It returns how many cases it changed; a missing file has none.
func Redirect(file string, into map[note.ID]note.ID) (changed int, err error) {
	if len(into) == 0 {
		return 0, nil
	}
	err = changeCases(file, false, func(f *caseFile) error {
		changed = 0
		for i := range f.lines {
			line := &f.lines[i]
			if line.c == nil {
				continue
			}
			var ids []note.ID
			for _, id := range line.c.RelevantIDs {
				if to, ok := into[id]; ok {
					id = to
				}
				if !slices.Contains(ids, id) {
					ids = append(ids, id)
				}
			}
			if !slices.Equal(ids, line.c.RelevantIDs) {
				line.c.RelevantIDs, line.changed = ids, true
				changed++
			}
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	return changed, err
}
