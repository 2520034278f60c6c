package setup

import (
	"context"
	"errors"

	"anamnesis/internal/app"
	"anamnesis/internal/imports"
)

// ImportOptions say what is imported, and how.
type ImportOptions struct {
	app.MaintainOptions
	ClaudeHome string // "" for the configured one
	// Plan makes the plan out of an importer.
	Plan func(context.Context, *imports.Importer) (*imports.Plan, error)
}

// ImportAnswer is what an import did, or would do. Exactly one of Planned and
// Report is set.
type ImportAnswer struct {
	Planned *ImportPlan
	Report  *ImportReport
}

// ImportPlan is what an import would do.
type ImportPlan struct {
	From     string          `json:"from"`
	Applied  bool            `json:"applied"`
	Totals   imports.Totals  `json:"totals"`
	Items    []imports.Item  `json:"items"`
	Groups   []imports.Group `json:"groups"`
	Problems []string        `json:"problems"`
}

// ImportReport is what an import did.
type ImportReport struct {
	*imports.Report
	Applied bool           `json:"applied"`
	Undo    []string       `json:"undo"`
	Sync    app.SyncResult `json:"sync"`
}

// Import plans an import, and carries it out with Apply. An import that was
// stopped returns what it did, with an error that comes with the answer.
func Import(ctx context.Context, r *app.Rooms, o ImportOptions) (a ImportAnswer, err error) {
	if err := r.MayRedact(); err != nil {
		return a, err
	}
	im := app.NewImporter(r, o.ClaudeHome)
	plan, err := o.Plan(ctx, im)
	if err != nil {
		return a, err
	}
	defer plan.Discard()
	for _, problem := range plan.Problems {
		r.Notify("left out: %s", problem)
	}
	if !o.Apply {
		a.Planned = &ImportPlan{plan.From, false, plan.Totals(), plan.Items, plan.Groups, plan.Problems}
		return a, nil
	}
	bar := r.Progress("importing KiB")
	running, c := app.BeginRun(ctx, r, "import")
	rep, aerr := im.Apply(running, plan, func(done, total int64) { bar.Step(int(done>>10), int(total>>10)) })
	bar.Done()
	aerr = errors.Join(aerr, app.IndexSessions(ctx, r, plan))
	s, err := c.Finish(ctx, o.NoSync)
	var undo []string
	if line := c.Undo(); line != "" {
		undo = []string{line}
	}
	a.Report = &ImportReport{rep, true, undo, s}
	if aerr != nil {
		err = aerr
	}
	if err != nil {
		err = &app.Error{Kind: app.Explain(err).Code, Err: err, Answered: true}
	}
	return a, err
}
