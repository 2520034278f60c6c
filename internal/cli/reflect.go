package cli

import (
	"anamnesis/internal/app"
	"anamnesis/internal/app/curate"
	"anamnesis/internal/ingest"
	"anamnesis/internal/reflection"

	"github.com/spf13/cobra"
)

type reflectOptions struct {
	app.MaintainOptions
	project string
	show    bool
}

func newReflect(p *program) *cobra.Command {
	var o reflectOptions
	cmd := &cobra.Command{
		Use:   "reflect",
		Short: "Distil the sessions of a project into facts and how-tos",
		Long: `Let a model distil the sessions of a project that no run has distilled yet into facts
and how-tos. Without --apply it lists the projects that have enough of them and sends
nothing. The sessions stay and are marked; ` + "`anamnesis why ID`" + ` shows which sessions a
note came from. An answer without the expected form changes nothing.

The model is set with ` + "`anamnesis config set reflection.provider ...`" + `; docs/reflection.md is
the guide. --show-request prints what would be sent, and sends nothing.`,
		Example: `  anamnesis reflect
  anamnesis reflect --project . --show-request`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.reflect(cmd, o) },
	}
	maintainFlags(cmd, &o.MaintainOptions)
	cmd.Flags().StringVar(&o.project, "project", "", "of one project: its `KEY`, or . for the one of this folder (default: all)")
	cmd.Flags().BoolVar(&o.show, "show-request", false, "print what would be sent")
	return cmd
}

func (p *program) reflect(cmd *cobra.Command, o reflectOptions) error {
	if o.show && o.Apply {
		return usage("reflect: --show-request sends nothing; leave --apply out")
	}
	r, err := app.OpenWhole(cmd.Context(), p.host())
	if err != nil {
		return err
	}
	defer r.Close()
	switch {
	case o.show:
		a, err := curate.ReflectRequests(cmd.Context(), r, o.project)
		return render(p, "reflect", a, err, p.printRequests("no project has enough sessions"))
	case o.Apply:
		a, err := curate.Reflect(cmd.Context(), r, o.project, o.NoSync)
		p.reflectNotes(a)
		return renderModel(p, "reflect", "reflect", a, err, func(a curate.ReflectAnswer) { p.printReflected(a, o.NoSync) })
	}
	a, err := curate.PlanReflect(cmd.Context(), r, o.project)
	return render(p, "reflect", a, err, p.printReflectPlan)
}

// printReflectPlan tells what a run would do.
func (p *program) printReflectPlan(a curate.ReflectPlan) {
	few := 0
	for _, pl := range a.Projects {
		if pl.Unfinished > 0 {
			p.printf("reflect: %s: %s of an earlier run to finish (dry-run; pass --apply)\n", firstLine(pl.Project, 80),
				plural(pl.Unfinished, "batch"))
		}
		if !pl.Enough {
			few++
			continue
		}
		p.printf("reflect: %s: %s would be distilled (dry-run; pass --apply)\n", firstLine(pl.Project, 80), plural(pl.Sessions, "session"))
	}
	if len(a.Projects) == 0 {
		p.note("there is nothing to distil: no project has a session that was not distilled yet")
	}
	if few > 0 {
		p.note("%s with fewer than %d sessions to distil", plural(few, "project"), reflection.LeastSessions)
	}
}

// reflectNotes tells people what stands beside the answer of a run.
func (p *program) reflectNotes(a curate.ReflectAnswer) {
	least := reflection.LeastSessions
	for _, j := range a.Projects {
		rep, name := j.Report, firstLine(j.Project, 80)
		if len(rep.Changed) > 0 {
			p.note("%s of %s changed since and will be distilled again", plural(len(rep.Changed), "session"), name)
		}
		if rep.Err == nil && rep.Left >= least {
			p.note("%s: %d sessions had no room; run it again", name, rep.Left)
		}
		if rep.Stale != nil {
			p.note("the notes are safe, but not in the index yet: %v; `anamnesis doctor reindex` mends that", rep.Stale)
		}
	}
	if a.Applied && len(a.Projects) == 0 {
		p.note("there is nothing to distil: no project has %d sessions that were not distilled yet", least)
	}
}

func (p *program) printReflected(a curate.ReflectAnswer, noSync bool) {
	for _, j := range a.Projects {
		name := firstLine(j.Project, 80)
		if j.Error != "" {
			p.printf("reflect: %s: failed (%s); skipped\n", name, firstLine(j.Error, 300))
		}
		if j.Sessions > 0 {
			p.printf("reflect: %s: distilled %s -> %s\n", name, plural(j.Sessions, "session"), plural(j.Report.Wrote(), "note"))
		}
		for _, w := range j.Report.Notes {
			more := because(printable(w.Why))
			if w.Quarantined {
				more = " (it reads like orders to an agent and waits for you: `anamnesis review`)"
			}
			if w.Result == ingest.Dropped {
				p.printf("  not kept: %q%s\n", firstLine(w.Title, 70), more)
				continue
			}
			p.printf("  %s %s [%s] %s%s\n", w.Result, w.ID, w.Type, firstLine(w.Title, 70), more)
		}
	}
	if a.Sync != nil {
		p.printf("reflect: wrote %s; %s\n", plural(a.Wrote, "note"), endLine(*a.Sync, noSync))
		p.undoLine(a.Undo)
	}
}
