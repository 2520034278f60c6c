package hooks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/app"
	"anamnesis/internal/index"
	"anamnesis/internal/inject"
	"anamnesis/internal/note"
	"anamnesis/internal/recall"
	"anamnesis/internal/store/project"
	"anamnesis/internal/store/queue"
)

// StartOptions say what a session is shown at its start.
type StartOptions struct {
	Project string             // its key; "" for the one of the event's or the current folder
	Limit   agent.ContextLimit // what the agent takes

	Instructed bool // what the instructions of the MCP server say is left out
}

// previewTime is what a session start may spend on sessions that wait in the queue.
const previewTime = 5 * time.Millisecond

// StartWait is how long a session start waits for a process that has the
// index for itself: the last one that closes it folds the journal and waits for
// the disk. Without such a process it waits for nothing.
const StartWait = time.Second

// SessionStart makes the page that a session is shown at its start. It walks no
// folder and waits for no lock.
func SessionStart(ctx context.Context, r *app.Rooms, e agent.Event, o StartOptions) (inject.Block, inject.Place, error) {
	place, scope, err := sessionPlace(ctx, r, e, o.Project, o.Limit)
	if err != nil {
		return inject.Block{}, inject.Place{}, err
	}
	if q, err := r.Store.Spool().Quiet(); err == nil && q.Session(e.SessionID) { // resumed, or after /clear
		return inject.Block{}, place, nil
	}
	// What cannot be counted is said by those who are asked for it.
	waits, _ := app.CountWaiting(ctx, r, app.WaitingConflict)
	notices := []string{
		conflictNotice(waits), withheldNotice(r), policyNotice(r.Store), app.SyncNotice(r), app.TeamNotice(ctx, r), r.IndexTrouble(),
	}
	place.Notice = strings.Join(strings.Fields(strings.Join(notices, " ")), " ")
	place.Pending = r.Recorder.Preview(place.Projects, time.Now().Add(r.Config.Wait(previewTime)))
	place.Work = workAtStart(ctx, r.Host, e)
	q := recall.Query{Session: e.SessionID}
	scope.Apply(&q)
	if goesOn(e) {
		place.Resumed = true
		if st, err := r.Store.Spool().ShownLog(e.SessionID, "").State(); err == nil {
			place.Since = st.Started
		}
	}
	place.Loaded = func() []inject.Loaded { return loaded(r, e, place.Clone) }
	place.Instructed = o.Instructed
	b, err := r.Injector.Page(ctx, place, q)
	if err == nil && o.Project == "" && !goesOn(e) {
		offerProject(ctx, r, place, &b)
	}
	if err == nil {
		if err := addUnread(ctx, r, e, place, &b); err != nil { // the page is shown without it
			b.Missing = append(b.Missing, err.Error())
		}
	}
	return b, place, err
}

// offerProject adds the line about the project that the folder of a start probably is, while its own has no notes.
func offerProject(ctx context.Context, r *app.Rooms, place inject.Place, b *inject.Block) {
	o, err := app.OfferOf(ctx, r, place.Root)
	switch {
	case err != nil:
		b.Missing = append(b.Missing, "look for the project of this folder: "+err.Error())
	case o != nil:
		b.Append(place, "For your user: this folder may be "+note.Harmless(o.Line()))
	}
}

// goesOn reports whether the session of a start event has the context of an earlier one.
func goesOn(e agent.Event) bool { return e.Source == "resume" || e.Source == "fork" }

