// Package background is the run that nobody waits for. It does what hooks left in the queue: it
// captures sessions, keeps the index and the graph in step, consolidates and expires notes, lets
// a model read and distil where one is configured, syncs, and exchanges notes with a team.
//
// Failure policy: a job goes only when it is done or set aside; what fails is named in
// DrainResult and the run goes on.
package background

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"anamnesis/internal/app"
	"anamnesis/internal/app/curate"
	"anamnesis/internal/app/setup"
	"anamnesis/internal/connect"
	"anamnesis/internal/index"
	"anamnesis/internal/ingest"
	"anamnesis/internal/store"
	"anamnesis/internal/store/queue"
)

// DrainResult is what a background run did.
type DrainResult struct {
	Busy     bool            `json:"busy"` // another drain is at work
	Captured int             `json:"captured"`
	Trivial  int             `json:"trivial"`
	Failed   []string        `json:"failed"`
	Left     int             `json:"left"`
	Indexed  int             `json:"indexed"`
	Sync     *app.SyncResult `json:"sync,omitempty"`

	Reflected  int `json:"reflected"`  // notes distilled
	Expired    int `json:"expired"`    // notes archived, because their time was over
	Observed   int `json:"observed"`   // observations made of learnings, or added to
	Skills     int `json:"skills"`     // patches of skills that wait now
	Read       int `json:"read"`       // sessions that a model read
	Learnt     int `json:"learnt"`     // rules that it wrote, or confirmed
	Summarised int `json:"summarised"` // notes of earlier runs that a model summarised at a later try

	Programs int `json:"programs"` // of the user that were run for events

	Shared app.TeamResult `json:"shared"` // with the team's database
	Home   app.HomeResult `json:"home"`   // with machines without a store

	reflect []string // projects of which a session has ended
	dirs    []string // folders in which these sessions worked
}

// Drain does the work that hooks left: it captures sessions, brings the index
// into step, folds the event log, commits, distils if that is switched on, and
// syncs if asked or if a job asked for it. When the notes of a team could not be exchanged
// the error is of kind Degraded, and all the rest is done. One process does it at a time (the
// lock "drain"); a second one returns Busy. It can be killed at any point, and
// what it did not finish is done by the next run. An error is in the event log.
func Drain(ctx context.Context, r *app.Rooms, sync bool) (d DrainResult, err error) {
	d.Failed = []string{}
	defer func() { // a background run has nobody to tell; Exchange has written its error down itself
		if e := (*app.Error)(nil); err != nil && !(errors.As(err, &e) && e.Err == nil) {
			_ = r.Store.Events().Log(store.Record{Kind: store.Drained, Error: err.Error()})
		}
	}()
	if err := r.MayRedact(); err != nil {
		return d, err
	}
	if err := app.AskServer(ctx, r); err != nil {
		return d, err // what hooks left waits
	}
	r.Drains = true
	app.SummarizeQueued(r)
	began := time.Now()
	for {
		unlock, ok, err := r.Store.TryLock("drain")
		if err != nil {
			return d, err
		}
		if !ok {
			d.Busy = true
			break
		}
		left, err := drainOnce(ctx, r, &d, &sync)
		unlock()
		if err != nil {
			return d, err
		}
		// A hook may have left a job between the last look and the unlocking, and
		// the drain it started has left because of our lock.
		if jobs, _, err := queue.Of(r.Store).Look(queue.Capture); err != nil || len(jobs) <= left || ctx.Err() != nil {
			break
		}
		if time.Since(began) > drainTurn { // jobs may come as fast as they are done
			_ = r.Detach("drain")
			break
		}
	}
	d.fail(app.LookAtNewPlaces(ctx, r))
	taken, err := curate.TakePast(ctx, r)
	d.fail(err)
	sync = sync || taken > 0
	// Without the lock of the drain: a model or a remote that hangs must not hold
	// up captures. What was captured is committed by now.
	read, failed := app.ReadSessions(ctx, r)
	d.Read, d.Learnt, d.Failed = read.Sessions, len(read.Learnt), append(d.Failed, failed...)
	d.Reflected, failed = app.AutoReflect(ctx, r, d.reflect)
	d.Failed = append(d.Failed, failed...)
	d.Observed, failed = curate.ConsolidateDue(ctx, r)
	d.Failed = append(d.Failed, failed...)
	d.Skills, failed = curate.ProposeSkillPatches(ctx, r)
	d.Failed = append(d.Failed, failed...)
	d.Programs, err = app.RunPrograms(ctx, r)
	d.fail(err)
	d.fail(app.SendDrafts(ctx, r))
	if sync {
		var err error
		d.Home, err = app.ExchangeHome(ctx, r)
		d.fail(err)
		s, err := app.Sync(ctx, r, app.SyncOptions{Remote: true, Automatic: true})
		d.fail(err)
		d.Sync = &s
	}
	if d.Shared, err = app.Exchange(ctx, r, app.ExchangeOptions{}); err != nil {
		d.fail(err)
		return d, &app.Error{Kind: app.Degraded}
	}
	return d, nil
}

// drainTurn is how long a run goes on with jobs that came after it had begun. Those
// that come later are for the next run, which it starts.
const drainTurn = 3 * time.Second

