package hooks

import (
	"context"
	"errors"
	"maps"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"anamnesis/internal/app"
	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// How often a process that stays looks for changed notes.
const (
	lookEvery   = 3 * time.Second // at files that were changed in place
	detachEvery = time.Minute     // for what does not fit a call
)

// NewRefresher keeps the index of a long-lived process in step.
func NewRefresher(r *app.Rooms) *Refresher { return &Refresher{rooms: r} }

// A Refresher keeps the index of a long-lived process in step with the files.
// Whoever replaces, adds or removes a note (every program of ours does it that
// way) changes the time of its folder, and that is looked at with every call.
// An editor that writes into the file is noticed by a walk in the background.
type Refresher struct {
	rooms *app.Rooms

	mu       sync.Mutex
	folders  map[string]time.Time
	walked   time.Time
	walking  bool
	stale    int
	detached time.Time
	filled   atomic.Bool // the index was filled once
}

// Refresh brings the index into step as far as a call can wait for it. It
// returns how many changed files are not in it yet, -1 when nobody counted.
func (f *Refresher) Refresh(ctx context.Context) (stale int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.times()
	switch {
	case !maps.EqualFunc(now, f.folders, time.Time.Equal):
		f.stale, err = f.walk(ctx)
		if err == nil {
			f.folders, f.walked = now, time.Now()
			f.left()
		}
	case !f.walking && time.Since(f.walked) > lookEvery:
		f.walking = true
		go f.look(context.WithoutCancel(ctx))
	}
	return f.stale, err
}

// look walks while nobody waits.
func (f *Refresher) look(ctx context.Context) {
	stale, err := f.walk(ctx)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.walking, f.walked = false, time.Now()
	if err == nil {
		f.stale = stale
		f.left()
	}
}

func (f *Refresher) walk(ctx context.Context) (stale int, err error) {
	budget := f.rooms.Config.Wait(app.WalkBudget)
	if !f.filled.Load() {
		if _, _, walked, err := f.rooms.Index.State(ctx); err == nil && walked.IsZero() {
			budget = 0 // a new index: an answer from nothing would be wrong
		}
	}
	rep, err := f.rooms.Index.Sync(ctx, index.SyncOptions{Budget: budget})
	if errors.Is(err, index.ErrBusy) {
		return -1, nil
	}
	if err == nil {
		f.filled.Store(true)
	}
	return rep.Stale, err
}

// left leaves what did not fit a call to a background run. The lock is held.
func (f *Refresher) left() {
	if f.stale != 0 && time.Since(f.detached) > detachEvery && !f.rooms.Store.ReadOnly() {
		f.detached = time.Now()
		_ = f.rooms.Detach("drain")
	}
}

// times returns when the folders of notes changed last.
func (f *Refresher) times() map[string]time.Time {
	times := make(map[string]time.Time)
	for _, scope := range []note.Scope{note.Portable, note.Local} {
		for _, t := range note.Types {
			name := store.FolderOf(scope, t)
			if fi, err := os.Stat(f.rooms.Store.Path(name)); err == nil {
				times[name] = fi.ModTime()
			}
		}
	}
	return times
}
