package cli

import (
	"strings"

	"anamnesis/internal/app"
	"anamnesis/internal/eval"

	"github.com/spf13/cobra"
)

func newEvalPrompts(p *program) *cobra.Command {
	var misses bool
	cmd := &cobra.Command{
		Use:   "prompts [FOLDER]",
		Short: "Measure what prompts are told, and when they are told nothing",
		Long: `Make a store of notes for each file of a folder, type its sessions of prompts as
an agent's hook hears them, and compare what is told with what the file wants: the
share of wanted notes that are told, the share of prompts that want silence and are
told something, notes that are told twice, and the tokens a prompt costs.

Without a folder the built-in sessions are typed: the half that was in view when the
rules were made, and the half that was not. docs/eval.md has the format.`,
		Example: `  anamnesis eval prompts
  anamnesis eval prompts --misses ./sessions`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := app.EvalPrompts(cmd.Context(), p.host(), strings.Join(args, ""), misses)
			return render(p, "eval prompts", a, err, p.printPrompts)
		},
	}
	cmd.Flags().BoolVar(&misses, "misses", false, "list the prompts that were told something else than they should")
	return cmd
}

func (p *program) printPrompts(a app.PromptsAnswer) {
	for i, r := range a.Results {
		if i > 0 {
			p.printf("\n")
		}
		p.printf("%s: %s in %s\n", r.Name, plural(r.Prompts, "prompt"), plural(r.Sessions, "session"))
		p.printf("  told when wanted:    %.3f\n", r.Told)
		p.printf("  told when not:       %.3f\n", r.Spoke)
		p.printf("  told beside:         %d\n", r.Beside)
		p.printf("  told twice:          %d\n", r.Repeats)
		p.printf("  tokens a prompt:     %.1f\n", r.TokensPer)
		p.printf("  %-12s %7s %7s %7s %7s %7s\n", "kind", "prompts", "wanted", "told", "silent", "spoke")
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
	p.printf("\n  %s %s: %s\n    wanted %s, told %s\n    %s\n", m.Where, m.Kind, line, orNothing(m.Wanted), orNothing(m.Told), m.Why)
}

func orNothing(list []string) string {
	if len(list) == 0 {
		return "nothing"
	}
	return strings.Join(list, " ")
}
