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

// ErrMoved means that a commit is not the newest one any more.
var ErrMoved = errors.New("the branch has moved")

// A cycle is one sync of one tree.
type cycle struct {
	p      Plumbing
	o      Options
	local  sync.Locker // held while the tree and the branch are looked at and changed, not while the network is
	out    Outcome
	notes  []string // what the user should hear besides
	hidden map[string]bool
}

// sync runs the cycle until nothing moves under it.
func (c *cycle) sync(ctx context.Context) (Outcome, error) {
	for try := 1; ; try++ {
		again, err := c.once(ctx)
		if err == nil && again != "" && try < tries {
			// Two machines that met once must not meet again in step.
			wait := time.Duration(1+rand.Int64N(int64(10)<<try)) * time.Millisecond
			if c.o.Tree != nil {
				wait = 0
			}
			select {
			case <-ctx.Done():
				return c.out, ctx.Err()
			case <-time.After(wait):
			}
			continue
		}
		switch {
		case err != nil:
			c.out.Detail = c.line("not synced")
			c.conclude(ctx, err)
		case again == "":
			c.conclude(ctx, nil)
		default:
			c.say("%s %d times in a row; the next sync goes on", again, tries)
			c.out.Detail = c.line(c.what())
		}
		slices.Sort(c.out.Changed)
		c.out.Changed = slices.Compact(c.out.Changed)
		return c.out, err
	}
}

// once goes through the cycle; again says why it has to be gone through again.
func (c *cycle) once(ctx context.Context) (again string, err error) {
	c.notes, c.out.Result = nil, ""
	c.local.Lock()
	snap, err := c.p.Snapshot(ctx, nil)
	c.local.Unlock()
	c.out.Committed = c.out.Committed || snap.Committed
	switch {
	case errors.Is(err, ErrBlocked):
		c.out.Conflicted, c.out.Detail, c.out.Result = true, err.Error(), Blocked
		r, rerr := c.p.Refs(ctx)
		c.out.Head = r.Short
		return "", errors.Join(rerr, ctx.Err())
	case err != nil:
		return "", err
	}
	c.out.HeldFiles = snap.Held
	if c.out.Conflicted = len(snap.Held) > 0; c.out.Conflicted {
		c.say("%v", heldError(snap.Held))
	}
	if c.o.Remote == "" {
		return "", c.finish(ctx, Refs{}, c.what()+"; no remote configured")
	}
	if err := CheckRemote(c.o.Remote); err != nil {
		return "", err
	}
	if itself(c.o.Remote, c.o.Dir) {
		return "", fmt.Errorf("%w: %q is the repository of the notes itself; use another one", ErrRemote, HidePassword(c.o.Remote))
	}
	found, offline, err := c.fetch(ctx)
	if err != nil {
		return "", err
	}
	if offline {
		return "", c.finish(ctx, Refs{}, c.what())
	}
	commit, r, again, err := c.integrate(ctx, found, snap)
	switch {
	case again != "" || err != nil:
		return again, err
	case c.out.Held:
		return "", c.finish(ctx, r, c.what())
	}
	return c.publish(ctx, commit, r)
}

