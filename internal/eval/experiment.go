package eval

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"anamnesis/internal/index"
	"anamnesis/internal/learn"
	"anamnesis/internal/note"
	"anamnesis/internal/reflection"
	"anamnesis/internal/store"
)

// A Lab is where things are tried on copies of a store.
type Lab struct {
	Live      *store.Store // is only read
	Setup     Setup
	Reflector func(*Workbench) *reflection.Reflector // over a copy
}

// What an experiment tries.
const (
	Reflecting = "reflection"
	Merging    = "merge"
)

// An Experiment is what a store would be like after its sessions were distilled,
// or its notes merged.
type Experiment struct {
	Kind        string       `json:"kind"`
	Before      *Report      `json:"before"`
	After       *Report      `json:"after"`
	Regressed   bool         `json:"recall_regressed"` // at any rank
	Projects    int          `json:"projects"`         // that were distilled or merged
	Notes       int          `json:"notes_written"`
	Groups      int          `json:"groups_applied"`
	Refused     int          `json:"groups_refused"` // by the merge itself; there is no gate
	Skipped     int          `json:"skipped"`        // projects below the threshold
	Failed      []Failure    `json:"failed"`
	Regressions []Regression `json:"regressions"`

	deepest int // rank to which the reports count
}

// A Failure is a project that could not be tried.
type Failure struct {
	Project string `json:"project"`
	Error   string `json:"error"`
}

// Reflect measures a copy of the store, distils all projects in it, and measures
// it again. Models are asked for real, as reflection would ask them.
func (l Lab) Reflect(ctx context.Context, cases []Case, o RunOptions) (*Experiment, error) {
	return l.try(ctx, Reflecting, cases, o)
}

// Merge does so with merging, without a gate: every group that a model proposes
// is applied, so that one sees what that costs. Cases that got worse are listed
// with the reason.
func (l Lab) Merge(ctx context.Context, cases []Case, o RunOptions) (*Experiment, error) {
	return l.try(ctx, Merging, cases, o)
}

func (l Lab) try(ctx context.Context, kind string, cases []Case, o RunOptions) (x *Experiment, err error) {
	o.ownWords = true
	x = &Experiment{Kind: kind, Failed: []Failure{}, Regressions: []Regression{}}
	if _, x.deepest, err = o.ks(); err != nil {
		return nil, err
	}
	c, err := openCopy(ctx, l.Live, l.Setup, o.Progress)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if x.Before, err = Measure(ctx, c.Workbench, cases, o); err != nil {
		return nil, err
	}
	act, r := x.reflect, l.Reflector(c.Workbench)
	var was []map[note.ID]int
	if kind == Merging {
		act = x.merge
		if was, err = ranks(ctx, c.Workbench, cases, o.Progress); err != nil {
			return nil, err
		}
	}
	if err := act(ctx, c.Workbench, r, o.Progress); err != nil {
		return nil, err
	}
	if err := c.sync(ctx, o.Progress); err != nil {
		return nil, err
	}
	if x.After, err = Measure(ctx, c.Workbench, cases, o); err != nil {
		return nil, err
	}
	for k, before := range x.Before.Recall.At {
		x.Regressed = x.Regressed || x.After.Recall.At[k] < before
	}
	if kind == Merging {
		err = x.explain(ctx, c.Workbench, cases, was, o.Progress)
	}
	return x, err
}

// fail records that a project could not be tried, unless no other can either.
func (x *Experiment) fail(ctx context.Context, project string, err error) error {
	if ctx.Err() != nil || errors.Is(err, learn.ErrNoModel) {
		return err
	}
	x.Failed = append(x.Failed, Failure{project, err.Error()})
	return nil
}

func (x *Experiment) reflect(ctx context.Context, _ *Workbench, r *reflection.Reflector, p Progress) error {
	plans, err := r.Plan(ctx, "")
	if err != nil {
		return fmt.Errorf("look for sessions to distil: %w", err)
	}
	for i, plan := range plans {
		p.step("reflecting on batches", i, len(plans))
		if !plan.Enough {
			x.Skipped++
			continue
		}
		rep, err := r.Apply(ctx, plan.Project)
		x.Notes += rep.Wrote()
		if err != nil {
			if err := x.fail(ctx, plan.Project, err); err != nil {
				return err
			}
			continue
		}
		x.Projects++
	}
	p.step("reflecting on batches", len(plans), len(plans))
	return nil
}

func (x *Experiment) merge(ctx context.Context, w *Workbench, r *reflection.Reflector, p Progress) error {
	projects, err := mergeable(ctx, w)
	if err != nil {
		return err
	}
	for i, project := range projects {
		p.step("merging in projects", i, len(projects))
		prop, err := r.Propose(ctx, project)
		if err == nil && prop.Notes == 0 {
			x.Skipped++
			continue
		}
		var m reflection.Merging
		if err == nil {
			m, err = r.Merge(ctx, prop, nil)
		}
		x.Groups, x.Notes, x.Refused = x.Groups+len(m.Applied), x.Notes+len(m.Synthesized), x.Refused+len(m.Refused)
		if len(m.Applied) > 0 {
			x.Projects++
		}
		if err != nil {
			if err := x.fail(ctx, project, err); err != nil {
				return err
			}
		}
	}
	p.step("merging in projects", len(projects), len(projects))
	return nil
}

// mergeable lists the projects that have notes which could be merged.
func mergeable(ctx context.Context, w *Workbench) (projects []string, err error) {
	rows, err := w.Index.Select(ctx, index.Filter{
		Types: []note.Type{note.Procedural, note.Semantic}, Scope: note.Portable, Now: w.Store.Now(),
	}, 0)
	if err != nil {
		return nil, fmt.Errorf("list the notes: %w", err)
	}
	for _, row := range rows {
		projects = append(projects, row.Project)
	}
	slices.Sort(projects)
	return slices.Compact(projects), nil
}
