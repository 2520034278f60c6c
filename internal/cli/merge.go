package cli

import (
	"fmt"

	"anamnesis/internal/app"
	"anamnesis/internal/app/curate"
	"anamnesis/internal/note"
	"anamnesis/internal/reflection"

	"github.com/spf13/cobra"
)

type mergeOptions struct {
	curate.MergeOptions
	undo string
	show bool
}

func newMerge(p *program) *cobra.Command {
	var o mergeOptions
	cmd := &cobra.Command{
		Use:   "merge",
		Short: "Let one note stand for several that say the same",
		Long: `Ask a model which facts and how-tos of a project say the same, and let one note stand
for each group: one of them, or a new one. The others are kept and not recalled.
Without --apply it shows what the model proposes and writes nothing.

With --apply each group is tried on a copy of the store first: it is applied only if
the questions of the eval set find their notes as before (` + "`anamnesis eval build`" + ` makes
candidates, you approve them in its file). --no-gate leaves that out. A group that would
lose an exception, a number or a name is refused: words are compared, not meanings.
Where you see that nothing is lost, --confirm with the key that the plan prints lets
that group through; the questions still have to find their notes.`,
		Example: `  anamnesis reflect merge
  anamnesis reflect merge --project . --apply
  anamnesis reflect merge --apply --confirm 3f9c2ab1
  anamnesis reflect merge --undo 01M7`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.merge(cmd, o) },
	}
	maintainFlags(cmd, &o.MaintainOptions)
	f := cmd.Flags()
	f.StringVar(&o.Project, "project", "", "of one project: its `KEY`, or . for the one of this folder (default: all)")
	f.StringVar(&o.EvalSet, "eval-set", "", "`FILE` of cases (default: eval/eval.jsonl in the store)")
	f.BoolVar(&o.NoGate, "no-gate", false, "apply without measuring recall")
	f.StringSliceVar(&o.Confirm, "confirm", nil, "these refused groups lose nothing: their `KEY`s, separated by commas")
	f.BoolVar(&o.show, "show-request", false, "print what would be sent, and send nothing")
	f.StringVar(&o.undo, "undo", "", "let the note `ID` stand for itself again")
	cmd.MarkFlagsMutuallyExclusive("undo", "apply")
	cmd.MarkFlagsMutuallyExclusive("undo", "confirm")
	cmd.MarkFlagsMutuallyExclusive("show-request", "apply")
	return cmd
}

func (p *program) merge(cmd *cobra.Command, o mergeOptions) error {
	r, err := app.OpenWhole(cmd.Context(), p.host())
	if err != nil {
		return err
	}
	defer r.Close()
	switch {
	case o.undo != "":
		a, err := curate.Unmerge(cmd.Context(), r, o.undo, o.NoSync)
		return render(p, "merge", a, err, p.printUnmerged)
	case o.show:
		a, err := curate.MergeRequests(cmd.Context(), r, o.Project)
		return render(p, "merge", a, err, p.printRequests("no project has enough notes"))
	}
	a, err := curate.Merge(cmd.Context(), r, o.MergeOptions)
	return renderModel(p, "merge", "merge", a, err, func(a curate.MergeAnswer) { p.printMerged(a, o) })
}

func (p *program) printMerged(a curate.MergeAnswer, o mergeOptions) {
	for _, m := range a.Projects {
		name := firstLine(m.Project, 80)
		switch {
		case a.Applied && m.Notes > 0 && m.Groups > 0 && o.NoGate:
			p.printf("merge: %s: %s, %d synthesized, %d superseded\n", name, plural(len(m.Applied), "group"), len(m.Made), m.Superseded)
		case a.Applied && m.Notes > 0 && m.Groups > 0:
			p.printf("merge: %s: %s applied, %d rejected\n", name, plural(len(m.Applied), "group"), len(m.Refused))
		case !a.Applied && m.Groups == 0 && m.Notes > 0 && m.Error == "":
			p.printf("merge: %s: no redundant groups found (dry-run)\n", name)
		}
		if a.Applied {
			p.printRefused(name, m.Refused)
		}
		for _, g := range m.Plan {
			p.printMergePlan(name, g)
		}
		if m.Error != "" {
			p.printf("merge: %s: failed (%s); skipped\n", name, firstLine(m.Error, 300))
		}
	}
	if a.Sync != nil {
		p.printf("merge: superseded %s; %s\n", plural(a.Superseded, "note"), endLine(*a.Sync, o.NoSync))
		p.undoLine(a.Undo)
		p.printf("`anamnesis reflect merge --undo ID` lets one note stand for itself again\n")
	}
}

// printRefused names the groups that were not applied, and why.
func (p *program) printRefused(name string, refused []curate.RefusedGroup) {
	for _, f := range refused {
		what := "keep " + string(f.Keeper)
		if f.Action == reflection.Synthesize {
			what = "synthesize '" + firstLine(f.Title, 70) + "'"
		}
		why := printable(f.Why)
		if why == "" {
			why = fmt.Sprintf("recall@%d %.3f -> %.3f", reflection.GateHits, f.Before, f.After)
		}
		p.printf("merge: %s: rejected %s (%s)\n", name, what, why)
		p.confirmLine(f.Key)
	}
}

// printMergePlan prints what a model proposes for a group: which notes, and what
// would stand for them.
func (p *program) printMergePlan(name string, g curate.PlannedOne) {
	what := fmt.Sprintf("keep %s supersedes %s", g.Keeper, plural(len(g.Superseded), "note"))
	if g.Action == reflection.Synthesize {
		what = fmt.Sprintf("synthesize '%s' from %s", firstLine(g.Title, 70), plural(len(g.Superseded), "note"))
	}
	if g.Would {
		p.printf("merge: %s: would refuse to %s%s\n", name, what, because(printable(g.Refused)))
	} else {
		p.printf("merge: %s: %s (dry-run; pass --apply)\n", name, what)
	}
	line := func(what string, id note.ID) {
		title := firstLine(g.Titles[id], 70)
		if title == "" {
			title = "it is not there"
		}
		p.printf("  %-5s %s  %s\n", what, id, title)
	}
	if g.Action == reflection.Synthesize {
		p.printf("  new  %s\n", firstLine(g.Body, 160))
	} else {
		line("stays", g.Keeper)
	}
	for _, id := range g.Superseded {
		line("goes", id)
	}
	p.confirmLine(g.Confirm)
}

// confirmLine says how a person lets a group through that words cannot decide.
func (p *program) confirmLine(key string) {
	if key != "" {
		p.printf("  if nothing is lost: `anamnesis reflect merge --apply --confirm %s`\n", key)
	}
}

func (p *program) printUnmerged(a curate.UnmergeAnswer) {
	if len(a.Released) == 0 {
		p.printf("merge: no note stands for %s\n", a.ID)
	}
	for _, id := range a.Released {
		p.printf("merge: %s %q stands for itself again; %s did\n", a.ID, firstLine(a.Title, 60), id)
	}
}
