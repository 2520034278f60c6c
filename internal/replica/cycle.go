package replica

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"
)

// tries is how often a sync begins again because the tree or the remote moved.
const tries = 6

// errMoved means that a commit is not the newest one any more.
var errMoved = errors.New("the branch has moved")

// A cycle is one sync of one tree.
type cycle struct {
	p      plumbing
	o      Options
	local  sync.Locker // held while the tree and the branch are looked at and changed, not while the network is
	now    func() time.Time
	out    Outcome
	notes  []string // what the user should hear besides
	hidden map[string]bool
}

// sync runs the cycle until nothing moves under it.
func (c *cycle) sync(ctx context.Context) (Outcome, error) {
	for try := 0; ; try++ {
		again, err := c.once(ctx)
		if err != nil {
			c.out.Detail = c.line("not synced")
			c.conclude(ctx, err)
			return c.out, err
		}
		if again == "" {
			c.conclude(ctx, nil)
			slices.Sort(c.out.Changed)
			c.out.Changed = slices.Compact(c.out.Changed)
			return c.out, nil
		}
		if try == tries-1 {
			c.say("%s %d times in a row; the next sync goes on", again, tries)
			c.out.Detail = c.line(c.what())
			slices.Sort(c.out.Changed)
			c.out.Changed = slices.Compact(c.out.Changed)
			return c.out, nil
		}
		// Two machines that met once must not meet again in step.
		wait := time.Duration(1+rand.Int64N(int64(20)<<try)) * time.Millisecond
		if c.o.Tree != nil {
			wait = 0
		}
		select {
		case <-ctx.Done():
			return c.out, ctx.Err()
		case <-time.After(wait):
		}
	}
}

// once goes through the cycle; again says why it has to be gone through again.
func (c *cycle) once(ctx context.Context) (again string, err error) {
	c.notes, c.out.Result = nil, ""
	c.local.Lock()
	snap, err := c.p.snapshot(ctx, nil)
	c.local.Unlock()
	c.out.Committed = c.out.Committed || snap.committed
	switch {
	case errors.Is(err, ErrBlocked):
		c.out.Conflicted, c.out.Detail, c.out.Result = true, err.Error(), Blocked
		r, rerr := c.p.refs(ctx)
		c.out.Head = r.short
		return "", errors.Join(rerr, ctx.Err())
	case err != nil:
		return "", err
	}
	c.out.HeldFiles = snap.held
	if c.out.Conflicted = len(snap.held) > 0; c.out.Conflicted {
		c.say("%v", heldError(snap.held))
	}
	if c.o.Remote == "" {
		return "", c.finish(ctx, refs{}, c.what()+"; no remote configured")
	}
	if err := CheckRemote(c.o.Remote); err != nil {
		return "", err
	}
	found, offline, err := c.fetch(ctx)
	if err != nil {
		return "", err
	}
	if offline {
		return "", c.finish(ctx, refs{}, c.what())
	}
	commit, r, again, err := c.integrate(ctx, found, snap)
	if again != "" || err != nil {
		return again, err
	}
	if c.out.Held {
		return "", c.finish(ctx, r, c.what())
	}
	if commit != "" && commit != r.theirs {
		held, err := c.withhold(ctx, commit, r.theirs)
		if err != nil {
			return "", err
		}
		if len(held) > 0 {
			c.out.Conflicted, c.out.HeldFiles = true, append(c.out.HeldFiles, held...)
			c.say("%v", heldError(held))
			c.out.Result = Blocked
			return "", errors.Join(c.reached(), c.finish(ctx, r, "not pushed"))
		}
		if again, err = c.push(ctx, commit); again != "" || err != nil {
			return again, err
		}
		if c.out.Offline {
			return "", c.finish(ctx, r, c.what())
		}
	}
	if err := c.reached(); err != nil {
		return "", err
	}
	r.ours, r.theirs, c.out.Result = commit, commit, Synced
	return "", c.finish(ctx, r, "synced")
}

// integrate brings what was fetched and what is here together. The commit is
// what both sides are to have; it is ours already.
func (c *cycle) integrate(ctx context.Context, found bool, snap snapshot) (commit string, r refs, again string, err error) {
	c.local.Lock()
	defer c.local.Unlock()
	if r, err = c.p.refs(ctx); err != nil {
		return "", r, "", err
	}
	if !found {
		if r.known != "" {
			c.say("the remote was empty again, and got everything that is here")
		}
		r.theirs = ""
		return r.ours, r, "", nil
	}
	if r.theirs == r.ours {
		return r.ours, r, "", nil
	}
	ahead, behind, err := c.p.distance(ctx, r.ours, r.theirs)
	if err != nil {
		return "", r, "", err
	}
	c.out.Ahead, c.out.Behind = ahead, behind
	if behind == 0 {
		if r.known != "" && r.known != r.theirs {
			c.say("the remote was set back to an older state, and got everything that is here")
		}
		return r.ours, r, "", nil
	}
	bases := []string{r.ours}
	if ahead > 0 {
		if bases, err = c.p.bases(ctx, r.ours, r.theirs); err != nil {
			return "", r, "", err
		}
		if !slices.Contains(bases, r.known) { // else the remote has only gone on
			if err := c.rewritten(ctx, r); err != nil {
				return "", r, "", err
			}
		}
	}
	if len(bases) == 0 || r.ours == "" {
		if stop, err := c.rejectForeign(ctx, r); stop || err != nil {
			return "", r, "", err
		}
	}
	commit, again, err = c.merge(ctx, r, bases, snap)
	if again == "" && err == nil && !c.out.Held {
		c.out.Pulled += behind
	}
	return commit, r, again, err
}

