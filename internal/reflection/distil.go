package reflection

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/ingest"
	"anamnesis/internal/learn"
	"anamnesis/internal/llm"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
	"anamnesis/internal/store/queue"
)

// A Plan is what a distillation of a project would be about.
type Plan struct {
	Project    string
	Sessions   int  // that wait to be distilled
	Enough     bool // at least Options.MinSessions
	Unfinished int  // batches of a run that was killed; the next run finishes them
}

// Plan tells for a project, or for all that have sessions to distil (""), what
// Apply would do. It asks no model and reads no file.
func (r *Reflector) Plan(ctx context.Context, project string) ([]Plan, error) {
	rows, err := r.sessions(ctx, project)
	if err != nil {
		return nil, err
	}
	batches, err := r.unfinished()
	if err != nil {
		return nil, err
	}
	at := make(map[string]*Plan)
	of := func(key string) *Plan {
		if at[key] == nil {
			at[key] = &Plan{Project: key}
		}
		return at[key]
	}
	if project != "" {
		of(project)
	}
	for _, row := range rows {
		of(row.Project).Sessions++
	}
	for _, b := range batches {
		if project == "" || b.Payload.Project == project {
			of(b.Payload.Project).Unfinished++
		}
	}
	var plans []Plan
	for _, p := range at {
		p.Enough = r.enough(p.Sessions)
		plans = append(plans, *p)
	}
	slices.SortFunc(plans, func(a, b Plan) int { return strings.Compare(a.Project, b.Project) })
	return plans, nil
}

func (r *Reflector) enough(sessions int) bool {
	return sessions >= cmp.Or(r.opts.MinSessions, LeastSessions)
}

// Request returns the prompt that Apply would send for a project, byte for byte,
// and from how many sessions it is made. With none there is nothing to send.
func (r *Reflector) Request(ctx context.Context, project string) (p llm.Prompt, sessions int, err error) {
	in, err := r.distilInput(ctx, project)
	if err != nil || len(in.notes) == 0 {
		return llm.Prompt{}, 0, err
	}
	return r.Prompt(distilPrompt, in.text), len(in.notes), nil
}

// distilInput reads the sessions of a project that fit into one prompt.
func (r *Reflector) distilInput(ctx context.Context, project string) (packed, error) {
	rows, err := r.sessions(ctx, project)
	if err != nil {
		return packed{}, err
	}
	notes := r.read(rows, func(n *note.Note) bool { return r.distillable(n, project) })
	return r.pack(notes, func(n *note.Note) string { return "## " + n.Title }), nil
}

// A Report says what became of a project.
type Report struct {
	Project  string
	Sessions int       // that were distilled, and are tagged so
	Notes    []Written // what came of them
	Left     int       // sessions that wait for the next run: there was no room, or they are too few
	Changed  []note.ID // sessions that somebody changed since; they are distilled again
	Resumed  bool      // a batch of an earlier run was finished
	Stale    error     // all is safe on the disk, the index does not know it yet
	Err      error     // of ApplyAll: why this project was skipped
}

// Wrote counts the notes of a report that are on the disk because of it.
func (r *Report) Wrote() int {
	n := 0
	for _, w := range r.Notes {
		if w.Result == ingest.Created || w.Result == ingest.Updated {
			n++
		}
	}
	return n
}

// A Written is what became of a note that a model proposed.
type Written struct {
	ID          note.ID
	Type        note.Type
	Title       string
	Result      ingest.Result // Held and Dropped are results too: the note is dealt with
	Why         string        // for Held and Dropped
	Quarantined bool          // it reads like orders to an agent, and waits for its owner
}

// distilling is what a model is asked about sessions.
var distilling = learn.Rewrite[[]Distilled]{Purpose: "reflect", System: distilPrompt, Loose: true, Check: checkDistilled}

// Apply distils the sessions of one project, and first of all finishes what an
// earlier run left. The model is asked before anything is written, and again when its answer
// cannot be used (llm.Tries); it is not when there are fewer sessions than
// Options.MinSessions.
//
// With an error the report says what was finished nevertheless.
func (r *Reflector) Apply(ctx context.Context, project string) (rep Report, err error) {
	rep.Project = project
	unlock, err := r.lock()
	if err != nil {
		return rep, err
	}
	defer unlock()
	if err := r.resume(ctx, project, &rep); err != nil {
		return rep, err
	}
	in, err := r.distilInput(ctx, project)
	if err != nil {
		return rep, err
	}
	if rep.Left = len(in.notes) + in.left; !r.enough(rep.Left) {
		return rep, nil
	}
	items, err := distilling.Ask(ctx, &r.Rewriter, in.text)
	if bad := llm.Invalid(err); bad != nil && bad.Class != llm.SchemaInvalid {
		err = fmt.Errorf("reflection output is not a JSON array: %w", err)
	}
	if err != nil {
		return rep, err
	}
	id, batch, err := r.batch(project, in.notes, items)
	if err != nil {
		return rep, err
	}
	job, err := queue.Of(r.Store).Enqueue(queue.Batch, id, batch, time.Time{})
	if err != nil {
		return rep, err
	}
	rep.Left = in.left
	return rep, r.finish(ctx, queue.With[Batch]{Job: job, Payload: batch}, &rep)
}

// ApplyAll is Apply for a project, or for every one that has sessions to distil
// (""), in the order of their names. A project that fails has Err in its report
// and stops no other; only what concerns all of them ends the run.
func (r *Reflector) ApplyAll(ctx context.Context, project string) ([]Report, error) {
	plans, err := r.Plan(ctx, project)
	if err != nil {
		return nil, err
	}
	var reports []Report
	for _, p := range plans {
		if !p.Enough && p.Unfinished == 0 {
			continue
		}
		rep, err := r.Apply(ctx, p.Project)
		if errors.Is(err, learn.ErrNoModel) || errors.Is(err, store.ErrLocked) || errors.Is(err, store.ErrReadOnly) || ctx.Err() != nil {
			return append(reports, rep), err
		}
		rep.Err = err
		reports = append(reports, rep)
	}
	return reports, nil
}

// Auto is what follows the capture of a session: Apply, when that is switched
// on and a model is configured, and nothing otherwise.
func (r *Reflector) Auto(ctx context.Context, project string) (Report, error) {
	if !r.opts.Auto || r.Model == nil {
		return Report{Project: project}, nil
	}
	rep, err := r.Apply(ctx, project)
	if errors.Is(err, store.ErrLocked) {
		return rep, nil // the other run does it
	}
	if err != nil {
		return rep, fmt.Errorf("reflect on %s: %w", project, err)
	}
	return rep, nil
}
