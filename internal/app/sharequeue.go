package app

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/team/repo"
)

// queueFile lists the notes that a share left here because nobody is sure of them. It
// can be deleted: the next share writes it again.
const queueFile = "cache/team/queue.json"

type shareQueue struct {
	Notes []note.ID `json:"notes"`
}

// readShareQueue reads the list; one that cannot be read is empty.
func readShareQueue(r *Rooms) (q shareQueue) {
	data, err := r.Store.ReadFile(queueFile, 4<<20)
	if err != nil || json.Unmarshal(data, &q) != nil {
		return shareQueue{}
	}
	return q
}

// keepQueue brings the list up to date with what a share found.
func keepQueue(r *Rooms, items []repo.Item) error {
	old := readShareQueue(r).Notes
	all := slices.Clone(old)
	for _, it := range items {
		at := slices.Index(all, it.ID)
		unsure := it.State == repo.Queued && it.Confidence == "low"
		switch {
		case unsure && at < 0:
			all = append(all, it.ID)
		case !unsure && at >= 0:
			all = slices.Delete(all, at, at+1)
		}
	}
	slices.Sort(all)
	if slices.Equal(all, old) {
		return nil
	}
	data, err := json.Marshal(shareQueue{all})
	if err != nil {
		return err
	}
	return r.Store.Replace(queueFile, append(data, '\n'))
}

// forgetShared takes out of the caches of teams' repositories what they hold of notes that
// are forgotten.
func forgetShared(r *Rooms, ids []note.ID) {
	at := r.Store.Path("cache/team")
	folders, err := os.ReadDir(at)
	if errors.Is(err, fs.ErrNotExist) || len(ids) == 0 {
		return
	}
	for _, f := range folders {
		if f.IsDir() {
			err = errors.Join(err, repo.Forget(filepath.Join(at, f.Name()), ids))
		}
	}
	if err != nil {
		r.Notify("the copy of the team's repository still holds the text (%v); delete the folder %s", err, at)
	}
}

// Unshared returns the notes of the list that nobody has read since, without some.
func Unshared(ctx context.Context, r *Rooms, without []InboxItem) (notes []*note.Note, err error) {
	ids := readShareQueue(r).Notes
	if len(ids) == 0 {
		return nil, nil
	}
	rows, err := r.Index.Select(ctx, index.Filter{Only: ids, WithoutTag: note.ReviewedTag, Now: r.Store.Now()}, 0)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		if slices.ContainsFunc(without, func(it InboxItem) bool { return it.ID == row.ID }) {
			continue
		}
		if c := r.Index.Content(ctx, row); c.Err == nil {
			notes = append(notes, c.Note)
		}
	}
	return notes, nil
}
