package replica

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Snapshot records the paths, all known ones when nil. The caller holds the mutex.
func (g *git) Snapshot(ctx context.Context, paths []string) (Snapshot, error) {
	s, err := g.snapshot(ctx, paths)
	if damagedIndex(err) {
		if err = g.healIndex(ctx); err == nil {
			s, err = g.snapshot(ctx, paths)
		}
	}
	return s, err
}

func (g *git) snapshot(ctx context.Context, paths []string) (s Snapshot, err error) {
	present, err := g.present()
	if err != nil {
		return s, err
	}
	if !present && !g.anything() {
		return s, nil
	}
	if err := g.ready(ctx); err != nil {
		return s, err
	}
	if err := g.ensure(ctx); err != nil {
		return s, err
	}
	if err := g.inProgress(); err != nil {
		return s, err
	}
	if err := g.configure(ctx); err != nil {
		return s, err
	}
	if err := writeAttributes(g.dir); err != nil {
		return s, fmt.Errorf("write %s: %w", attributes, err)
	}
	look, err := g.changes(ctx, paths)
	if err = firstOf(err, look.blocked); err != nil {
		return s, err
	}
	changed := look.changed
	if slices.Equal(changed, []string{attributes}) && !g.anything() {
		return s, nil // a tree without notes waits for those of the others
	}
	spoiled, err := g.spoiled(ctx, look.modified)
	if err != nil {
		return s, err
	}
	whys, err := g.holdAll(changed)
	if err != nil {
		return s, err
	}
	var stage, back []string
	for at, name := range changed {
		if i := slices.IndexFunc(spoiled, func(f WithheldFile) bool { return f.Path == name }); i >= 0 {
			back = append(back, name)
			s.Held = append(s.Held, spoiled[i])
		} else if why := whys[at]; why != "" {
			back = append(back, name)
			if why != stays {
				s.Held = append(s.Held, WithheldFile{Path: name, Why: why})
			}
		} else {
			stage = append(stage, name)
		}
	}
	s.Committed, err = g.seal(ctx, stage, back, look.others)
	return s, err
}

// holdAll is hold for many files, each of which is read.
func (g *git) holdAll(names []string) (whys []string, err error) {
	whys = make([]string, len(names))
	errs := make([]error, len(names))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(names)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(names); i = int(next.Add(1)) - 1 {
				whys[i], errs[i] = g.hold(names[i])
			}
		})
	}
	wg.Wait()
	return whys, firstOf(errs...)
}

// stays is the reason of a file that is not committed, and that nothing reports.
const stays = "not yet"

// hold says why a changed file must not be committed, "" when it may.
func (g *git) hold(name string) (string, error) {
	if name == attributes {
		return "", nil
	}
	at := filepath.Join(g.dir, filepath.FromSlash(name))
	info, err := os.Lstat(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", err
	case info.Size() > MaxFile:
		return tooLarge, nil // not read
	}
	data, err := os.ReadFile(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return fmt.Sprintf("it cannot be read (%v)", err), nil
	}
	if g.o.NotYet != nil && g.o.NotYet(name, data) != "" {
		return stays, nil
	}
	return g.o.Withheld(name, data), nil
}

// A worktree is what git tells of the files.
type worktree struct {
	changed  []string // known paths that differ from the last commit, in order
	modified []string // those of them that the last commit has
	others   bool     // the user may have staged something that is not in changed
	blocked  error    // git itself has paths left to merge
}

