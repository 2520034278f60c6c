package replica

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// git is the backend that keeps the tree as a git repository, branch main.
type git struct {
	dir     string
	remote  string
	machine string // as it stands in messages
	email   string
	env     []string
	name    string // of the program, as asked for
	program string // its path, once found
	timeout time.Duration
	now     func() time.Time
	mu      *sync.Mutex
}

var _ Backend = (*git)(nil)

// trees holds one mutex for each tree, so that all backends of a process take turns.
var trees sync.Map

func openGit(o Options) (Backend, error) {
	if o.Dir == "" {
		return nil, errors.New("open replica: no folder")
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("open replica: %w", err)
	}
	if err := checkRemote(o.Remote); err != nil {
		return nil, err
	}
	if strings.HasPrefix(o.Git, "-") {
		return nil, fmt.Errorf("open replica: %q is no program", o.Git)
	}
	mu, _ := trees.LoadOrStore(dir, new(sync.Mutex))
	g := &git{
		dir: dir, remote: o.Remote, env: o.Env, name: o.Git, timeout: o.Timeout, now: o.Now, mu: mu.(*sync.Mutex),
		machine: printable(o.MachineID), email: "anamnesis@" + hostname(o.MachineID),
	}
	if g.name == "" {
		g.name = "git"
	}
	if g.timeout <= 0 {
		g.timeout = 30 * time.Second
	}
	if g.now == nil {
		g.now = time.Now
	}
	return g, nil
}

// checkRemote refuses addresses that are not addresses: options, and helpers that run commands.
func checkRemote(remote string) error {
	switch {
	case strings.HasPrefix(remote, "-"):
		return fmt.Errorf("open replica: the remote %q begins with a hyphen", remote)
	case strings.ContainsFunc(remote, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return fmt.Errorf("open replica: the remote %q holds a control character", remote)
	}
	if scheme, _, ok := strings.Cut(remote, "::"); ok && !strings.ContainsAny(scheme, "/@[") {
		return fmt.Errorf("open replica: the remote helper %q is not allowed; use https, ssh or a path", scheme)
	}
	return nil
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
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.commit(ctx, paths)
}

func (g *git) Sync(ctx context.Context) (Outcome, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	var out Outcome
	var err error
	out.Committed, err = g.commit(ctx, nil)
	note := ""
	switch {
	case errors.Is(err, ErrBlocked):
		out.Conflicted, out.Detail, out.Head = true, err.Error(), g.head(ctx)
		return out, nil
	case errors.Is(err, ErrHeld):
		out.Conflicted, note = true, "; "+err.Error()
	case err != nil:
		return out, err
	}
	if g.remote != "" {
		if err := g.pointOrigin(ctx); err != nil {
			return out, err
		}
	}
	if present, _ := g.present(); present {
		out.Head = g.head(ctx)
	}
	what := "nothing to commit"
	if out.Committed {
		what = "committed locally"
	}
	if g.remote == "" {
		out.Detail = what + "; no remote configured" + note
	} else {
		out.Detail = what + "; syncing with a remote is not in this version" + note
	}
	return out, nil
}

func (g *git) State(ctx context.Context) (State, error) {
	s := State{Remote: g.remote}
	g.mu.Lock()
	defer g.mu.Unlock()
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
	if err := g.ready(ctx); err != nil {
		return s, err
	}
	s.Initialized, s.Detail = true, "ok"
	s.Head = g.head(ctx)
	changed, blocked, err := g.changes(ctx, nil)
	if err != nil {
		return s, err
	}
	s.Dirty = len(changed) > 0
	if err := firstOf(g.inProgress(), blocked); err != nil {
		s.Detail = err.Error()
	}
	return s, nil
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

// head returns the short name of the newest commit, empty when there is none.
func (g *git) head(ctx context.Context) string {
	out, err := g.git(ctx, "", "rev-parse", "--short", "--verify", "--quiet", "HEAD")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(out)
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
		return false, fmt.Errorf("%w: %s is not a folder but points elsewhere; move the repository there, or remove it to start a new one", ErrBlocked, at)
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

// pointOrigin makes the remote origin stand for the address in the options.
func (g *git) pointOrigin(ctx context.Context) error {
	if err := g.ready(ctx); err != nil {
		return err
	}
	if err := g.ensure(ctx); err != nil {
		return err
	}
	for key, want := range map[string]string{
		"remote.origin.url":   g.remote,
		"remote.origin.fetch": "+refs/heads/*:refs/remotes/origin/*",
	} {
		have, err := g.git(ctx, "", "config", "--local", "--get-all", "--null", key)
		if err == nil && slices.Equal(split(have), []string{want}) {
			continue
		}
		if err := g.locked(ctx, "", "config", "--local", "--replace-all", key, want); err != nil {
			return err
		}
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
