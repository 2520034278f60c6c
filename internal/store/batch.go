package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"anamnesis/internal/note"
)

// A Batch is what a model made of some notes, kept from the moment it is known
// to be good until all of it is on the disk. A run that finds one finishes it
// and asks nobody: the same notes under the same ids, whatever a model would
// say the second time.
type Batch struct {
	V       int      `json:"v"`
	ID      string   `json:"id"` // 8 to 64 lower-case hexadecimal digits
	At      string   `json:"at"`
	Project string   `json:"project"`
	Model   string   `json:"model"`
	Sources []Source `json:"sources"`
	Notes   []string `json:"notes"` // the files that are to be written, with their ids
}

// A Source is a note as the model saw it.
type Source struct {
	ID   note.ID `json:"id"`
	Hash string  `json:"hash"` // of title and body
}

// maxBatch is the largest file of a batch, in bytes.
const maxBatch = 16 << 20

func batchPath(id string) (string, error) {
	if !regexp.MustCompile(`^[0-9a-f]{8,64}$`).MatchString(id) {
		return "", fmt.Errorf("%.80q is not the id of a batch", id)
	}
	return "spool/batches/" + id + ".json", nil
}

// SaveBatch keeps b. When it returns without an error, b is on the disk.
func (q *Spool) SaveBatch(b Batch) error {
	b.V = 1
	path, err := batchPath(b.ID)
	if err != nil {
		return fmt.Errorf("keep a batch: %w", err)
	}
	err = q.save(path, b, maxBatch, true)
	if err != nil {
		return fmt.Errorf("keep batch %s: %w", b.ID, explain(err))
	}
	return nil
}

// Batches lists the batches that are not finished, oldest first. Files that are
// none are set aside in spool/poisoned.
func (q *Spool) Batches() ([]Batch, error) {
	all, err := list(q, "spool/batches", maxBatch+1, func(id string, data []byte) (b Batch, err error) {
		path, err := batchPath(id)
		if err == nil {
			err = json.Unmarshal(data, &b)
		}
		if err == nil && (b.V != 1 || b.ID != id) {
			err = fmt.Errorf("%s is not a batch", path)
		}
		return b, err
	}, func(path string, _ error) { q.poison(path) })
	if err != nil {
		return nil, fmt.Errorf("read the batches: %w", err)
	}
	slices.SortFunc(all, func(a, b Batch) int { return strings.Compare(a.At+a.ID, b.At+b.ID) })
	return all, nil
}

// DropBatch removes a batch whose notes are on the disk.
func (q *Spool) DropBatch(id string) error {
	path, err := batchPath(id)
	if err == nil {
		err = q.s.disk.Remove(q.s.Path(path))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("drop batch %.80s: %w", id, err)
	}
	return nil
}
