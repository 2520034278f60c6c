package replica

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// hubFolders returns where the repository of a hub that is a path may be, none for
// another hub. git runs in the tree, so that is where a relative path begins.
func (g *git) hubFolders() []string {
	path, ok := LocalPath(g.o.Remote)
	if scheme, rest, isURL := cutURL(g.o.Remote); isURL && scheme == "file" {
		path, ok = rest, true
	}
	if !ok {
		return nil
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(g.dir, path)
	}
	return []string{filepath.Join(path, ".git"), path, path + ".git"}
}

// hubLock returns the lock on the branch of a hub that is a path, and its age.
func (g *git) hubLock() (name string, age time.Duration) {
	for _, folder := range g.hubFolders() {
		for _, file := range []string{"refs/heads/main.lock", "packed-refs.lock"} {
			at := filepath.Join(folder, filepath.FromSlash(file))
			if info, err := os.Lstat(at); err == nil && time.Since(info.ModTime()) > age {
				name, age = at, time.Since(info.ModTime())
			}
		}
	}
	return name, age
}

// remains reports whether there is something of a repository in a hub that is a path.
func (g *git) remains() bool {
	for _, folder := range g.hubFolders() {
		for _, name := range []string{"HEAD", "objects", "refs", "packed-refs"} {
			if _, err := os.Lstat(filepath.Join(folder, name)); err == nil {
				return true
			}
		}
	}
	return false
}

// whole looks for the newest commit of a hub that is a path in the files there: its
// folders are read, and each file of it has to exist. A hub answers with names alone
// to those who have everything, so that a fetch does not find out. Nothing but the
// objects is read there: no setting of the hub has a say.
func (g *git) whole(ctx context.Context) error {
	for _, folder := range g.hubFolders() {
		objects := filepath.Join(folder, "objects")
		if info, err := os.Stat(objects); err != nil || !info.IsDir() {
			continue
		}
		_, err := g.run(ctx, call{
			args: []string{"rev-list", "--quiet", "--objects", "--no-walk", "--end-of-options", theirRef, "--"},
			env:  []string{"GIT_OBJECT_DIRECTORY=" + objects},
		})
		var link *LinkError
		if err = linked("fetch", HidePassword(g.o.Remote), err); errors.As(err, &link) && link.Kind == LinkDamaged || ctx.Err() != nil {
			return err
		}
		return nil // it could not be looked at, which need not be damage
	}
	return nil
}

// damaged is the error for a remote that is reached and cannot be used any more.
func damaged(what, why string) error {
	return &LinkError{LinkDamaged, fmt.Errorf("%s: %w: %s; nothing here was changed; "+
		"run git fsck there, or set the remote to a new empty repository: the notes are all here", what, ErrDamaged, why)}
}
