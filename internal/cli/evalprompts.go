package cli

import (
	"strings"

	"anamnesis/internal/app"
	"anamnesis/internal/eval"

	"github.com/spf13/cobra"
)

func newEvalPrompts(p *program) *cobra.Command {
	var o app.EvalPromptsOptions
	cmd := &cobra.Command{
		Use:     "page [FOLDER]",
		Aliases: []string{"prompts"},
		Short:   "Measure what sessions are shown: the page at the start, and notes at prompts",
		Long: `Make a store of notes for each file of a folder, start its sessions and type their
prompts as an agent's hooks hear them, and compare what is shown with what the file
wants: the share of wanted notes that are in the context at their prompt (by a line of
the page, by a topic, or shown there), the share of prompts that want silence and are
shown something, notes that are shown twice, and the tokens of a session.

Without a folder the built-in sessions are typed: the half that was in view when the
rules were made, and the half that was not. docs/eval.md has the format.`,
		Example: `  anamnesis eval page
  anamnesis eval page --grow 300 --set inject.page.max_tokens=3000
  anamnesis eval page --misses ./sessions`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := app.EvalPrompts(cmd.Context(), p.host(), strings.Join(args, ""), o)
			return render(p, "eval page", a, err, p.printPrompts)
		},
	}
	cmd.Flags().IntVar(&o.Grow, "grow", 0, "let each store have `N` notes, with those of the other files")
	cmd.Flags().StringVar(&o.Pages, "pages", "", "write the page of each file into a `FOLDER`")
	cmd.Flags().BoolVar(&o.Misses, "misses", false, "list the prompts that were shown something else than they should")
	return cmd
}

func (p *program) printPrompts(a app.PromptsAnswer) {
	for i, r := range a.Results {
		if i > 0 {
			p.printf("\n")
		}
		p.printf("%s: %s in %s\n", r.Name, plural(r.Prompts, "prompt"), plural(r.Sessions, "session"))
		p.printf("  wanted in context:   %.3f of %d, in stores of %.0f notes\n", r.InContext, r.Wanted, r.Notes)
		p.printf("    a line of the page %.3f\n", r.OnPage)
		p.printf("  only by a topic:     %.3f\n", r.ByTopic)
		p.printf("  shown at its prompt: %.3f\n", r.Told)
		p.printf("  shown when not:      %.3f\n", r.Spoke)
		p.printf("  precision:           %.3f, %d beside wanted ones\n", r.Precision, r.Beside)
		p.printf("  shown twice:         %d, and %d lines again after many prompts\n", r.Repeats, r.Again)
		p.printf("  tokens:              %.0f a page, %.1f a prompt, %.0f a session\n", r.PageSize, r.TokensPer, r.Session)
		p.printf("  %-12s %7s %7s %7s %7s %7s\n", "kind", "prompts", "wanted", "shown", "silent", "spoke")
		for _, k := range r.Kinds {
			p.printf("  %-12s %7d %7d %7d %7d %7d\n", k.Kind, k.Prompts, k.Wanted, k.Told, k.Silent, k.Spoke)
		}
		for _, m := range r.Misses {
			p.printMiss(m)
		}
	}
}

func (p *program) printMiss(m eval.PromptMiss) {
	line := strings.Join(strings.Fields(m.Prompt), " ")
	if runes := []rune(line); len(runes) > 100 {
		line = string(runes[:100]) + "…"
	}
	p.printf("\n  %s %s: %s\n    wanted %s, shown %s\n    %s\n", m.Where, m.Kind, line, orNothing(m.Wanted), orNothing(m.Told), m.Why)
}

func orNothing(list []string) string {
	if len(list) == 0 {
		return "nothing"
	}
	return strings.Join(list, " ")
}
