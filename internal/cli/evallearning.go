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
		Short: "Measure what sessions teach with and without a reader",
		Long: `Play labelled sessions in throw-away stores. Without a reader: how many of the notes in
force are lessons, which sentences are nominated, and whether the slice that a reader
sees holds the lessons. With a reader that answers from the labels: how many notes are
lessons, how many lessons are notes, what a second play adds, and whether the next
session's start holds them, here and on another machine.

A folder holds labels.jsonl and the transcripts that it names, or scripts; docs/eval.md
has both formats. Without a folder the built-in scripts are played: the half that was
in view when the program was written, or with --held-out the other one.`,
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
		p.printf("%s: %s with %s\n", r.Name, plural(r.Sessions, "session"), plural(r.Lessons, "lesson"))
		p.printf("  without a reader:    %s in force, %.2f are lessons\n", plural(r.Notes, "note"), r.Precision)
		p.printf("  candidates:          %d (%.1f a session), %.2f are lessons, %.2f of the lessons\n",
			r.Candidates, float64(r.Candidates)/float64(max(1, r.Sessions)), r.CandidateTrue, r.CandidateFound)
		p.printf("  nudges:              %d tokens a session (median where there is one)\n", r.NudgeTokens)
		p.printf("  slice:               %.2f of the lessons, %d tokens (median)\n", r.InSlice, r.SliceTokens)
		p.printf("  scripted reader:     %s in force, %.2f are lessons, %.2f of the lessons\n",
			plural(r.ReaderNotes, "note"), r.ReaderPrecision, r.ReaderFound)
		p.printf("  second play adds:    %s\n", plural(r.SecondPlay, "note"))
		p.printf("  in the next start:   %.2f here, %.2f on another machine\n", r.Injected, r.InjectedThere)
		p.printf("  sessions a second:   %.0f\n", r.PerSecond)
		for _, m := range r.Misses {
			p.printf("\n  %s %s\n    %s\n", m.Session, m.What, strings.Join(strings.Fields(m.Text), " "))
		}
		for _, t := range r.Learnt {
			p.printf("  %s\n", t)
		}
	}
}
