// Package diagnose holds the use cases that look at a store and change nothing: status, statistics,
// costs, features, what a shell offers to complete, and the doctor with what it may repair.
//
// Failure policy: that of package app; a part that cannot be read is named and the rest answered.
package diagnose

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"anamnesis/internal/app"
	"anamnesis/internal/app/history"
	"anamnesis/internal/app/hooks"
	"anamnesis/internal/index"
	"anamnesis/internal/store"
	"anamnesis/internal/store/project"
	"anamnesis/internal/store/queue"
	"anamnesis/internal/unread"
)

// StatusAnswer is what is in the store and what needs attention.
type StatusAnswer struct {
	Root        string            `json:"root"`
	DBPath      string            `json:"db_path"`
	ReadOnly    bool              `json:"read_only"`
	Unwritable  string            `json:"unwritable,omitempty"` // why
	Total       int               `json:"total"`
	ByType      app.Counts        `json:"by_type"`
	ByProject   app.Counts        `json:"by_project"`
	ByScope     app.Counts        `json:"by_scope"`
	ByWorkspace app.Counts        `json:"by_workspace"`
	Sync        app.SyncState     `json:"sync"`
	Damaged     []app.DamagedNote `json:"damaged"`
	Recall      app.RecallState   `json:"recall"`
	Reader      string            `json:"reader"` // of ended sessions: agent only, or model NAME
	Spool       int               `json:"spool"`
	Poisoned    []string          `json:"poisoned"`
	Unread      unread.Count      `json:"unread"`        // what users typed and no reader has decided on
	UnreadFor   string            `json:"unread_for"`    // the agents that are shown it: same, any or off
	Paused      bool              `json:"unread_paused"` // no agent answered for long, and nothing is shown at starts
	Waiting     app.Waits         `json:"waiting"`       // for a decision of the user
	Held        int               `json:"held"`          // the drafts of them
	Review      int               `json:"review"`        // those that `anamnesis review` lists
	Refused     app.Refused       `json:"refused"`       // because it reads like orders to an agent
	Team        *app.TeamStatus   `json:"team"`          // null without one
	Trusted     []store.Teammate  `json:"trusted_teammates"`
	Server      string            `json:"index_server,omitempty"` // of the index of this machine, how it answers
	Problems    []app.ProblemView `json:"problems"`
	Links       []string          `json:"links"`
	Aside       []string          `json:"set_aside"` // index files of other programs
	EventBytes  int64             `json:"event_bytes"`
	IndexBytes  int64             `json:"index_bytes"`
	Stale       int               `json:"stale"`
	Rules       string            `json:"redaction_rules,omitempty"` // why redact.toml cannot be used
	Policy      string            `json:"policy,omitempty"`          // why rules of the policy do not hold

	GivenUp []queue.Problem `json:"-"` // Poisoned with the reasons
}

