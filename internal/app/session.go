package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/index"
	"anamnesis/internal/inject"
	"anamnesis/internal/note"
	"anamnesis/internal/queue"
	"anamnesis/internal/recall"
	"anamnesis/internal/store"
	"anamnesis/internal/store/project"
)

// StartOptions say what a session is told at its start.
type StartOptions struct {
	Project string             // its key; "" for the one of the event's or the current folder
	K       int                // project notes at most; below 0 the setting inject.k
	Limit   agent.ContextLimit // what the agent takes
}

// previewTime is what a session start may spend on sessions that wait in the queue.
const previewTime = 5 * time.Millisecond

// StartWait is how long a session start waits for a process that has the
// index for itself: the last one that closes it folds the journal and waits for
// the disk. Without such a process it waits for nothing.
const StartWait = time.Second

// SessionStart makes the block that a session is told at its start. It walks no
// folder and waits for no lock.
func SessionStart(ctx context.Context, r *Rooms, e agent.Event, o StartOptions) (inject.Block, inject.Place, error) {
	id := Project(r.Store, o.Project)
	dir, _ := os.Getwd()
	if o.Project == "" && e.Dir != "" {
		id, dir = project.Identify(r.Store, e.Dir), e.Dir
	}
	branches, err := r.branches(ctx, id, dir)
	if err != nil {
		return inject.Block{}, inject.Place{}, err
	}
	place := inject.Place{
		Project: id.Key, Projects: project.Names(r.Store, id), Branches: branches, Session: e.SessionID,
		Limit: o.Limit.Max, Size: o.Limit.Size, Start: agent.InjectStart, End: agent.InjectEnd,
	}
	place.Notice = strings.Join(strings.Fields(r.conflictNotice()+" "+r.syncNotice()+" "+r.IndexTrouble()), " ")
	place.Pending = r.Recorder.Preview(place.Projects, time.Now().Add(r.Config.Wait(previewTime)))
	injector := r.Injector
	if o.K >= 0 {
		opts := r.Config.Inject
		opts.K = o.K
		injector = inject.New(r.Engine, r.Store, opts)
	}
	b, err := injector.Block(ctx, place)
	return b, place, err
}

// branches lists the branches whose notes a session in dir is told besides the
// trunk's, as a search there would find them.
func (r *Rooms) branches(ctx context.Context, id project.Identity, dir string) ([]string, error) {
	opts := r.Config.Recall
	branch := ""
	if id.Source == "flag" { // of another project's branches nothing is known here
		dir = ""
	} else {
		branch = project.BranchScope(dir, id.Branch)
	}
	if opts.Branch != "" {
		branch = strings.TrimPrefix(opts.Branch, "-")
	}
	place, err := r.Engine.Place(ctx, id, branch, func(some []string) []string { return MergedBranches(ctx, r, dir, some) })
	return recall.ScopeOf(place, recall.ScopeOptions{AllBranches: opts.AllBranches}).Branches(), err
}

// conflictNotice is what a session is told about conflicts, empty when there is none.
func (r *Rooms) conflictNotice() string {
	n := r.Store.Conflicts().Count()
	if n == 0 {
		return ""
	}
	verb := "wait"
	if n == 1 {
		verb = "waits"
	}
	return fmt.Sprintf("%s between machines %s for the user: `anamnesis conflicts` lists what to decide.", Plural(n, "conflict"), verb)
}

// Overdue reports whether a job has been in the queue for longer than the
// background run of its own hook can have needed.
func Overdue(r *Rooms) bool {
	jobs, _, err := queue.Of(r.Store).Look(queue.Capture)
	return err == nil && len(jobs) > 0 && time.Since(jobs[0].Created) > time.Minute
}

// fillTime is what a session start may spend on an index that is empty.
const fillTime = time.Second

// Fresh reports whether the index can be trusted without a walk: no folder of
// notes changed since the last one. An index that was never filled is filled
// first, the newest notes before the others, for as long as a hook may take.
func Fresh(ctx context.Context, r *Rooms) (bool, error) {
	_, _, walked, err := r.Index.State(ctx)
	if err != nil && !errors.Is(err, index.ErrLost) {
		return false, err
	}
	if err != nil || walked.IsZero() {
		rep, err := r.Index.Sync(ctx, index.SyncOptions{Budget: r.Config.Wait(fillTime)})
		if errors.Is(err, index.ErrBusy) { // somebody else fills it: what is there is told
			return false, nil
		}
		return rep.Stale == 0, err
	}
	for _, scope := range []note.Scope{note.Portable, note.Local} {
		for _, t := range note.Types {
			fi, err := os.Stat(r.Store.Path(folder(scope, t)))
			if err == nil && fi.ModTime().After(walked) {
				return false, nil
			}
		}
	}
	return true, nil
}

// folder is where new notes of a type stand.
func folder(scope note.Scope, t note.Type) string {
	path := store.NotePath(scope, t, "x")
	return path[:len(path)-len("/x.md")]
}
