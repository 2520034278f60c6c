package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"anamnesis/internal/store"
	"anamnesis/internal/store/layout"
	"anamnesis/internal/text"
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

// Forget erases exchanges for good: by session key their numbers, none for all of it, TitleNumber for
// its title alone. The title goes with any of them. A later capture or import of the session does not
// bring them back.
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

// TitleNumber stands for the title of a session among the numbers of its exchanges.
const TitleNumber = 0

// Purge erases all that this room ever wrote: what is kept, its index, and what was forgotten. It
// returns what was kept.
func (k *Kept) Purge(ctx context.Context) (u Usage, err error) {
	k.Close()
	err = k.locked(ctx, func() error {
		if u, err = k.Usage(); err != nil {
			return fmt.Errorf("count what is kept of sessions: %w", err)
		}
		return store.RemoveSessions(k.store, layout.SessionIndex, forgottenFile)
	})
	return u, err
}

// Holds reports whether an exchange holds a text, whatever its case and its white space.
func (e *Exchange) Holds(what string) bool {
	what = text.Folded(what)
	if what == "" {
		return false
	}
	parts := []string{e.Ask, e.Pasted, e.Reply}
	for i := range e.Steps {
		s := &e.Steps[i]
		parts = append(parts, s.Said, s.Run, s.File, s.Out, strings.Join(s.Commits, " "))
	}
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(text.Folded(part), what) })
}

// Holds reports whether what is known of a session as a whole holds a text.
func (h *Head) Holds(what string) bool {
	what = text.Folded(what)
	return what != "" && strings.Contains(text.Folded(h.Title), what)
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
