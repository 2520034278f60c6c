package replica

import (
	"context"
	"errors"
	"strings"
)

// A Standing tells whether a sync brought both sides together, and what kept it
// from that. The empty one is that nothing was found out: there is no remote,
// the sync was cut off, or others kept changing what it looked at.
type Standing string

// The ways in which a sync ends. From Held on it stands still until the user
// does something.
const (
	Synced  Standing = "synced"  // both sides have the same, but for files that are held back
	Offline Standing = "offline" // the remote was not reached, or left alone after a failure
	Held    Standing = "held"    // the remote would delete too much here
	Foreign Standing = "foreign" // the remote holds something else than notes
	Refused Standing = "refused" // the remote refuses what is pushed
	Blocked Standing = "blocked" // something on this machine has to be mended or finished first
	Failed  Standing = "failed"  // anything else
)

// StandingOf tells what an error of a Backend means for the sync.
func StandingOf(err error) Standing {
	switch {
	case err == nil, errors.Is(err, context.Canceled):
		return ""
	case errors.Is(err, ErrRefused):
		return Refused
	case errors.Is(err, ErrBlocked), errors.Is(err, ErrNoGit), errors.Is(err, ErrRemote):
		return Blocked
	case errors.Is(err, context.DeadlineExceeded):
		return "" // the caller gave up; a remote that takes too long is Offline
	}
	return Failed
}

// stand fills in how the sync ended.
func (c *cycle) stand(ctx context.Context, err error) {
	out := &c.out
	out.Why = strings.Join(c.notes, "; ")
	switch {
	case c.o.Remote == "" || ctx.Err() != nil:
		out.Standing, out.Why = "", ""
	case err != nil:
		out.Standing, out.Why = StandingOf(err), err.Error()
	case out.Offline:
		out.Standing = Offline
	case out.Standing == Blocked && out.Why == "":
		out.Why = out.Detail
	}
	if out.Standing == Synced || out.Standing == "" {
		out.Why = ""
	}
}
