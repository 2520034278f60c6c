package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"anamnesis/internal/replica"
)

// SyncState tells how things stand between this machine and the remote.
type SyncState = replica.SyncState

// SyncStatus tells how things stand between this machine and the remote. It
// asks the repository here and what the last sync wrote down, and no network.
func SyncStatus(ctx context.Context, r *Rooms) (SyncState, error) {
	s := SyncState{
		Off: !r.Config.Sync.On, Remote: replica.HidePassword(r.Config.Sync.Remote), Conflicts: r.Store.Conflicts().Count(),
		Held: []WithheldFile{},
	}
	s.Sealed = seals(r)
	last := readLastSync(r)
	s.LastSync, s.LastTry, s.LastDetail, s.Held = last.OK, last.At, last.Detail, last.Held
	s.State, s.StateText = last.State, last.Why
	backend, err := openOwnReplica(r, SyncOptions{})
	var st replica.State
	if sealed, ok := backend.(*replica.Sealed); ok && err == nil {
		s.Repelled = sealed.Repelled()
	}
	if err == nil {
		st, err = backend.State(ctx)
	}
	if errors.Is(err, replica.ErrNoGit) {
		s.Detail = err.Error()
		return s, nil
	}
	s.Initialized, s.Remote, s.Head, s.Dirty, s.Detail = st.Initialized, st.Remote, st.Head, st.Dirty, st.Detail
	s.Ahead, s.Behind, s.Failures = st.Ahead, st.Behind, st.Failures
	if s.Offline = st.Failures > 0; s.Offline && st.Next.After(r.Store.Now()) {
		s.NextTry = st.Next.UTC().Format(time.RFC3339)
	}
	return s, err
}

// NeedsUser reports whether a sync goes on only when the user does something.
func NeedsUser(s replica.SyncResult) bool { return stillness(s) != "" }

// stillness says in a few words why the sync stands still, empty when it does
// not. The words are ours: what a remote said must not get into a session.
func stillness(s replica.SyncResult) string {
	switch s {
	case replica.Held:
		return "the remote would delete many notes here"
	case replica.Foreign:
		return "the remote holds something else than notes"
	case replica.Refused:
		return "the remote refuses what is sent"
	case replica.Blocked:
		return "something on this machine has to be mended or finished first"
	case replica.Failed:
		return "it fails"
	}
	return ""
}

// SyncNotice is what a session is shown about a sync that stands still, empty
// when none does. It reads one small file.
func SyncNotice(r *Rooms) string {
	why := stillness(LastSync(r).State)
	if why == "" {
		return ""
	}
	return fmt.Sprintf("Notes are not synced between machines until the user acts, because %s: `anamnesis sync --status` says more.", why)
}
