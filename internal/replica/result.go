package replica

import (
	"context"
	"errors"
	"strings"
)

// A SyncResult tells whether a sync brought both sides together, and what kept it
// from that. The empty one is that nothing was found out: there is no remote,
// the sync was cut off, or others kept changing what it looked at.
type SyncResult string

// The ways in which a sync ends. From Held on it stands still until the user
// does something.
const (
	Synced  SyncResult = "synced"  // both sides have the same, but for files that are held back
	Offline SyncResult = "offline" // the remote was not reached, or left alone after a failure
	Held    SyncResult = "held"    // the remote would delete too much here
	Foreign SyncResult = "foreign" // the remote holds something else than notes
	Refused SyncResult = "refused" // the remote refuses what is pushed
	Blocked SyncResult = "blocked" // something on this machine has to be mended or finished first
	Failed  SyncResult = "failed"  // anything else
)

// ResultOf tells what an error of a Backend means for the sync.
func ResultOf(err error) SyncResult {
	switch {
	case err == nil, errors.Is(err, context.Canceled):
		return ""
	case errors.Is(err, ErrRefused):
		return Refused
	case errors.Is(err, ErrBlocked), errors.Is(err, ErrNoGit), errors.Is(err, ErrRemote), errors.Is(err, ErrSealed):
		return Blocked
	case errors.Is(err, context.DeadlineExceeded):
		return "" // the caller gave up; a remote that takes too long is Offline
	}
	return Failed
}

// conclude fills in how the sync ended.
func (c *cycle) conclude(ctx context.Context, err error) {
	out := &c.out
	out.Why = strings.Join(c.notes, "; ")
	switch {
	case c.o.Remote == "" || ctx.Err() != nil:
		out.Result, out.Why = "", ""
	case err != nil:
		out.Result, out.Why = ResultOf(err), err.Error()
	case out.Offline:
		out.Result = Offline
	case out.Result == Blocked && out.Why == "":
		out.Why = out.Detail
	}
	if out.Result == Synced || out.Result == "" {
		out.Why = ""
	}
}