// fail notes a failure. An index that another process writes is none: the next run goes on.
func (d *DrainResult) fail(err error) {
	if err != nil && !errors.Is(err, index.ErrBusy) {
		d.Failed = append(d.Failed, err.Error())
	}
}

// drainOnce does everything that waits, up to the commit. It returns the number
// of jobs that could not be done, and sets sync if one of them asked for that.
func drainOnce(ctx context.Context, r *app.Rooms, d *DrainResult, sync *bool) (left int, err error) {
	began := time.Now()
	if err := sweep(ctx, r); err != nil {
		d.fail(fmt.Errorf("look for sessions that ended without an event: %w", err))
	}
	if jobs, _, err := queue.Of(r.Store).Look(queue.Capture); err == nil && len(jobs) > 0 {
		app.ImportNative(ctx, r) // what the agent wrote into its own memory is joined with what was typed
	}
	bar := r.Progress("capturing sessions")
	done, err := r.Recorder.Drain(ctx, func(n, left int) { bar.Step(n, n+left) })
	bar.Done()
	if err != nil {
		return done.Left, err
	}
	for _, c := range done.Captured {
		d.Captured++
		if c.Trivial {
			d.Trivial++
		}
		if c.Source != "precompact" && !slices.Contains(d.reflect, c.Project) {
			d.reflect = append(d.reflect, c.Project)
		}
		if c.Dir != "" && !slices.Contains(d.dirs, c.Dir) {
			d.dirs = append(d.dirs, c.Dir)
		}
	}
	d.Failed, d.Left = append(d.Failed, done.Failed...), done.Left
	d.Summarised += done.Summarised
	d.fail(app.TendSessions(ctx, r))
	d.fail(app.TendUnread(r))
	if app.Due(r, "cache/swept", time.Hour) {
		store.Sweep(r.Store)
	}
	_, err = app.EraseForgotten(ctx, r)
	d.fail(err)
	d.fail(r.Store.Spool().SweepShownLogs())
	rep, err := r.Index.Sync(ctx, index.SyncOptions{})
	if err != nil && !errors.Is(err, index.ErrBusy) {
		return done.Left, err
	}
	d.Indexed += rep.Indexed
	if err := r.Index.Fold(ctx); err != nil && !errors.Is(err, index.ErrBusy) {
		return done.Left, err
	}
	expire(ctx, r, d)
	d.fail(ingest.InboxOf(r.Ingester).AdoptNominated(ctx))
	_, err = app.RefreshSkills(ctx, r, d.dirs)
	d.fail(err)
	d.fail(setup.ShowRules(ctx, r))
	refreshDerived(ctx, r, d)
	_, err = r.Store.Events().Compact()
	d.fail(err)
	*sync = *sync || done.Sync
	s, err := app.Sync(ctx, r, app.SyncOptions{})
	d.fail(err)
	d.Sync = &s
	rec := store.Record{Kind: store.Drained, Count: len(done.Captured), MS: float64(time.Since(began).Milliseconds())}
	if len(d.Failed) > 0 {
		rec.Error = d.Failed[0]
	}
	return done.Left, r.Store.Events().Log(rec)
}

// sweep leaves jobs for the sessions of connected agents that nobody captured: their clients
// were killed, or the hook that had to leave a job could not.
func sweep(ctx context.Context, r *app.Rooms) error {
	sweep, err := r.Recorder.Sweep()
	if sweep == nil || err != nil {
		return err
	}
	connected := connect.ConnectedSince(r.Store)
	rested, err := app.NewImporter(r, "").Rested(ctx, func(agent string) (from, until time.Time, ok bool) {
		return sweep.Rested(agent, connected[agent])
	})
	_, settled, qerr := sweep.Queue(rested.Sessions)
	return errors.Join(err, qerr, rested.Keep(settled))
}

// embedBudget is how long one background run embeds notes for a model that was
// configured; the next one goes on.
const embedBudget = time.Minute

// refreshDerived brings into step what recall works out of the notes: the
// vectors of the present model, and the numbers of the gate.
func refreshDerived(ctx context.Context, r *app.Rooms, d *DrainResult) {
	_, err := r.Index.EmbedMissing(ctx, embedBudget, nil)
	d.fail(err)
	if app.Away(r) { // the server keeps no numbers
		return
	}
	if _, err := r.Engine.CalibrateAll(ctx); err != nil && !errors.Is(err, index.ErrBusy) { // then the next run does it
		d.fail(fmt.Errorf("calibrate the gate: %w", err))
	}
}

// expire archives what is over, in the background, when that is switched on.
func expire(ctx context.Context, r *app.Rooms, d *DrainResult) {
	if !r.Config.Reflection.Expire {
		return
	}
	running, _ := app.BeginRun(ctx, r, "expire")
	done, err := app.PlainReflector(r).Expire(running)
	d.Expired += len(done)
	if err = app.StaleIndex(r, err); err != nil {
		d.fail(fmt.Errorf("archive what is over: %w", err))
	}
}

// DrainTeam is the background run of a command that wrote notes which a team may want: it
// sends these, takes in what is new, and leaves everything else to other runs.
func DrainTeam(ctx context.Context, r *app.Rooms) (d DrainResult, err error) {
	r.Drains, d.Failed = true, []string{}
	d.Shared, err = app.Exchange(ctx, r, app.ExchangeOptions{Brief: true, Wait: app.ForegroundWait})
	d.Busy = d.Shared.Busy
	return d, err
}
