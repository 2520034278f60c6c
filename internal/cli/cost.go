package cli

import (
	"fmt"

	"anamnesis/internal/app/diagnose"

	"github.com/spf13/cobra"
)

func newCost(p *program) *cobra.Command {
	var since string
	cmd := &cobra.Command{
		Use:   "cost",
		Short: "Show model usage",
		Long: `Count the answers of models on this machine, and the tokens of prompts and answers, by
day (UTC), model and purpose. The limits of a day are reflection.daily_calls and
reflection.daily_tokens. Below stands which answers could not be used, and what the
vendor of the model said of late about its quota: while the gate is closed, nothing is
asked in the background (reflection.quota.gate).`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := p.openStore()
			if err != nil {
				return err
			}
			a, err := diagnose.Cost(cmd.Context(), s, p.cfg, since)
			return render(p, "cost", a, err, p.printCost)
		},
	}
	cmd.Flags().StringVar(&since, "since", "30d", "from `TIME` on: 2026-03-31, 12h, 7d")
	return cmd
}

func (p *program) printCost(a diagnose.CostAnswer) {
	for _, r := range a.Rows {
		p.printf("%s  %-28s %-10s %5d calls  %9d in  %8d out\n", r.Day, firstLine(r.Model, 28), firstLine(r.Purpose, 10), r.Calls, r.In, r.Out)
	}
	if len(a.Rows) == 0 {
		p.note("no model was asked")
	}
	p.printf("together: %d calls, %d tokens in, %d out\n", a.All.Calls, a.All.In, a.All.Out)
	p.printf("today: %s, %s\n", outOf(a.TodayCalls, a.MaxCalls, "calls"), outOf(a.TodayToken, a.MaxTokens, "tokens"))
	for _, u := range a.Unusable {
		p.printf("unusable: %d %s\n", u.Count, firstLine(u.Class, 20))
	}
	switch a.Quota.Gate {
	case "closed":
		p.printf("quota gate: closed until %s (%s)\n", a.Quota.Until, firstLine(a.Quota.Why, 100))
	case "open":
		p.printf("quota gate: open\n")
	}
	for _, w := range a.Quota.Windows {
		p.printf("  %-18s %3.0f %% used, said %s  %s\n", firstLine(w.Window, 18), 100*w.Used, w.Seen, firstLine(w.Why, 60))
	}
}

func outOf(n, most int, what string) string {
	if most == 0 {
		return fmt.Sprintf("%d %s (no limit)", n, what)
	}
	return fmt.Sprintf("%d of %d %s", n, most, what)
}