// rewritten tells the user when the remote no longer has what it had.
func (c *cycle) rewritten(ctx context.Context, r refs) error {
	if r.known == "" || r.known == r.theirs {
		return nil
	}
	left, err := c.p.bases(ctx, r.known, r.theirs)
	if err == nil && !slices.Contains(left, r.known) {
		c.say("the history of the remote was replaced; both sides were kept, and nothing was deleted that only the old one had")
	}
	return err
}

// rejectForeign refuses a remote that is somebody else's repository: notes are
// private, and a wrong address must not publish them. What a hoster puts into a
// new repository does no harm.
func (c *cycle) rejectForeign(ctx context.Context, r refs) (bool, error) {
	files, err := c.p.list(ctx, r.theirs)
	if err != nil {
		return false, err
	}
	unknown, example := 0, ""
	for name := range files {
		switch {
		case hosted(name):
			continue
		case Known(name):
			return false, nil
		}
		if unknown++; example == "" || name < example {
			example = name
		}
	}
	if unknown == 0 {
		return false, nil
	}
	c.out.Held, c.out.Result = true, Foreign
	c.say("the remote holds no notes but %s, such as %q; nothing was taken from it or pushed to it; "+
		"is %s the right address? Use an empty repository", others(unknown), example, HidePassword(c.o.Remote))
	return true, nil
}

// fetch asks the remote, unless an automatic sync has to be patient.
func (c *cycle) fetch(ctx context.Context) (found, offline bool, err error) {
	if c.o.Automatic {
		if p := c.p.backoff(); p.Remote == c.o.Remote && c.now().Before(p.Next) && p.Next.Sub(c.now()) <= longest {
			c.out.Offline = true
			c.say("the remote could not be reached %s; the next automatic attempt is at %s", times(p.Failures), p.Next.Local().Format("15:04"))
			return false, true, nil
		}
	}
	found, err = c.p.fetch(ctx)
	if err == nil {
		return found, false, nil
	}
	return false, true, c.unreached(ctx, err)
}

// push offers the commit, and says why it has to be tried again.
func (c *cycle) push(ctx context.Context, commit string) (again string, err error) {
	err = c.p.push(ctx, commit)
	if err == nil {
		c.out.Pushed = true
		return "", nil
	}
	var link *linkError
	if errors.As(err, &link) && link.kind == linkMoved {
		return "the remote moved during the sync", nil
	}
	return "", c.unreached(ctx, err)
}

// unreached turns a remote that is not there into a state, and leaves other errors.
func (c *cycle) unreached(ctx context.Context, err error) error {
	var link *linkError
	if ctx.Err() != nil || !errors.As(err, &link) || link.kind != linkDown {
		return err
	}
	c.out.Offline = true
	p := c.p.backoff()
	if p.Remote != c.o.Remote {
		p = backoff{Remote: c.o.Remote}
	}
	p = p.after(c.now())
	c.say("the remote could not be reached: %v", link)
	return c.p.setBackoff(p)
}

// reached forgets what was remembered about an unreachable remote.
func (c *cycle) reached() error {
	if c.p.backoff() == (backoff{}) {
		return nil
	}
	return c.p.setBackoff(backoff{})
}

// finish fills in how things stand at the end.
func (c *cycle) finish(ctx context.Context, r refs, what string) error {
	c.out.Detail = c.line(what)
	if r.ours != "" && r.ours == r.theirs {
		c.out.Ahead, c.out.Behind = 0, 0
		if n := len(r.short); n > 0 && n <= len(r.ours) { // in step: git need not be asked what is known
			c.out.Head = r.ours[:n]
			return nil
		}
	}
	r, err := c.p.refs(ctx)
	c.out.Head = r.short
	if err == nil && c.out.Offline {
		c.out.Ahead, c.out.Behind, err = c.p.distance(ctx, r.ours, r.known, r.theirs)
	}
	return err
}

func (c *cycle) what() string {
	if c.out.Committed {
		return "committed locally"
	}
	return "nothing to commit"
}

func (c *cycle) say(format string, args ...any) {
	c.notes = append(c.notes, fmt.Sprintf(format, args...))
}

// line is the Detail of an outcome.
func (c *cycle) line(what string) string {
	return strings.Join(append([]string{what}, c.notes...), "; ")
}

func others(n int) string {
	if n == 1 {
		return "1 other file"
	}
	return fmt.Sprintf("%d other files", n)
}

func times(n int) string {
	if n == 1 {
		return "the last time"
	}
	return fmt.Sprintf("the last %d times", n)
}
