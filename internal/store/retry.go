package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"anamnesis/internal/note"
)

// A Retry is the note of a session whose summary a model should have written and
// could not: it is to be asked again. It is a file of this machine, as a Job is,
// and can be deleted at any moment: the note then stays as it is.
type Retry struct {
	V     int     `json:"v"`
	ID    note.ID `json:"id"`    // of the note
	Tries int     `json:"tries"` // made since the first
	Due   string  `json:"due"`   // RFC 3339; not before
	Hash  string  `json:"hash"`  // of what stands in the note (its import_hash)
	Job   Job     `json:"job"`   // which session it is
}

// maxRetries is how many notes may wait at once. In an outage of weeks the
// later ones keep the summary they have.
const maxRetries = 200

const retryFolder = "spool/retry"

func retryPath(id note.ID) string { return retryFolder + "/" + string(id) + ".json" }

// When returns the time from which the retry may be made.
func (r Retry) When() time.Time {
	t, _ := time.Parse(time.RFC3339, r.Due)
	return t
}

// SaveRetry writes down that a note waits, in the place of what was known of it.
// When too many wait already, a new one is passed over without an error. It does
// not wait for the disk.
func (q *Spool) SaveRetry(r Retry) error {
	r.V = 1
	if _, err := note.ParseID(string(r.ID)); err != nil {
		return fmt.Errorf("save a retry: %w", err)
	}
	if _, err := q.s.lstat(retryPath(r.ID)); errors.Is(err, fs.ErrNotExist) {
		if entries, _ := os.ReadDir(q.s.Path(retryFolder)); len(entries) >= maxRetries {
			return nil
		}
	}
	if err := q.save(retryPath(r.ID), r, maxJob, false); err != nil {
		return fmt.Errorf("save the retry of note %s: %w", r.ID, err)
	}
	return nil
}

// Retries lists the notes that wait, the first due first. A file that holds no
// retry is left out and removed.
func (q *Spool) Retries() ([]Retry, error) {
	all, err := list(q, retryFolder, maxJob, func(stem string, data []byte) (r Retry, err error) {
		if err = json.Unmarshal(data, &r); err == nil {
			_, err = note.ParseID(stem)
		}
		if err == nil && (r.V != 1 || string(r.ID) != stem || r.Tries < 0 || r.When().IsZero()) {
			err = fmt.Errorf("%s is no retry", stem)
		}
		return r, err
	}, func(path string, err error) {
		if unreadable := new(fs.PathError); !errors.As(err, &unreadable) {
			_ = q.s.disk.Remove(q.s.Path(path))
		}
	})
	if err != nil {
		return nil, fmt.Errorf("read the retries: %w", err)
	}
	slices.SortFunc(all, func(a, b Retry) int { return a.When().Compare(b.When()) })
	return all, nil
}

// DropRetry forgets that a note waits. One that does not is no error.
func (q *Spool) DropRetry(id note.ID) error {
	if _, err := note.ParseID(string(id)); err != nil {
		return nil //nolint:nilerr // nothing waits under such an id
	}
	return q.s.remove(retryPath(id))
}