// changes asks git which files differ from the last commit. Paths of links and of
// other things that are no plain files are not among them.
func (g *git) changes(ctx context.Context, paths []string) (w worktree, err error) {
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
			return worktree{others: true}, nil
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
		return worktree{others: true}, err
	}
	w.others = paths != nil
	for _, row := range split(out) {
		if len(row) < 4 {
			continue
		}
		code, name := row[:2], row[3:]
		if strings.Contains(code, "U") || code == "AA" || code == "DD" {
			w.blocked = fmt.Errorf("%w: %s has a conflict; resolve it and run git add there", ErrBlocked, name)
			continue
		}
		take := Known(name) && writable(name) && (paths == nil || wanted[name])
		if take {
			regular, gone := Stands(g.dir, name)
			take = regular || gone
		}
		if take {
			w.changed = append(w.changed, name)
			if code[0] != 'A' && strings.ContainsAny(code, "MT") {
				w.modified = append(w.modified, name)
			}
		} else if code[0] != ' ' && code[0] != '?' {
			w.others = true
		}
	}
	slices.Sort(w.changed)
	w.changed = slices.Compact(w.changed)
	return w, nil
}

// stagedAtOnce is how many paths one git stages: the time limit is that of one git, and the
// first commit of a large tree takes minutes.
const stagedAtOnce = 2000

// From so many paths on the files go into packs, of so many files each, instead of one file of
// .git each: that takes a third of the processor time and a fifth of the room. Git does it with
// what it takes for large, since 2.37 with all files of one call, and waits for the disk.
const (
	packedFrom           = 1000
	packedAtOnce         = 10000
	packMajor, packMinor = 2, 37
)

var packing = []string{
	"GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=core.bigFileThreshold", "GIT_CONFIG_VALUE_0=1",
	"GIT_CONFIG_KEY_1=pack.compression", "GIT_CONFIG_VALUE_1=1",
}

// stage stages the paths as they are in the tree.
func (g *git) stage(ctx context.Context, paths []string) error {
	c, atOnce := call{args: []string{"update-index", "-z", "--add", "--remove", "--replace", "--stdin"}}, stagedAtOnce
	if g.packs && len(paths) >= packedFrom {
		c.env, atOnce = packing, packedAtOnce
	}
	for part := range slices.Chunk(paths, atOnce) {
		c.in = strings.Join(part, "\x00") + "\x00"
		if err := g.lockedCall(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// seal stages the paths and commits them: only known paths, and none of those
// held back. Without others nothing else can be staged, and git is not asked.
func (g *git) seal(ctx context.Context, stage, back []string, others bool) (bool, error) {
	if err := g.stage(ctx, stage); err != nil {
		return false, err
	}
	only := ""
	if others || len(back) > 0 {
		staged, err := g.staged(ctx)
		if err != nil {
			return false, err
		}
		mine := slices.DeleteFunc(slices.Clone(staged), func(name string) bool {
			return !Known(name) || slices.Contains(back, name)
		})
		if len(mine) == 0 {
			return false, nil
		}
		if len(mine) < len(staged) {
			// The user has staged something else; it stays staged.
			only = strings.Join(mine, "\x00") + "\x00"
		}
	} else if len(stage) == 0 {
		return false, nil
	}
	message := fmt.Sprintf("anamnesis: sync from %s at %s", g.machine, g.stamp()) + g.trailer()
	args := []string{"commit", "--quiet", "--no-verify", "--no-gpg-sign", "--cleanup=verbatim", "-m", message}
	if only != "" {
		args = append(args, "--only", "--pathspec-from-file=-", "--pathspec-file-nul")
	}
	if err := g.locked(ctx, only, args...); err != nil {
		// Another process may have committed the same, in spite of the lock.
		if left, serr := g.staged(ctx); serr == nil && len(left) == 0 {
			return false, nil
		}
		return false, err
	}
	return true, nil
}

// trailer says in a message which installation committed.
func (g *git) trailer() string {
	if g.o.Installation == "" {
		return ""
	}
	return "\n\n" + installationKey + ": " + g.o.Installation + "\n"
}

const installationKey = "Anamnesis-installation"

// stamp is the time as it stands in messages.
func (g *git) stamp() string { return g.o.Now().UTC().Format("2006-01-02T15:04:05") + "+00:00" }

// staged returns the paths that a commit would change.
func (g *git) staged(ctx context.Context) ([]string, error) {
	out, err := g.git(ctx, "", "diff", "--cached", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--ignore-submodules=all")
	return split(out), err
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
