package eval

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"anamnesis/internal/store"
	"anamnesis/internal/store/layout"
)

// A Setup wires the rooms over the store in a folder. All writes of the store
// must go through disk, which does not wait for the platters: the store is thrown
// away.
type Setup func(ctx context.Context, root string, disk store.Disk) (*Workbench, error)

// A sandbox is a throw-away copy of a store: its notes, tombstones and aliases, and
// the redaction rules of its owner, in a folder that only the user may read. It
// has no git history, no event log, no history of notes and no spool.
type sandbox struct {
	*Workbench
	root string
	disk *scratch
}

// openCopy copies the store live and brings an index over it into step. live is
// only read, and no lock of it is taken: every file is copied whole, because
// writers replace files; one that goes away at the same time is left out.
func openCopy(ctx context.Context, live *store.Store, setup Setup, p Progress) (_ *sandbox, err error) {
	root, err := os.MkdirTemp("", "anamnesis-eval-*")
	if err != nil {
		return nil, fmt.Errorf("make a throw-away store: %w", err)
	}
	c := &sandbox{root: root, disk: new(scratch)}
	ready := false
	defer func() {
		if !ready { // on a panic too
			err = errors.Join(err, c.Close())
		}
	}()
	if err := c.fill(ctx, live); err != nil {
		return nil, err
	}
	if c.Workbench, err = setup(ctx, root, c.disk); err != nil {
		return nil, err
	}
	if c.Store.Root() == live.Root() { // nobody's notes are experimented upon by a mistake in the wiring
		return nil, fmt.Errorf("open the copy: the store at %s itself was opened", live.Root())
	}
	if err := c.sync(ctx, p); err != nil {
		return nil, err
	}
	ready = true
	return c, nil
}

// fill copies the files.
func (c *sandbox) fill(ctx context.Context, live *store.Store) error {
	for _, tree := range []string{"memory", "local"} {
		if err := copyTree(ctx, live.Path(tree), filepath.Join(c.root, tree)); err != nil {
			return fmt.Errorf("copy %s: %w", live.Path(tree), err)
		}
	}
	const rules = "redact.toml" // what is said to a model about the copy is redacted as its owner wants it
	data, err := os.ReadFile(live.Path(rules))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(c.root, rules), data, 0o600)
	}
	if err != nil {
		return fmt.Errorf("copy %s: %w", live.Path(rules), err)
	}
	return nil
}

// Close removes the copy.
func (c *sandbox) Close() error {
	if c.Workbench != nil && c.Workbench.Close != nil {
		c.Workbench.Close()
	}
	if err := os.RemoveAll(c.root); err != nil {
		return fmt.Errorf("remove the throw-away store %s: %w", c.root, err)
	}
	return nil
}

// copyTree copies the regular files below from, a folder, a link to one, or missing.
// Links and what begins with a dot (git's folder, files that are being written)
// are left out, as are files too large to be a note. Times are kept.
func copyTree(ctx context.Context, from, to string) error {
	from, err := filepath.EvalSymlinks(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var files [][2]string
	err = filepath.WalkDir(from, func(name string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case name != from && (strings.HasPrefix(d.Name(), ".") || strings.HasSuffix(filepath.ToSlash(name), "/"+layout.Sessions)):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		rel, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		if d.IsDir() {
			return os.MkdirAll(target, 0o700)
		}
		if d.Type().IsRegular() {
			files = append(files, [2]string{name, target})
		}
		return nil
	})
	if err != nil {
		return err
	}
	return copyAll(ctx, files)
}

// copiers is how many files are copied at once: it is the system that takes the time.
const copiers = 4

func copyAll(ctx context.Context, files [][2]string) error {
	var wg sync.WaitGroup
	failed := make([]error, copiers)
	for i := range copiers {
		wg.Go(func() {
			for at := i; at < len(files) && failed[i] == nil; at += copiers {
				if failed[i] = ctx.Err(); failed[i] == nil {
					failed[i] = copyFile(files[at][0], files[at][1])
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(failed...)
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // removed since it was listed
	}
	if err != nil {
		return err
	}
	defer in.Close()
	fi, err := in.Stat()
	if err != nil || !fi.Mode().IsRegular() || fi.Size() > store.MaxNoteSize {
		return err
	}
	data, err := io.ReadAll(io.LimitReader(in, store.MaxNoteSize))
	if err == nil {
		err = os.WriteFile(to, data, 0o600)
	}
	if err != nil {
		return err
	}
	return os.Chtimes(to, fi.ModTime(), fi.ModTime())
}
