package curate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"anamnesis/internal/app"
	"anamnesis/internal/eval"
	"anamnesis/internal/learn"
	"anamnesis/internal/note"
)

// CaseOptions say which cases are measured.
type CaseOptions struct {
	File       string // "" for eval/eval.jsonl in the store
	Unreviewed bool   // candidates that nobody has looked at, too
}

// cases reads the cases that are measured.
func cases(ctx context.Context, r *app.Rooms, command string, o CaseOptions) ([]eval.Case, error) {
	file := evalSet(r, o.File)
	cases, warnings, err := eval.Load(file, o.Unreviewed, eval.Titles(ctx, r.Index))
	if err != nil {
		return nil, missingSet(command, file, err)
	}
	for _, w := range warnings {
		r.Notify("%s: warning: %s", command, w)
	}
	return cases, nil
}

// missingSet makes wrong usage of a set that is not there.
func missingSet(command, file string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return app.Usagef("%s: no eval set at %s (run `anamnesis eval build` first)", command, file)
	}
	return fmt.Errorf("%s: %w", command, err)
}

// EvalBuilt is what proposing questions wrote.
type EvalBuilt struct {
	eval.Built
	File string `json:"file"`
}

// EvalBuild lets a model propose questions to n notes of some types. The error is
// learn.ErrNoModel when there is no model.
func EvalBuild(ctx context.Context, r *app.Rooms, file string, n int, types []string) (a EvalBuilt, err error) {
	b := eval.Build{N: n}
	for _, t := range types {
		if !slices.Contains(note.Types, note.Type(t)) {
			return a, app.Usagef("eval build: --types %q: use procedural, semantic or episodic", t)
		}
		b.Types = append(b.Types, note.Type(t))
	}
	g, err := app.NewGenerator(r, "eval")
	if err != nil {
		return a, learn.ErrNoModel
	}
	bar := stages(r)
	b.Bench, b.Model, b.Redactor, b.File, b.Progress = workbench(r), g, r.Redactor, evalSet(r, file), bar.step
	a.Built, err = b.Run(ctx)
	bar.done()
	a.File = b.File
	switch {
	case err != nil && a.Wrote == 0:
		err = fmt.Errorf("eval build: %w", err)
	case err != nil:
		err = &app.Error{Kind: app.Explain(err).Code, Err: err, Answered: true}
	}
	return a, err
}

// EvalRun measures recall and the working set of the user's own store. When
// recall@8 is below a share the error comes with the answer.
func EvalRun(ctx context.Context, r *app.Rooms, o CaseOptions, below float64) (*eval.Report, error) {
	cases, err := cases(ctx, r, "eval run", o)
	if err != nil {
		return nil, err
	}
	bar := stages(r)
	rep, err := eval.Measure(ctx, workbench(r), cases, eval.RunOptions{Progress: bar.step})
	bar.done()
	if err != nil {
		return nil, err
	}
	for _, f := range rep.Failed {
		r.Notify("left out: %s", f)
	}
	if rep.Recall.At[8] < below {
		err = app.Answered("eval run: recall@8 is %.3f, below %.3f", rep.Recall.At[8], below)
	}
	return rep, err
}

// EvalExperiment tries reflection, or a merge, on a copy of the store. The error
// is learn.ErrNoModel when there is no model; when recall fell it comes
// with the answer.
func EvalExperiment(ctx context.Context, r *app.Rooms, o CaseOptions, merge bool) (*eval.Experiment, error) {
	if _, err := app.NewGenerator(r, "experiment"); err != nil {
		return nil, learn.ErrNoModel
	}
	cases, err := cases(ctx, r, "eval experiment", o)
	if err != nil {
		return nil, err
	}
	bar := stages(r)
	lab, opts := lab(r, "experiment"), eval.RunOptions{Progress: bar.step}
	try := lab.Reflect
	if merge {
		try = lab.Merge
	}
	x, err := try(ctx, cases, opts)
	bar.done()
	if err != nil {
		return nil, err
	}
	for _, f := range x.After.Failed {
		r.Notify("left out: %s", f)
	}
	if x.Regressed {
		err = app.Answered("eval experiment: recall fell; the figures say where")
	}
	return x, err
}