// Status tells what is in the store and what needs attention.
func Status(ctx context.Context, r *app.Rooms) (s StatusAnswer, err error) {
	var repository app.SyncState // git walks the tree beside us
	var failed error
	var asked sync.WaitGroup
	asked.Go(func() { repository, failed = app.SyncStatus(ctx, r) })
	var unseen []store.Unseen
	var links []string
	asked.Go(func() { unseen, links, _ = store.LookUnseen(r.Store) })
	defer asked.Wait()
	s = StatusAnswer{
		Root: r.Store.Root(), DBPath: r.Store.Path("index.db"), ReadOnly: r.Store.ReadOnly(), Stale: r.Stale,
		ByType: app.Counts{}, ByProject: app.Counts{}, ByScope: app.Counts{}, ByWorkspace: app.Counts{},
		GivenUp:    queue.Of(r.Store).Poisoned(),
		EventBytes: r.Store.Events().Size(), Waiting: app.Waits{},
	}
	if err := store.Unwritable(r.Store); err != nil {
		s.Unwritable = err.Error()
	}
	for _, p := range s.GivenUp {
		s.Poisoned = append(s.Poisoned, p.Path)
	}
	if app.Away(r) {
		s.Server = "which answers"
		if err := app.AskServer(ctx, r); err != nil { // the rest is counted in the index
			asked.Wait()
			s.Server, s.Sync = err.Error(), repository
			return s, nil
		}
	}
	s.UnreadFor = r.Config.Unread.For
	s.Paused, _ = unread.Of(r.Store).Paused() // a state that cannot be read pauses nothing
	if s.Unread, err = unread.Of(r.Store).Count(); err != nil {
		return s, err
	}
	if s.Waiting, err = app.CountWaiting(ctx, r); err != nil {
		return s, err
	}
	s.Held, s.Review = s.Waiting[app.WaitingDraft], s.Waiting.Sum(app.Reviewed()...)
	if s.Refused, err = app.RefusedIn(r, s.Waiting[app.WaitingQuarantine]); err != nil {
		return s, err
	}
	s.Aside, _ = filepath.Glob(s.DBPath + ".foreign-*[0-9]")
	tallies, err := r.Index.Tally(ctx, index.Filter{Dead: true})
	if err != nil {
		return s, err
	}
	for _, t := range tallies {
		s.Total += t.Notes
		s.ByType[string(t.Type)] += t.Notes
		s.ByProject[t.Project] += t.Notes
		s.ByScope[string(t.Scope)] += t.Notes
		s.ByWorkspace[t.Workspace] += t.Notes
	}
	found, err := r.Index.Problems(ctx)
	if err != nil {
		return s, err
	}
	s.Problems = app.ViewProblems(r, found)
	if s.Damaged, err = history.Damaged(ctx, r); err != nil {
		return s, err
	}
	if jobs, _, err := queue.Of(r.Store).Look(queue.Capture); err == nil {
		s.Spool = len(jobs)
	}
	s.IndexBytes = app.SizeOf(s.DBPath)
	s.Reader, _ = app.ReaderName(r) // doctor says what is wrong with it
	if r.Rules != nil {
		s.Rules = r.Rules.Error()
	}
	s.Policy = hooks.PolicyTrouble(r.Store)
	if s.Recall, err = app.RecallStatus(ctx, r); err != nil {
		return s, err
	}
	s.Trusted = app.TrustedTeammates(r.Store)
	if s.Team, err = app.ReadTeamStatus(ctx, r); err != nil {
		return s, err
	}
	asked.Wait()
	s.Sync, s.Links = repository, links
	for _, u := range unseen {
		s.Problems = append(s.Problems, app.ProblemView{Path: r.Store.Path(u.Path), Reason: u.Why})
	}
	return s, failed
}

// A Glance is what a status line shows.
type Glance struct {
	Empty     bool // there is no store yet
	Notes     int
	Here      int // live notes of the current folder's project
	Synced    *SyncGlance
	Conflicts int
	Held      int
	Waiting   int   // sessions to capture
	Shown     int   // notes that the session was shown
	Quiet     bool  // prompts are shown nothing now
	Rules     error // why redact.toml cannot be used
}

// A SyncGlance is how the last sync ended.
type SyncGlance struct {
	State   string // when it stands still: why
	At      string // RFC 3339; "" when it never reached the remote
	Offline bool
}

// TakeGlance collects what a status line shows, of a session too if one is named. It
// walks nothing and writes nothing.
func TakeGlance(ctx context.Context, h app.Host, session string) (g Glance, err error) {
	if _, err := os.Stat(h.Config.Home); errors.Is(err, fs.ErrNotExist) {
		return Glance{Empty: true}, nil
	}
	r, err := app.Open(ctx, h, 0)
	if err != nil {
		return g, err
	}
	defer r.Close()
	st, err := r.Index.Statistics(ctx)
	if err != nil {
		return g, err
	}
	waits, err := app.CountWaiting(ctx, r, app.WaitingConflict, app.WaitingDraft)
	if err != nil {
		return g, err
	}
	g = Glance{
		Notes: st.Notes, Here: projectNotes(ctx, r), Conflicts: waits[app.WaitingConflict], Held: waits[app.WaitingDraft], Rules: r.Rules,
	}
	if jobs, _, err := queue.Of(r.Store).Look(queue.Capture); err == nil {
		g.Waiting = len(jobs)
	}
	if session != "" {
		if st, err := r.Store.Spool().ShownLog(session, "").State(); err == nil {
			g.Shown = st.Count()
		}
	}
	quiet, err := hooks.Quiet(r, session, "")
	g.Quiet = err != nil || quiet != ""
	if r.Config.Sync.Remote != "" {
		last := app.LastSync(r)
		g.Synced = &SyncGlance{At: last.OK, Offline: last.Offline}
		if app.NeedsUser(last.State) {
			g.Synced.State = string(last.State)
		}
	}
	return g, nil
}

// projectNotes counts the live notes of this folder's project.
func projectNotes(ctx context.Context, r *app.Rooms) (n int) {
	counts, err := r.Index.PerProject(ctx, index.Filter{Projects: project.Names(r.Store, app.PlaceProject(r.Store, "")), Now: r.Store.Now()})
	if err != nil {
		return 0
	}
	for _, c := range counts {
		n += c
	}
	return n
}
