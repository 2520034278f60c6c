package cli

import (
	"context"
	"strings"

	"anamnesis/internal/app"
	"anamnesis/internal/app/curate"

	"github.com/spf13/cobra"
)

func newConsolidate(p *program) *cobra.Command {
	var o app.MaintainOptions
	var project string
	cmd := &cobra.Command{
		Use:   "consolidate",
		Short: "Fold learnings that say the same into observations",
		Long: `Show which learnings say the same in other words. With --apply each group becomes one
observation that is supported by the sessions of them all; they stay reachable
(` + "`anamnesis list --all`" + `). With a model (reflection.provider) --apply also finds what
several learnings show together, and replaces none of them. An observation whose
learnings are all gone is archived.

The background run does this on its own when 30 learnings are new, or some are and the
last pass is seven days ago (reflection.consolidate).`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return run(p, cmd, "consolidate", app.OpenWhole, func(ctx context.Context, r *app.Rooms) (curate.ConsolidateAnswer, error) {
				return curate.Consolidate(ctx, r, o, project)
			}, func(a curate.ConsolidateAnswer) { p.printConsolidate(a, o.NoSync) })
		},
	}
	maintainFlags(cmd, &o)
	cmd.Flags().StringVar(&project, "project", "", "of one project: its `KEY`, or . for the one of this folder (default: all)")
	return cmd
}

func (p *program) printConsolidate(a curate.ConsolidateAnswer, noSync bool) {
	for _, f := range a.Foldings {
		p.printf("consolidate: [%s] %s\n", firstLine(f.Project, 60), firstLine(f.Statement, 100))
		for _, id := range f.Of {
			p.printf("    of %s\n", p.short(id))
		}
	}
	for _, id := range a.Retired {
		p.printf("consolidate: nothing supports the observation %s\n", id)
	}
	if a.Model != "" {
		p.note("the model was of no use: %s", firstLine(a.Model, 200))
	}
	if !a.Applied {
		p.printf("consolidate: %s new since the last pass; %s would be made or added to%s\n",
			plural(a.New, "learning"), plural(len(a.Foldings), "observation"), dryRun(len(a.Foldings)))
		return
	}
	p.printf("consolidate: %s for %s; %s\n", plural(len(a.Foldings), "observation"), plural(a.Replaced, "learning"), endLine(*a.Sync, noSync))
	p.undoLine(a.Undo)
}

func newObserve(p *program) *cobra.Command {
	var o curate.ObserveOptions
	cmd := &cobra.Command{
		Use:   "observe [STATEMENT]",
		Short: "Write down, support or retire an observation",
		Long: `Write down what you observe over several learnings. --from names the learnings that show
it; without one, that you say so is the evidence. --to adds evidence to an observation that
stands, and puts the statement in its place if there is one: evidence that is known adds
nothing. --retire archives one; its history stays.

--about user, or --about project, writes a field of the persona: --category names it, the
statement is its value. A question about that habit is answered with it.`,
		Example: `  anamnesis reflect observe 'Exports are sorted by account number' --from 9KQT --from 4ZRM
  anamnesis reflect observe --to 7PQA --from 8BCD
  anamnesis reflect observe 'imperative, no prefix' --about user --category commit_style
  anamnesis reflect observe --retire 7PQA --why 'we dropped the exports'`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Statement = strings.Join(args, " ")
			if o.Retire != "" && (o.To != "" || len(o.From) > 0 || o.Statement != "") {
				return usage("observe: --retire stands alone, with --why at most")
			}
			return run(p, cmd, "observe", app.OpenWalked, func(ctx context.Context, r *app.Rooms) (curate.ObservedAnswer, error) {
				return curate.Observe(ctx, r, o)
			}, func(a curate.ObservedAnswer) {
				p.printf("observe: %s %s '%s' (evidence ×%d)\n", a.Result, a.ID, firstLine(a.Title, 80), a.Evidence)
			})
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&o.From, "from", nil, "a learning that shows it: its `ID`; may be repeated")
	f.StringVar(&o.To, "to", "", "add to this observation: its `ID`")
	f.StringVar(&o.Retire, "retire", "", "archive this observation: its `ID`")
	f.StringVar(&o.Why, "why", "", "the `REASON` why it goes")
	f.StringVar(&o.Category, "category", "", "what it is about, one `WORD`")
	f.StringVar(&o.About, "about", "", "a field of the persona of `WHOM`: user or project")
	f.StringVar(&o.Project, "project", "", "the `KEY` of its project, or global (default: the one of this folder)")
	f.BoolVar(&o.NoSync, "no-sync", false, "commit on this machine only")
	return cmd
}

func newConventions(p *program) *cobra.Command {
	var o curate.ConventionsOptions
	cmd := &cobra.Command{
		Use:   "conventions",
		Short: "Print the conventions of a project as a page",
		Long: `Print what holds in a project, by category, with the number of sessions that support each
line: observations, what several sessions taught, and what you reviewed and kept. The same
conventions give the same bytes, so the page can be kept in the repository and its
changes read.

--write puts it into a file: a new one, or one that this command wrote. Into any other
file only a block is written, between the two marks that --block prints; put them into
CLAUDE.md or AGENTS.md if you want the block there. Nothing writes there on its own, and
neither page nor block is indexed.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return run(p, cmd, "conventions", app.OpenWalked, func(ctx context.Context, r *app.Rooms) (curate.ConventionsAnswer, error) {
				return curate.Conventions(ctx, r, o)
			}, func(a curate.ConventionsAnswer) {
				if a.File == "" {
					p.printf("%s", a.Text)
					return
				}
				p.printf("conventions: %s %s (%s)\n", a.Result, a.File, plural(len(a.Conventions), "convention"))
			})
		},
	}
	cmd.Flags().StringVar(&o.Project, "project", "", "the `KEY` of the project (default: the one of this folder)")
	cmd.Flags().BoolVar(&o.Block, "block", false, "print a block for a file of yours, with its marks")
	cmd.Flags().StringVar(&o.Write, "write", "", "write it into `FILE`")
	return cmd
}