// publish pushes the commit if the remote does not have it.
func (c *cycle) publish(ctx context.Context, commit string, r Refs) (again string, err error) {
	if commit != "" && commit != r.Theirs {
		held, err := c.withhold(ctx, commit, r.Theirs)
		if err != nil {
			return "", err
		}
		claims, again, err := c.unconfirmed(ctx, commit, r)
		if again != "" || err != nil {
			return again, err
		}
		held = append(held, claims...)
		if len(held) > 0 {
			c.out.Conflicted, c.out.HeldFiles, c.out.Result = true, append(c.out.HeldFiles, held...), Blocked
			c.say("%v", heldError(held))
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
	r.Ours, r.Theirs, c.out.Result = commit, commit, Synced
	return "", c.finish(ctx, r, "synced")
}

// integrate brings what was fetched and what is here together. The commit is
// what both sides are to have; it is ours already.
func (c *cycle) integrate(ctx context.Context, found bool, snap Snapshot) (commit string, r Refs, again string, err error) {
	c.local.Lock()
	defer c.local.Unlock()
	if r, err = c.p.Refs(ctx); err != nil {
		return "", r, "", err
	}
	if !found {
		if r.Known != "" {
			c.say("the remote was empty again, and got everything that is here")
		}
		r.Theirs = ""
		return r.Ours, r, "", nil
	}
	if r.Theirs == r.Ours {
		return r.Ours, r, "", nil
	}
	ahead, behind, err := c.p.Distance(ctx, r.Ours, r.Theirs)
	if err != nil {
		return "", r, "", err
	}
	c.out.Ahead, c.out.Behind = ahead, behind
	if behind == 0 {
		if r.Known != "" && r.Known != r.Theirs {
			c.say("the remote was set back to an older state, and got everything that is here")
		}
		return r.Ours, r, "", nil
	}
	bases := []string{r.Ours}
	if ahead > 0 {
		if bases, err = c.p.Bases(ctx, r.Ours, r.Theirs); err != nil {
			return "", r, "", err
		}
		if !slices.Contains(bases, r.Known) { // else the remote has only gone on
			if err := c.rewritten(ctx, r); err != nil {
				return "", r, "", err
			}
		}
	}
	if len(bases) == 0 || r.Ours == "" {
		if stop, err := c.rejectForeign(ctx, r); stop || err != nil {
			return "", r, "", err
		}
	}
	commit, again, err = c.merge(ctx, r, bases, snap)
	if merged(again) && err == nil && !c.out.Held {
		c.out.Pulled += behind
	}
	return commit, r, again, err
}

// rewritten tells the user when the remote no longer has what it had.
func (c *cycle) rewritten(ctx context.Context, r Refs) error {
	if r.Known == "" || r.Known == r.Theirs {
		return nil
	}
	left, err := c.p.Bases(ctx, r.Known, r.Theirs)
	if err == nil && !slices.Contains(left, r.Known) {
		c.say("the history of the remote was replaced; both sides were kept, and nothing was deleted that only the old one had")
	}
	return err
}

// rejectForeign refuses a remote that is somebody else's repository: notes are
// private, and a wrong address must not publish them. What a hoster puts into a
// new repository does no harm.
func (c *cycle) rejectForeign(ctx context.Context, r Refs) (bool, error) {
	files, err := c.p.List(ctx, r.Theirs)
	if err != nil {
		return false, err
	}
	if _, sealed := files[sealedName]; sealed {
		c.out.Held, c.out.Result = true, Blocked
		c.say("the remote holds sealed files, and this machine would send notes as they are; nothing was taken from it or pushed to it; " +
			"`anamnesis sync --seal` asks to be let in")
		return true, nil
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
		if p := c.p.Backoff(); p.Remote == c.o.Remote && c.o.Now().Before(p.Next) && p.Next.Sub(c.o.Now()) <= longest {
			c.out.Offline = true
			c.say("the remote could not be reached %s; the next automatic attempt is at %s", times(p.Failures), p.Next.Local().Format("15:04"))
			return false, true, nil
		}
	}
	found, err = c.p.Fetch(ctx)
	if s, ok := c.p.(*Sealed); ok {
		c.notes = append(c.notes, s.tell()...)
	}
	if err == nil {
		return found, false, nil
	}
	return false, true, c.unreached(ctx, err)
}

// push offers the commit, and says why it has to be tried again.
func (c *cycle) push(ctx context.Context, commit string) (again string, err error) {
	err = c.p.Push(ctx, commit)
	if err == nil {
		c.out.Pushed = true
		return "", nil
	}
	var link *LinkError
	if errors.As(err, &link) && link.Kind == LinkMoved {
		return "the remote moved during the sync", nil
	}
	return "", c.unreached(ctx, err)
}

// unreached turns a remote that is not there into a state, and leaves other errors.
func (c *cycle) unreached(ctx context.Context, err error) error {
	var link *LinkError
	if ctx.Err() != nil || !errors.As(err, &link) || link.Kind != LinkDown {
		return err
	}
	c.out.Offline = true
	p := c.p.Backoff()
	if p.Remote != c.o.Remote {
		p = Backoff{Remote: c.o.Remote}
	}
	p = p.after(c.o.Now())
	c.say("the remote could not be reached: %v", link)
	return c.p.SetBackoff(p)
}

// reached forgets what was remembered about an unreachable remote.
func (c *cycle) reached() error {
	if c.p.Backoff() == (Backoff{}) {
		return nil
	}
	return c.p.SetBackoff(Backoff{})
}

// finish fills in how things stand at the end.
func (c *cycle) finish(ctx context.Context, r Refs, what string) error {
	c.out.Detail = c.line(what)
	if r.Ours != "" && r.Ours == r.Theirs {
		c.out.Ahead, c.out.Behind = 0, 0
		if n := len(r.Short); n > 0 && n <= len(r.Ours) { // in step: git need not be asked what is known
			c.out.Head = r.Ours[:n]
			return nil
		}
	}
	r, err := c.p.Refs(ctx)
	c.out.Head = r.Short
	if err == nil && c.out.Offline {
		c.out.Ahead, c.out.Behind, err = c.p.Distance(ctx, r.Ours, r.Known, r.Theirs)
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

func notes(n int) string {
	if n == 1 {
		return "1 note"
	}
	return fmt.Sprintf("%d notes", n)
}

func times(n int) string {
	if n == 1 {
		return "the last time"
	}
	return fmt.Sprintf("the last %d times", n)
}
