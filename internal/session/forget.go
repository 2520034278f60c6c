package session

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"

	"anamnesis/internal/store"
	"anamnesis/internal/store/layout"
	"anamnesis/internal/text"
)

// forgottenFile says what was forgotten. It holds no word of what was said.
const forgottenFile = "sessions.json"

// Forgotten is what forgottenFile holds.
type forgotten struct {
	V int `json:"v"`

	// Numbers are those of exchanges by the key of their session, none for all of it, also what will be said in it. A
	// program without marks reads them alone.
	Numbers map[string][]int `json:"forgotten"`

	Salt  string                       `json:"salt,omitempty"`  // of the marks, hex
	Said  []string                     `json:"said,omitempty"`  // marks of exchanges, in whatever session they are copied to
	Began map[string]map[string]string `json:"began,omitempty"` // marks of when they began, by session and number
}

func (k *Kept) forgotten() (*forgotten, error) {
	f := &forgotten{V: 1, Numbers: make(map[string][]int), Began: make(map[string]map[string]string)}
	data, err := k.store.ReadFile(forgottenFile, 64<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err == nil {
		err = json.Unmarshal(data, f)
	}
	if err != nil {
		return nil, fmt.Errorf("read what was forgotten of sessions in %s: %w; mend or remove the file", k.store.Path(forgottenFile), err)
	}
	if f.V = 1; f.Numbers == nil {
		f.Numbers = make(map[string][]int)
	}
	if f.Began == nil {
		f.Began = make(map[string]map[string]string)
	}
	return f, nil
}

// write writes the file. The caller has the lock.
func (f *forgotten) write(s *store.Store) error {
	data, err := json.Marshal(f)
	if err != nil {
		return err
	}
	return s.Replace(forgottenFile, append(data, '\n'))
}

// whole reports whether all of a session was forgotten.
func (f *forgotten) whole(key string) bool {
	numbers, any := f.Numbers[key]
	return any && len(numbers) == 0
}

// add notes that an exchange of a session was forgotten.
func (f *forgotten) add(key string, e *Exchange) {
	if f.Salt == "" {
		var b [16]byte
		_, _ = rand.Read(b[:]) // never fails
		f.Salt = hex.EncodeToString(b[:])
	}
	said, began := f.mark(e)
	if !slices.Contains(f.Said, said) {
		f.Said = append(f.Said, said)
	}
	if f.Began[key] == nil {
		f.Began[key] = make(map[string]string)
	}
	f.Began[key][strconv.Itoa(e.N)] = began
}

// mark recognises an exchange. said does in whatever session it is copied to; began does in its session by the time
// alone, "" where that is not known: a later reading may mask more of the words.
func (f *forgotten) mark(e *Exchange) (said, began string) {
	salt, _ := hex.DecodeString(f.Salt)
	sum := func(parts ...string) string {
		mac := hmac.New(sha256.New, salt)
		mac.Write([]byte(strings.Join(parts, "\x00")))
		return hex.EncodeToString(mac.Sum(nil)[:12])
	}
	at, words := "", text.Folded(e.Ask)
	if !e.At.IsZero() {
		at = strconv.FormatInt(e.At.UnixMilli(), 10)
		began = sum("began", at, e.Subagent)
	}
	if at == "" || words == "" { // neither alone tells it from others
		words += "\x00" + text.Folded(e.Reply)
		for i := range e.Steps {
			words += "\x00" + e.Steps[i].Run + "\x00" + e.Steps[i].File
		}
	}
	return sum("said", at, words), began
}

// divide divides a reading of a session into what may be kept of it and what was forgotten.
func (f *forgotten) divide(key string, all []Exchange) (left, lost []Exchange) {
	if len(f.Numbers) == 0 {
		return all, nil
	}
	starts := startsOf(all)
	for i := range all {
		e := &all[i]
		if f.knows(key, e, starts[e.At.UnixMilli()] == 1) {
			lost = append(lost, *e)
		} else {
			left = append(left, *e)
		}
	}
	return left, lost
}

// knows reports whether an exchange was forgotten. alone says that no other one of its reading began when it did.
func (f *forgotten) knows(key string, e *Exchange, alone bool) bool {
	said, began := f.mark(e)
	marks := f.Began[key]
	if f.whole(key) || slices.Contains(f.Said, said) || began != "" && alone && slices.Contains(slices.Collect(maps.Values(marks)), began) {
		return true
	}
	_, marked := marks[strconv.Itoa(e.N)]
	return !marked && slices.Contains(f.Numbers[key], e.N) // by a program that wrote no marks
}

// Forget erases exchanges for good: by session key their numbers, none for all of it, TitleNumber for
// its title alone. The title goes with any of them. A later capture or import of the session does not
// bring them back, nor does one of a copy under another id (a fork, a resumed session).
func (k *Kept) Forget(ctx context.Context, what map[string][]int) error {
	err := k.locked(ctx, func() error {
		f, err := k.forgotten()
		if err != nil {
			return err
		}
		for key, numbers := range what {
			if f.whole(key) {
				continue
			}
			_, all, err := k.Read(key)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			for i := range all {
				if len(numbers) == 0 || slices.Contains(numbers, all[i].N) {
					f.add(key, &all[i])
				}
			}
			if len(numbers) > 0 {
				numbers = slices.Compact(slices.Sorted(slices.Values(slices.Concat(f.Numbers[key], numbers))))
			}
			f.Numbers[key] = append([]int{}, numbers...)
		}
		if err := f.write(k.store); err != nil {
			return err
		}
		for key := range what {
			err = errors.Join(err, k.rewrite(key, f.Numbers[key]))
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
