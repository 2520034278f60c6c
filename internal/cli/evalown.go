package cli

import (
	"context"

	"anamnesis/internal/app"
	"anamnesis/internal/app/curate"
	"anamnesis/internal/eval"

	"github.com/spf13/cobra"
)

// The parts of eval that measure the user's own store: build, run,
// experiment.

// caseFlags are flags that they share.
func caseFlags(cmd *cobra.Command, o *curate.CaseOptions, unreviewed bool) {
	cmd.Flags().StringVar(&o.File, "eval-set", "", "`FILE` of cases (default: eval/eval.jsonl in the store)")
	if unreviewed {
		cmd.Flags().BoolVar(&o.Unreviewed, "include-unreviewed", false, "measure candidates that nobody has looked at, too")
	}
}

func newEvalBuild(p *program) *cobra.Command {
	var o curate.CaseOptions
	var n int
	var types []string
	cmd := &cobra.Command{
		Use:   "build",
		Short: "Let a model propose questions to notes of yours",
		Long: `Let a model propose, for notes of your store, what somebody might ask whom the note
would help: in other words than the note's. The notes are a sample over all projects;
notes of this machine alone are never sent, and what is sent is redacted. The
candidates are measured when you have looked at them: write "approved":true into the
lines of the file that are right.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if n < 1 {
				return usage("eval build: --n %d: give the number of notes to ask about", n)
			}
			return runModel(p, cmd, "eval build", func(ctx context.Context, r *app.Rooms) (curate.EvalBuilt, error) {
				return curate.EvalBuild(ctx, r, o.File, n, types)
			}, func(a curate.EvalBuilt) {
				p.printf("eval build: wrote %s to %s (approved=false; curate before running)\n", plural(a.Wrote, "candidate"), a.File)
				if a.Known+a.Duplicates > 0 {
					p.note("%s had cases already, %d questions were known", plural(a.Known, "note"), a.Duplicates)
				}
			})
		},
	}
	caseFlags(cmd, &o, false)
	cmd.Flags().IntVar(&n, "n", eval.DefaultCases, "`NUMBER` of notes to ask about")
	cmd.Flags().StringSliceVar(&types, "types", []string{"semantic", "procedural"}, "`TYPES` of the notes")
	return cmd
}

// runModel opens the whole store and renders what a use case of eval answers that
// needs a model.
func runModel[T any](p *program, cmd *cobra.Command, prefix string, use func(context.Context, *app.Rooms) (T, error), text func(T)) error {
	r, err := app.OpenWhole(cmd.Context(), p.host())
	if err != nil {
		return err
	}
	defer r.Close()
	v, err := use(cmd.Context(), r)
	return renderModel(p, "eval", prefix, v, err, text)
}

func newEvalRun(p *program) *cobra.Command {
	var o curate.CaseOptions
	var below float64
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Measure recall and the working set of your store",
		Long: `Ask the approved questions of the eval set, over all projects, and count whether the
right note is among the first 1, 3, 5 and 8; and weigh what a session of each project is
shown.

Exit codes: 1 recall@8 is below --fail-below; 2 there is no eval set.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return run(p, cmd, "eval", app.OpenWhole, func(ctx context.Context, r *app.Rooms) (*eval.Report, error) {
				return curate.EvalRun(ctx, r, o, below)
			}, func(rep *eval.Report) { p.verbatim(rep.String()) })
		},
	}
	caseFlags(cmd, &o, true)
	cmd.Flags().Float64Var(&below, "fail-below", 0, "fail when recall@8 is below this `SHARE`, such as 0.8")
	return cmd
}

func newEvalExperiment(p *program) *cobra.Command {
	var o curate.CaseOptions
	var merge bool
	cmd := &cobra.Command{
		Use:   "experiment",
		Short: "Try reflection, or a merge, on a copy of your store",
		Long: `Copy the store, distil the sessions of every project there (with --merge: merge the
notes that say the same), and compare recall and the working set before and after. The
copy is deleted; your store is not changed.

Exit code 1 says that recall fell.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runModel(p, cmd, "eval experiment", func(ctx context.Context, r *app.Rooms) (*eval.Experiment, error) {
				return curate.EvalExperiment(ctx, r, o, merge)
			}, func(x *eval.Experiment) { p.verbatim(x.String()) })
		},
	}
	caseFlags(cmd, &o, true)
	cmd.Flags().BoolVar(&merge, "merge", false, "try a merge instead of reflection")
	return cmd
}
