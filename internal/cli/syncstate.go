package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"anamnesis/internal/replica"
)

// syncState tells how things stand between this machine and the remote.
type syncState struct {
	Initialized bool       `json:"initialized"`
	Remote      string     `json:"remote"`
	Head        string     `json:"head"`
	Dirty       bool       `json:"dirty"`
	Detail      string     `json:"detail"`
	Ahead       int        `json:"ahead"`  // commits that the remote lacks
	Behind      int        `json:"behind"` // commits of the remote that are not here, when it was last asked
	Offline     bool       `json:"offline"`
	LastSync    string     `json:"last_sync"` // when the remote was last reached, empty when never
	LastTry     string     `json:"last_try"`
	LastDetail  string     `json:"last_detail"`
	Failures    int        `json:"failures"`     // attempts in a row that did not reach the remote
	NextTry     string     `json:"next_attempt"` // before that, background runs leave the remote alone
	Held        []heldFile `json:"held"`
	Conflicts   int        `json:"conflicts"`
	// State is how the last exchange ended: synced, offline, held, foreign,
	// refused, blocked or failed; empty when there was none with this remote.
	State     replica.Standing `json:"state,omitempty"`
	StateText string           `json:"state_text,omitempty"` // one line, when it is not synced
}

func (p *program) syncState(ctx context.Context, m *memory) (syncState, error) {
	s := syncState{Remote: replica.HidePassword(p.cfg.Sync.Remote), Conflicts: m.store.CountConflicts(), Held: []heldFile{}}
	last := m.lastSync()
	s.LastSync, s.LastTry, s.LastDetail, s.Held = last.OK, last.At, last.Detail, last.Held
	s.State, s.StateText = last.State, last.Why
	backend, err := p.replica(m, exchange{})
	var st replica.State
	if err == nil {
		st, err = backend.State(ctx)
	}
	if errors.Is(err, replica.ErrNoGit) {
		s.Detail = err.Error()
		return s, nil
	}
	s.Initialized, s.Remote, s.Head, s.Dirty, s.Detail = st.Initialized, st.Remote, st.Head, st.Dirty, st.Detail
	s.Ahead, s.Behind, s.Failures = st.Ahead, st.Behind, st.Failures
	if s.Offline = st.Failures > 0; s.Offline && st.Next.After(m.store.Now()) {
		s.NextTry = st.Next.UTC().Format(time.RFC3339)
	}
	return s, err
}

func (p *program) syncStatus(ctx context.Context, m *memory) error {
	s, err := p.syncState(ctx, m)
	if err != nil {
		return err
	}
	if p.json {
		return p.emit(struct {
			header
			syncState
		}{head("sync"), s})
	}
	remote := s.Remote
	if remote == "" {
		remote = "none; `anamnesis config set remote ADDRESS` sets one"
	}
	p.printf("remote: %s\n", remote)
	switch {
	case !s.Initialized:
		p.printf("here: %s\n", s.Detail)
	case s.Dirty:
		p.printf("here: %s, and changes that are not committed (%s)\n", s.Head, s.Detail)
	default:
		p.printf("here: %s (%s)\n", s.Head, s.Detail)
	}
	switch {
	case s.LastSync != "":
		p.printf("last sync: %s\n", s.LastSync)
	case s.Remote != "":
		p.printf("last sync: never\n")
	}
	p.printSyncState(s)
	return nil
}

// printSyncState prints what does not go without saying.
func (p *program) printSyncState(s syncState) {
	if s.Remote != "" && s.Ahead+s.Behind > 0 {
		p.printf("distance: %s to send, %s to take\n", plural(s.Ahead, "commit"), plural(s.Behind, "commit"))
	}
	if s.Offline {
		next := ""
		if s.NextTry != "" {
			next = fmt.Sprintf("; background runs try again after %s", s.NextTry)
		}
		p.printf("offline: %s failed%s; `anamnesis sync` tries now\n", plural(s.Failures, "attempt"), next)
	}
	switch {
	case s.State == replica.Held:
		p.printf("not taken: %s\n", s.StateText)
	case standsStill(s.State):
		p.printf("sync %s: %s\n", s.State, s.StateText)
	}
	for _, h := range s.Held {
		p.printf("not sent: memory/%s: %s\n", h.Path, h.Why)
	}
	if s.Conflicts > 0 {
		p.printf("conflicts: %d to decide; `anamnesis conflicts` lists them\n", s.Conflicts)
	}
}

// standsStill reports whether a sync goes on only when the user does something.
func standsStill(s replica.Standing) bool { return stillness(s) != "" }

// stillness says in a few words why the sync stands still, empty when it does
// not. The words are ours: what a remote said must not get into a session.
func stillness(s replica.Standing) string {
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

// syncNotice is what a session is told about a sync that stands still, empty
// when none does. It reads one small file.
func (m *memory) syncNotice() string {
	why := stillness(m.readSync().State)
	if why == "" {
		return ""
	}
	return fmt.Sprintf("Notes are not synced between machines until the user acts, because %s: `anamnesis sync --status` says more.", why)
}
