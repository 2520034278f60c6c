package replica

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// staleLock is the age from which on a lock file of git is that of a dead run.
const staleLock = 10 * time.Minute

// locked runs a git that takes a lock in the repository, and waits for others that hold it.
func (g *git) locked(ctx context.Context, in string, args ...string) error {
	return g.lockedCall(ctx, call{args: args, in: in})
}

func (g *git) lockedCall(ctx context.Context, c call) error {
	c.locks = true
	wait := 20 * time.Millisecond
	for deadline := time.Now().Add(g.o.Timeout); ; wait = min(2*wait, 500*time.Millisecond) {
		g.unlock()
		_, err := g.run(ctx, c)
		var failed *gitError
		if err == nil || !errors.As(err, &failed) || !strings.Contains(failed.stderr, ".lock") {
			return err
		}
		if lock, age := g.lock(); age > staleLock {
			return fmt.Errorf("%w: %s is %v old, so the git that made it is probably dead; delete the file if no git is running",
				ErrBlocked, lock, age.Round(time.Minute))
		}
		if time.Now().Add(wait).After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
}

// lockFiles are the files by which git keeps others out, below .git.
var lockFiles = [...]string{"index.lock", "HEAD.lock", "config.lock", "refs/heads/main.lock"}

// lock returns the oldest of the lock files that get into our way, and its age.
func (g *git) lock() (name string, age time.Duration) {
	for _, file := range lockFiles {
		at := filepath.Join(g.dir, ".git", filepath.FromSlash(file))
		if info, err := os.Lstat(at); err == nil && time.Since(info.ModTime()) > age {
			name, age = at, time.Since(info.ModTime())
		}
	}
	return name, age
}

// runsFile says that a git of ours runs which takes locks: below .git, written before it starts
// and removed when it has ended. It stays when git, or this process, was killed.
const runsFile = "anamnesis-runs"

// unlock removes the lock files that a killed git of ours left. A lock is that of a dead git of
// ours when none of ours lives (aliveLock) and it was made in the time that the last one had,
// which did not end well.
func (g *git) unlock() {
	at := filepath.Join(g.dir, ".git", runsFile)
	info, err := os.Lstat(at)
	if err != nil || !info.Mode().IsRegular() || aliveLock(at) {
		return
	}
	const coarse = 2 * time.Second // of the times of files
	first, last := info.ModTime().Add(-coarse), info.ModTime().Add(g.o.Timeout+coarse)
	for _, file := range lockFiles {
		lock := filepath.Join(g.dir, ".git", filepath.FromSlash(file))
		if info, err := os.Lstat(lock); err == nil && info.ModTime().After(first) && info.ModTime().Before(last) {
			_ = os.Remove(lock)
		}
	}
	_ = os.Remove(at)
}
