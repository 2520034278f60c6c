package cli

import (
	"anamnesis/internal/app"
	"anamnesis/internal/app/curate"

	"github.com/spf13/cobra"
)

// learnPast lets the model read past sessions.
func (p *program) learnPast(cmd *cobra.Command, o curate.LearnPastOptions) error {
	r, err := app.OpenWalked(cmd.Context(), p.host())
	if err != nil {
		return err
	}
	defer r.Close()
	a, err := curate.LearnPast(cmd.Context(), r, o)
	return render(p, "import", a, err, p.printLearnPast)
}

func (p *program) printLearnPast(a curate.LearnPastAnswer) {
	for _, problem := range a.Problems {
		p.printf("import: left out: %s\n", printable(problem))
	}
	if !a.Applied {
		model := " to " + a.Model
		if a.Model == "" {
			model = ""
		}
		p.printf("import: %s, %s%s, about %d tokens%s\n",
			plural(a.Sessions, "session"), plural(a.Calls, "request"), model, a.Tokens, dryRun(a.Calls))
		if a.Unset != "" {
			p.printf("import: %s\n", printable(a.Unset))
		}
		return
	}
	p.printf("import: %s read, %s learnt, %d held, %d dropped, %d pending, %d left\n",
		plural(a.Read, "session"), plural(a.Learnt, "rule"), a.Held, a.Dropped, a.Pending, a.Left)
	p.undoLine(a.Undo)
}
