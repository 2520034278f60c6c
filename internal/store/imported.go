package store

import (
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"slices"
	"time"

	"anamnesis/internal/note"
	"anamnesis/internal/store/layout"

	"github.com/oklog/ulid/v2"
)

// MaxImported is how many former forms an import may add to one note.
const MaxImported = 50

// An ImportedForm is a form that a note had in another memory, before it came here.
type ImportedForm struct {
	At   time.Time // when another form took its place there; between 1970 and now
	Key  string    // what tells it from other forms of that time, always the same, such as a hash
	Data []byte
}

// ImportForms adds forms to the history of a note, each under its own time. The
// newest come first where not all have room (MaxImported), and one that is there
// stays as it is. It returns how many are new.
func (w *Writer) ImportForms(id note.ID, forms []ImportedForm) (added int, err error) {
	s := w.s
	if err := s.folders(layout.HistoryOf(id) + "/"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	room := MaxImported - s.imported(id)
	for _, f := range slices.Backward(forms) {
		name := importedPath(id, f)
		if _, err := s.lstat(name); !errors.Is(err, fs.ErrNotExist) || added >= room {
			continue
		}
		if err := s.replace(name, f.Data, true); err != nil {
			return added, err
		}
		added++
	}
	return added, nil
}

// importedPath names a former form by its time and its key, so that it is found
// again whatever a later version makes of it.
func importedPath(id note.ID, f ImportedForm) string {
	var u ulid.ULID
	_ = u.SetTime(uint64(f.At.UnixMilli())) // between 1970 and now, which fits
	sum := sha256.Sum256([]byte(string(id) + "\x00" + f.Key))
	_ = u.SetEntropy(sum[:10])
	return layout.HistoryOf(id) + "/" + u.String() + "-" + Imported + layout.NoteSuffix
}

// imported counts the forms of a note that came from another memory.
func (s *Store) imported(id note.ID) int {
	revs, err := s.History(id)
	if err != nil && !os.IsNotExist(err) {
		return MaxImported
	}
	n := 0
	for _, r := range revs {
		if r.Reason == Imported {
			n++
		}
	}
	return n
}
