package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/index/flat"
	"anamnesis/internal/store/layout"
)

// racy is how old a catalogue must be to be trusted by its size and time alone.
const racy = 100 * time.Millisecond

// opened returns the catalogue in memory, brought into step with the file. The caller holds mu.
func (k *Kept) opened() error {
	x := &k.index
	fi, err := os.Stat(k.store.Path(catalogueName))
	if errors.Is(err, fs.ErrNotExist) {
		x.close()
		return nil
	}
	if err != nil {
		return err
	}
	stamp := fileStamp{fi.Size(), fi.ModTime()}
	if x.shards != nil && x.stamp == stamp && time.Since(stamp.mod) > racy {
		return nil
	}
	x.close()
	c, good := k.load()
	if !good {
		return errRebuild
	}
	x.sessions, x.byRow, x.shards = c.Sessions, make(map[int]map[int64]*Session), make(map[int]*flat.Postings)
	for i := range x.sessions {
		s := &x.sessions[i]
		if x.byRow[s.Shard] == nil {
			x.byRow[s.Shard] = make(map[int64]*Session)
		}
		x.byRow[s.Shard][s.Number] = s
	}
	for _, n := range c.Shards {
		if x.shards[n], err = flat.OpenPostings(k.store.Path(shardName(n))); err != nil {
			delete(x.shards, n)
			x.close()
			return err
		}
	}
	x.stamp = stamp
	return nil
}

func (x *catalogue) close() {
	for _, p := range x.shards {
		_ = p.Close()
	}
	x.sessions, x.byRow, x.shards = nil, nil, nil
}

// Close releases the index.
func (k *Kept) Close() {
	k.index.mu.Lock()
	defer k.index.mu.Unlock()
	k.index.close()
}

// use calls f with the index in memory. A damaged or missing one is built again first, if what is kept
// changed since it was built it is brought into step.
func (k *Kept) use(ctx context.Context, f func(x *catalogue) error) error {
	k.index.mu.Lock()
	defer k.index.mu.Unlock()
	if k.hide != nil {
		k.index.hidden = k.hide()
	}
	err := k.opened()
	if err == nil && (k.index.shards != nil || k.folderTime() == 0) {
		err = f(&k.index)
	} else if err == nil {
		err = errRebuild
	}
	if !errors.Is(err, flat.ErrUnusable) && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errRebuild) || k.store.ReadOnly() {
		return err
	}
	k.index.close()
	if err := k.locked(ctx, func() error { return k.rebuild(ctx, err) }); err != nil {
		return err
	}
	if err := k.opened(); err != nil {
		return err
	}
	return f(&k.index)
}

// rebuild builds an index again that could not be used because of cause. The caller has the lock:
// another process may be in the middle of building it, or just has, and its files stay.
func (k *Kept) rebuild(ctx context.Context, cause error) error {
	err := k.opened()
	k.index.close()
	if errors.Is(cause, flat.ErrUnusable) || errors.Is(err, flat.ErrUnusable) || errors.Is(err, errRebuild) {
		if err := os.RemoveAll(k.store.Path(layout.SessionIndex)); err != nil {
			return fmt.Errorf("remove the damaged index of sessions: %w", err)
		}
	}
	return k.syncLocked(ctx, false, nil)
}

// Sessions returns what is kept, in no order.
func (k *Kept) Sessions(ctx context.Context) (all []Session, err error) {
	err = k.use(ctx, func(x *catalogue) error {
		all = slices.DeleteFunc(slices.Clone(x.sessions), func(s Session) bool { return x.hidden != nil && x.hidden(&s.Head) })
		return nil
	})
	placeUndated(all)
	return all, err
}

// placeUndated puts sessions without a valid time before those that were kept after them.
func placeUndated(all []Session) {
	for i := range all {
		if !all[i].Undated {
			continue
		}
		for j := range all {
			if b := &all[j]; !b.Undated && b.Mod > all[i].Mod && b.Ended.Before(all[i].Ended) {
				all[i].Ended = b.Ended.Add(-time.Second)
			}
		}
	}
}

// Find returns the session whose key, or whose client's id, begins with a name; an error that is
// fs.ErrNotExist when there is none.
func (k *Kept) Find(ctx context.Context, name string) (found Session, err error) {
	all, err := k.Sessions(ctx)
	if err != nil {
		return found, err
	}
	n := 0
	for i := range all {
		switch s := &all[i]; {
		case s.Key == name || s.Session == name:
			return *s, nil
		case len(name) >= 4 && (strings.HasPrefix(s.Key, name) || strings.HasPrefix(s.Session, name)):
			found = *s
			n++
		}
	}
	switch n {
	case 0:
		return found, &choiceError{fmt.Sprintf("no session %s is kept", name), fs.ErrNotExist}
	case 1:
		return found, nil
	}
	return found, &choiceError{fmt.Sprintf("%d sessions begin with %s; give more of its id", n, name), fs.ErrExist}
}

// A choiceError says why a name means no session, without the words of the operating system for its kind.
type choiceError struct {
	text string
	kind error // fs.ErrNotExist or fs.ErrExist
}

func (e *choiceError) Error() string { return e.text }

func (e *choiceError) Unwrap() error { return e.kind }
