package cli

import (
	"anamnesis/internal/app"
	"anamnesis/internal/eval"

	"github.com/spf13/cobra"
)

func newEvalSessions(p *program) *cobra.Command {
	var misses bool
	cmd := &cobra.Command{
		Use:   "sessions FOLDER",
		Short: "Measure what is kept of sessions, and found again",
		Long: `Play labelled sessions in a throw-away store that keeps them word for word and learns
nothing: how much is kept and how fast, whether the first three notes or exchanges answer
the questions of labels.jsonl, in two halves, whether fix names the exchange in which an
error was gone, whether questions about nothing are silent, and what the notes are.
docs/eval.md has the format of a folder.`,
		Example: `  anamnesis eval sessions --misses ./sessions`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := app.EvalSessions(cmd.Context(), p.host(), args[0], misses)
			if a == nil {
				return err
			}
			return render(p, "eval sessions", *a, err, p.printEvalSessions)
		},
	}
	cmd.Flags().BoolVar(&misses, "misses", false, "list what went wrong, and the titles")
	return cmd
}

func (p *program) printEvalSessions(a eval.SessionsReport) {
	share := func(n, of int) float64 { return float64(n) / float64(max(1, of)) }
	p.printf("sessions:           %d, %s; kept %.1f %%, at %.0f MB a second\n", a.Sessions, size(a.Bytes), 100*a.Kept, a.PerSecond)
	p.printf("notes:              %d; body %d characters (median); %.2f of the titles say nothing\n", a.Notes, a.Body, a.Empty)
	for half := range a.Questions {
		p.printf("questions, half %d:  %d; answered by the first three %.2f, as printed %.2f\n", half+1, a.Questions[half],
			share(a.Answered[half], a.Questions[half]), share(a.Printed[half], a.Questions[half]))
	}
	p.printf("search:             %.1f ms (median)\n", a.SearchMS)
	p.printf("errors:             %d; fix names the exchange that ended them %.2f\n", a.Errors, share(a.Fixed, a.Errors))
	p.printf("nonsense:           %d questions, %d found an exchange\n", a.Nonsense, a.Fooled)
	for _, m := range a.Misses {
		p.printf("  %s\n", printable(firstLine(m, 160)))
	}
	for _, t := range a.Titles {
		p.printf("  %s\n", printable(t))
	}
}
