package replica

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// staleLock is the age from which on a lock file of git is that of a dead run.
const staleLock = 10 * time.Minute

// commit records the paths, all known ones when nil. The caller holds the mutex.
func (g *git) commit(ctx context.Context, paths []string) (bool, error) {
	present, err := g.present()
	if err != nil {
		return false, err
	}
	if !present && !g.anything() {
		return false, nil
	}
	if err := g.ready(ctx); err != nil {
		return false, err
	}
	if err := g.ensure(ctx); err != nil {
		return false, err
	}
	if err := g.inProgress(); err != nil {
		return false, err
	}
	if err := writeAttributes(g.dir); err != nil {
		return false, fmt.Errorf("write %s: %w", attributes, err)
	}
	changed, blocked, err := g.changes(ctx, paths)
	if err = firstOf(err, blocked); err != nil {
		return false, err
	}
	var stage, held []string
	for _, name := range changed {
		data, err := os.ReadFile(filepath.Join(g.dir, filepath.FromSlash(name)))
		if err == nil && hasMarkers(data) {
			held = append(held, name)
		} else {
			stage = append(stage, name)
		}
	}
	committed, err := g.record(ctx, stage, held)
	if err == nil && len(held) > 0 {
		err = fmt.Errorf("%w: %s: it holds conflict markers; resolve them in the file", ErrHeld, strings.Join(held, ", "))
	}
	return committed, err
}

// changes returns the known paths that differ from the last commit, in order,
// and an error in blocked when git itself has paths left to merge. Paths of
// links and of other things that are no plain files are not among them.
func (g *git) changes(ctx context.Context, paths []string) (changed []string, blocked, err error) {
	args := []string{"status", "--porcelain", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=all"}
	wanted := make(map[string]bool)
	size := 0
	for _, p := range paths {
		p = filepath.ToSlash(p)
		if Known(p) {
			wanted[p] = true
			size += len(p) + 1
		}
	}
	if paths != nil {
		if len(wanted) == 0 {
			return nil, nil, nil
		}
		wanted[attributes] = true
	}
	// Naming a few paths spares git the walk; many do not fit into a command line.
	if paths != nil && size < 8<<10 {
		args = append(args, "--")
		for p := range wanted {
			args = append(args, p)
		}
	}
	out, err := g.git(ctx, "", args...)
	if err != nil {
		return nil, nil, err
	}
	for _, row := range split(out) {
		if len(row) < 4 {
			continue
		}
		code, name := row[:2], row[3:]
		if strings.Contains(code, "U") || code == "AA" || code == "DD" {
			blocked = fmt.Errorf("%w: %s has a conflict; resolve it and run git add there", ErrBlocked, name)
			continue
		}
		if !Known(name) || paths != nil && !wanted[name] {
			continue
		}
		if regular, gone := isRegular(g.dir, name); regular || gone {
			changed = append(changed, name)
		}
	}
	slices.Sort(changed)
	return changed, blocked, nil
}

// record stages the paths and commits them: only known paths, and none of those held back.
func (g *git) record(ctx context.Context, stage, held []string) (bool, error) {
	if len(stage) > 0 {
		in := strings.Join(stage, "\x00") + "\x00"
		if err := g.locked(ctx, in, "update-index", "-z", "--add", "--remove", "--stdin"); err != nil {
			return false, err
		}
	}
	staged, err := g.staged(ctx)
	if err != nil {
		return false, err
	}
	mine := slices.DeleteFunc(slices.Clone(staged), func(name string) bool {
		return !Known(name) || slices.Contains(held, name)
	})
	if len(mine) == 0 {
		return false, nil
	}
	message := fmt.Sprintf("anamnesis: sync from %s at %s", g.machine, g.now().UTC().Format("2006-01-02T15:04:05")+"+00:00")
	args := []string{"commit", "--quiet", "--no-verify", "--no-gpg-sign", "--cleanup=verbatim", "-m", message}
	in := ""
	if len(mine) < len(staged) {
		// The user has staged something else; it stays staged.
		in = strings.Join(mine, "\x00") + "\x00"
		args = append(args, "--only", "--pathspec-from-file=-", "--pathspec-file-nul")
	}
	err = g.locked(ctx, in, args...)
	if err != nil {
		// Another process may have committed the same, in spite of the lock.
		if left, serr := g.staged(ctx); serr == nil && len(left) == 0 {
			return false, nil
		}
		return false, err
	}
	return true, nil
}

// staged returns the paths that a commit would change.
func (g *git) staged(ctx context.Context) ([]string, error) {
	out, err := g.git(ctx, "", "diff", "--cached", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--ignore-submodules=all")
	return split(out), err
}

// locked runs a git that takes a lock in the repository, and waits for others that hold it.
func (g *git) locked(ctx context.Context, in string, args ...string) error {
	wait := 20 * time.Millisecond
	for deadline := time.Now().Add(g.timeout); ; wait = min(2*wait, 500*time.Millisecond) {
		_, err := g.git(ctx, in, args...)
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

// lock returns the oldest of the lock files that get into our way, and its age.
func (g *git) lock() (name string, age time.Duration) {
	for _, file := range []string{"index.lock", "HEAD.lock", "config.lock", "refs/heads/main.lock"} {
		at := filepath.Join(g.dir, ".git", filepath.FromSlash(file))
		if info, err := os.Lstat(at); err == nil && time.Since(info.ModTime()) > age {
			name, age = at, time.Since(info.ModTime())
		}
	}
	return name, age
}

// anything reports whether the tree holds a file to be committed.
func (g *git) anything() bool {
	found := errors.New("found")
	err := filepath.WalkDir(g.dir, func(at string, d os.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // what cannot be read cannot be committed
		}
		rel, err := filepath.Rel(g.dir, at)
		if err != nil || rel == "." {
			return err
		}
		if strings.HasPrefix(d.Name(), ".") {
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		if d.Type().IsRegular() && Known(filepath.ToSlash(rel)) {
			return found
		}
		return nil
	})
	return errors.Is(err, found)
}
