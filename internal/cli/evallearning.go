package cli

import (
	"strings"

	"anamnesis/internal/app"
	"anamnesis/internal/eval"

	"github.com/spf13/cobra"
)

func newEvalLearning(p *program) *cobra.Command {
	var o app.LearningOptions
	cmd := &cobra.Command{
		Use:   "learning [FOLDER]",
		Short: "Measure what sessions teach, and what a later session is told of it",
		Long: `Play scripts of sessions in throw-away stores, without a model, and compare what is
learnt with what was planted: the share of lessons that a note says, the share of
notes that are no lesson, whether the right one of two rules that contradict is in
force, and the share of lessons that a later session is told at the prompt where they
matter, here and on another machine.

Without a folder the half of the built-in scripts is played that was in view when the
detectors were made; --held-out plays the other half. docs/learning.md has the format.`,
		Example: `  anamnesis eval learning
  anamnesis eval learning --misses ./sessions`,
		Args: cobra.MaximumNArgs(1),
	}
	heldOut := cmd.Flags().Bool("held-out", false, "play the half that was not in view")
	cmd.Flags().BoolVar(&o.Misses, "misses", false, "list what went wrong")
	cmd.Flags().BoolVar(&o.Learnt, "learnt", false, "list the notes")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.Folder, o.Halves = strings.Join(args, ""), []string{eval.TuningHalf}
		if *heldOut {
			o.Halves = []string{eval.HeldOutHalf}
		}
		a, err := app.EvalLearning(cmd.Context(), p.host(), o)
		return render(p, "eval learning", a, err, p.printLearning)
	}
	return cmd
}

func (p *program) printLearning(a app.LearningAnswer) {
	for _, r := range a.Results {
		p.printf("%s: %s with %s and %s, %s\n", r.Name, plural(r.Sessions, "session"), plural(r.Lessons, "lesson"),
			plural(r.Decoys, "decoy"), plural(r.Notes, "note"))
		p.printf("  lessons kept:               %.3f\n", r.Kept)
		p.printf("  notes that are no lesson:   %.3f\n", r.False)
		p.printf("  right rules in force:       %.3f of %d\n", r.InForce, r.Conflicts)
		p.printf("  said again, in one note:    %.3f\n", r.Confirmed)
		p.printf("  known where it matters:     %.3f\n", r.Told)
		p.printf("  told at that prompt alone:  %.3f\n", r.AtPrompt)
		p.printf("  known on another machine:   %.3f\n", r.Elsewhere)
		p.printf("  told when not:              %.3f\n", r.Spoke)
		p.printf("  planted orders learnt:      %d\n", r.Orders)
		p.printf("  sessions a second:          %.0f\n", r.PerSecond)
		p.printf("  %-12s %8s %8s\n", "kind", "lessons", "kept")
		for _, k := range r.Kinds {
			p.printf("  %-12s %8d %8d\n", k.Kind, k.Lessons, k.Kept)
		}
		for _, m := range r.Misses {
			p.printf("\n  %s %s\n    %s\n", m.Where, m.What, strings.Join(strings.Fields(m.Text), " "))
		}
		for _, n := range r.Learnt {
			p.printf("\n  %s\n    %s\n", n.Title, strings.ReplaceAll(n.Body, "\n", "\n    "))
		}
	}
}
