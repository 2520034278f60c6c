package app

import (
	"context"
	"os"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// walkedAtOnce is the number of notes up to which a command looks for changed files before it answers. The walk takes about 2 ms for
// every thousand (docs/performance.md).
const walkedAtOnce = 2000

// How often a command on more notes starts a run in the background that looks at all of them.
const (
	lookEvery   = time.Minute      // when a folder changed since the last walk
	noticeEvery = 10 * time.Minute // when none did: an editor may save a file in place
)

// lookedFile has the time of the last such run as its modification time.
const lookedFile = "cache/looked"

// answerFirst leaves the walk to a run in the background, which it starts when one is due.
func answerFirst(r *Rooms, walked time.Time) {
	every := noticeEvery
	if r.Stale = 0; !Unchanged(r, walked) {
		r.Stale, every = -1, lookEvery
	}
	if !r.Drains && Due(r, lookedFile, every) {
		_ = r.Detach("drain")
	}
}

// Due reports whether something was last due longer ago than every, by the time of a file below the root, and gives the file
// the present time then. Nothing is due in a store that cannot be written.
func Due(r *Rooms, file string, every time.Duration) bool {
	if fi, err := os.Stat(r.Store.Path(file)); err == nil {
		if age := time.Since(fi.ModTime()); age >= 0 && age < every {
			return false
		}
	}
	return !r.Store.ReadOnly() && r.Store.Replace(file, nil) == nil
}

// Unchanged reports whether no folder in which notes are made changed since a walk.
func Unchanged(r *Rooms, walked time.Time) bool {
	for _, scope := range []note.Scope{note.Portable, note.Local} {
		for _, t := range note.Types {
			if fi, err := os.Stat(r.Store.Path(store.FolderOf(scope, t))); err == nil && fi.ModTime().After(walked) {
				return false
			}
		}
	}
	return true
}

// catchUp looks for changed files when a folder changed since the last walk, and reports whether the index changed. A command calls
// it before it reports that it found nothing.
func catchUp(ctx context.Context, r *Rooms) bool {
	if r.Stale >= 0 || r.Store.ReadOnly() {
		return false
	}
	r.Stale = 0
	rep, err := r.Index.Sync(ctx, index.SyncOptions{Budget: catchUpTime})
	if err != nil || rep.Stale != 0 {
		r.Notify("the index may not know all changed notes yet; they are being indexed in the background")
		_ = r.Detach("drain")
	}
	return err == nil && rep.Indexed+rep.Removed > 0
}

// catchUpTime limits catchUp.
const catchUpTime = 2 * time.Second
