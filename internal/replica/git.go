package replica

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// git is the backend that keeps the tree as a git repository, branch main.
type git struct {
	o       Options
	dir     string
	machine string // as it stands in messages
	email   string
	program string   // its path, once found
	packs   bool     // it can stage files into one pack
	opaque  bool     // it holds sealed files: nothing to compress, and of the remote only the newest commit is wanted
	ssh     []string // the environment of ssh, once known
	turns   *turns
}

// turns are what backends of one tree take within a process. A sync holds mu
// only while it looks at the tree, so that a commit never waits for the network.
type turns struct{ sync, mu sync.Mutex }

var _ Backend = (*git)(nil)

// trees holds the turns of each tree.
var trees sync.Map

func openGit(o Options) (Backend, error) {
	if o.Dir == "" {
		return nil, errors.New("open replica: no folder")
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("open replica: %w", err)
	}
	if strings.HasPrefix(o.Git, "-") {
		return nil, fmt.Errorf("open replica: %q is no program", o.Git)
	}
	t, _ := trees.LoadOrStore(dir, new(turns))
	o.Git = cmp.Or(o.Git, "git")
	if o.Timeout <= 0 {
		o.Timeout = 30 * time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	g := &git{
		o: o, dir: dir, turns: t.(*turns),
		machine: printable(o.MachineID), email: "anamnesis@" + hostname(o.MachineID),
	}
	return g, nil
}

// printable returns a machine id as it may stand in a commit message.
func printable(machine string) string {
	clean := strings.Map(func(r rune) rune {
		if isUnportable(r) {
			return '-'
		}
		return r
	}, strings.ToValidUTF8(machine, "-"))
	if clean = strings.TrimSpace(clean); clean == "" {
		return "unknown"
	}
	return clean
}

// hostname returns a machine id as it may stand in an e-mail address.
func hostname(machine string) string {
	clean := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == '.' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '-'
	}, machine)
	clean = strings.Trim(clean[:min(len(clean), 64)], "-.")
	if clean == "" {
		return "unknown"
	}
	return clean
}

func (g *git) Commit(ctx context.Context, paths []string) (bool, error) {
	g.turns.mu.Lock()
	defer g.turns.mu.Unlock()
	s, err := g.Snapshot(ctx, paths)
	return s.Committed, firstOf(err, heldError(s.Held))
}

func (g *git) Sync(ctx context.Context) (Outcome, error) {
	g.turns.sync.Lock()
	defer g.turns.sync.Unlock()
	return Exchange(ctx, g, g.o, &g.turns.mu)
}

func (g *git) State(ctx context.Context) (State, error) {
	s := State{Remote: HidePassword(g.o.Remote)}
	g.turns.mu.Lock()
	defer g.turns.mu.Unlock()
	present, err := g.present()
	switch {
	case errors.Is(err, ErrBlocked):
		s.Detail = err.Error()
		return s, nil
	case err != nil:
		return s, err
	case !present:
		s.Detail = "not initialized"
		return s, nil
	}
	r, err := g.Refs(ctx)
	if err != nil {
		return s, err
	}
	s.Initialized, s.Detail, s.Head = true, "ok", r.Short
	invalid := CheckRemote(g.o.Remote)
	if g.o.Remote != "" && invalid == nil {
		r = g.about(r)
		if s.Ahead, s.Behind, err = g.Distance(ctx, r.Ours, r.Known, r.Theirs); err != nil {
			return s, err
		}
		if wait := g.Backoff(); wait.Remote == g.o.Remote {
			s.Failures, s.Next = wait.Failures, wait.Next
		}
	}
	look, err := g.changes(ctx, nil)
	if err != nil {
		return s, err
	}
	s.Dirty = len(look.changed) > 0
	if err := firstOf(g.inProgress(), look.blocked, invalid); err != nil {
		s.Detail = err.Error()
	}
	return s, nil
}

// about forgets what is known of a remote that is no longer the one: until the
// first sync with another the repository holds what the last one had.
func (g *git) about(r Refs) Refs {
	have := parseConfig(filepath.Join(g.dir, ".git", "config"))["remote.origin.url"]
	if len(have) != 1 || have[0] != g.origin() {
		r.Known, r.Theirs = "", ""
	}
	return r
}

// firstOf returns the first of the errors that is one.
func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// present reports whether the tree is a repository, and refuses one that
// stands elsewhere: git would then read and write files outside of the store.
func (g *git) present() (bool, error) {
	at := filepath.Join(g.dir, ".git")
	info, err := os.Lstat(at)
	switch {
	case os.IsNotExist(err):
		return false, nil
	case err != nil:
		return false, err
	case !info.IsDir():
		return false, fmt.Errorf("%w: %s is not a folder but points elsewhere; move the repository there, or remove it to start "+
			"a new one", ErrBlocked, at)
	}
	if _, err := os.Lstat(filepath.Join(at, "commondir")); err == nil {
		return false, fmt.Errorf("%w: %s belongs to a repository elsewhere; clone that instead", ErrBlocked, at)
	}
	_, err = os.Lstat(filepath.Join(at, "HEAD"))
	return err == nil, nil
}

// ensure makes the repository if there is none.
func (g *git) ensure(ctx context.Context) error {
	present, err := g.present()
	if err != nil || present {
		return err
	}
	_, err = g.git(ctx, "", "init", "--quiet", "--initial-branch=main", "--template=")
	return err
}

// inProgress returns an error when the user is in the middle of something.
func (g *git) inProgress() error {
	for _, sign := range []struct{ file, what, finish string }{
		{"MERGE_HEAD", "a merge", "git merge --continue or --abort"},
		{"rebase-merge", "a rebase", "git rebase --continue or --abort"},
		{"rebase-apply", "a rebase", "git rebase --continue or --abort"},
		{"CHERRY_PICK_HEAD", "a cherry-pick", "git cherry-pick --continue or --abort"},
		{"REVERT_HEAD", "a revert", "git revert --continue or --abort"},
		{"BISECT_LOG", "a bisection", "git bisect reset"},
	} {
		if _, err := os.Lstat(filepath.Join(g.dir, ".git", sign.file)); err == nil {
			return fmt.Errorf("%w: %s is in progress in %s; finish it with %s", ErrBlocked, sign.what, g.dir, sign.finish)
		}
	}
	head, err := os.ReadFile(filepath.Join(g.dir, ".git", "HEAD"))
	if err != nil {
		return fmt.Errorf("read the branch of %s: %w", g.dir, err)
	}
	if branch := strings.TrimSpace(string(head)); branch != "ref: refs/heads/main" {
		return fmt.Errorf("%w: %s is not on its branch main but on %s; run git switch main there",
			ErrBlocked, g.dir, strings.TrimPrefix(branch, "ref: refs/heads/"))
	}
	return nil
}

// split cuts the output of git -z.
func split(out string) []string {
	if out == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
}