// sessionPlace works out where the session of an event works, and which notes are shown
// there: those that a search would find. key names another project.
func sessionPlace(
	ctx context.Context, r *app.Rooms, e agent.Event, key string, limit agent.ContextLimit,
) (inject.Place, recall.Scope, error) {
	var id project.Identity
	dir := e.Dir
	if key == "" && dir != "" {
		id = app.Here(ctx, r, dir)
	} else {
		id = app.NamedOrHere(ctx, r, key)
		dir, _ = os.Getwd()
	}
	branch, clone := "", ""
	if id.Source != "flag" { // of another project's branches nothing is known here
		branch, clone = project.BranchScope(dir, id.Branch), project.Top(dir)
	}
	scope, err := scopeOf(ctx, r, id, dir, branch)
	return inject.Place{
		Root: dir, Clone: clone, Branch: branch, Project: id.Key, Projects: project.Names(r.Store, id), Branches: scope.Branches(),
		Session: e.SessionID, Agent: e.SubagentID,
		Machine: r.Config.MachineID, HasBranch: func(branch string) bool { return project.HasBranch(dir, branch) },
		Limit: limit.Max, Size: limit.Size, Start: agent.InjectStart, End: agent.InjectEnd,
	}, scope, err
}

// scopeOf works out which notes a session on a branch in dir may be shown.
func scopeOf(ctx context.Context, r *app.Rooms, id project.Identity, dir, branch string) (recall.Scope, error) {
	if id.Source == "flag" {
		dir = ""
	}
	place, err := r.Engine.Place(ctx, id, branch, false, func(some []string) []string { return app.OpenBranches(ctx, r, dir, some) })
	return recall.ScopeOf(place, recall.ScopeOptions{AllBranches: r.Config.Recall.AllBranches}), err
}

// LogShownAtStart remembers what a session was shown at its start, so that no prompt shows it
// again. A session that is resumed keeps what it was shown before.
func LogShownAtStart(r *app.Rooms, e agent.Event, b inject.Block) error {
	if e.SessionID == "" || r.Store.ReadOnly() {
		return nil
	}
	shown := r.Store.Spool().ShownLog(e.SessionID, "")
	if err := shown.Begin(!goesOn(e)); err != nil {
		return err
	}
	_, err := shown.Claim(b.Injections...)
	return errors.Join(err, shown.ShowLines(b.Named...))
}

// conflictNotice is what a session is shown about conflicts, empty when there is none.
func conflictNotice(w app.Waits) string {
	n := w[app.WaitingConflict]
	if n == 0 {
		return ""
	}
	verb := "wait"
	if n == 1 {
		verb = "waits"
	}
	return fmt.Sprintf("%s between machines %s for the user: `anamnesis review conflicts` lists what to decide.",
		app.Plural(n, "conflict"), verb)
}

// withheldNotice is what a session is shown about files that do not travel, empty when there
// is none: one line, whatever their number. It says what the last sync met.
func withheldNotice(r *app.Rooms) string {
	n := len(app.NotSent(r))
	if n == 0 {
		return ""
	}
	verb := "are"
	if n == 1 {
		verb = "is"
	}
	return fmt.Sprintf("%s %s not synced until the user decides: `anamnesis review held`.", app.Plural(n, "note"), verb)
}

// Overdue reports whether a job has been in the queue for longer than the
// background run of this hook can have needed.
func Overdue(r *app.Rooms) bool {
	jobs, _, err := queue.Of(r.Store).Look(queue.Capture)
	return err == nil && len(jobs) > 0 && time.Since(jobs[0].Created) > time.Minute
}

// fillTime is what a session start may spend on an index that is empty.
const fillTime = time.Second

// Fresh reports whether the index can be trusted without a walk: no folder of
// notes changed since the last one. An index that was never filled is filled
// first, the newest notes before the others, for as long as a hook may take.
func Fresh(ctx context.Context, r *app.Rooms) (bool, error) {
	_, _, walked, err := r.Index.State(ctx)
	if err != nil && !errors.Is(err, index.ErrLost) {
		return false, err
	}
	if err != nil || walked.IsZero() {
		rep, err := r.Index.Sync(ctx, index.SyncOptions{Budget: r.Config.Wait(fillTime)})
		if errors.Is(err, index.ErrBusy) { // somebody else fills it: what is there is shown
			return false, nil
		}
		return rep.Stale == 0, err
	}
	return app.Unchanged(r, walked), nil
}
