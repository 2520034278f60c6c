package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"anamnesis/internal/store"
)

// forgottenFile says what was forgotten: by key of the session the numbers of its exchanges, none for
// all of them. It holds no word of what they said.
const forgottenFile = "sessions.json"

func (k *Kept) forgotten() (gone map[string][]int, err error) {
	gone = make(map[string][]int)
	data, err := k.store.ReadFile(forgottenFile, 64<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return gone, nil
	}
	var file struct {
		Forgotten map[string][]int `json:"forgotten"`
	}
	if err == nil {
		err = json.Unmarshal(data, &file)
	}
	if err != nil {
		return nil, fmt.Errorf("read what was forgotten of sessions in %s: %w; mend or remove the file", k.store.Path(forgottenFile), err)
	}
	if file.Forgotten != nil {
		gone = file.Forgotten
	}
	return gone, nil
}

// Forget erases exchanges for good: by session key their numbers, none for all of it. A later capture
// or import of the session does not bring them back.
func (k *Kept) Forget(ctx context.Context, what map[string][]int) error {
	err := k.locked(ctx, func() error {
		gone, err := k.forgotten()
		if err != nil {
			return err
		}
		for key, numbers := range what {
			had, any := gone[key]
			if any && len(had) == 0 {
				continue
			}
			if len(numbers) > 0 {
				numbers = slices.Compact(slices.Sorted(slices.Values(slices.Concat(had, numbers))))
			}
			gone[key] = append([]int{}, numbers...)
		}
		data, err := json.Marshal(map[string]any{"v": 1, "forgotten": gone})
		if err == nil {
			err = k.store.Replace(forgottenFile, append(data, '\n'))
		}
		if err != nil {
			return err
		}
		for key := range what {
			err = errors.Join(err, k.rewrite(key, gone[key]))
		}
		return err
	})
	return errors.Join(err, k.sync(ctx, true, nil))
}

// rewrite writes the file of a session without some exchanges, none for all of them.
func (k *Kept) rewrite(key string, without []int) error {
	h, all, err := k.Read(key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	all = slices.DeleteFunc(all, func(e Exchange) bool { return slices.Contains(without, e.N) })
	if err != nil || len(without) == 0 || len(all) == 0 {
		return store.RemoveSession(k.store, key+fileSuffix)
	}
	h.Title = ""
	data, err := encode(h, all)
	if err != nil {
		return err
	}
	return store.WriteSession(k.store, key+fileSuffix, data)
}
