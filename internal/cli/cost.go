package cli

import (
	"fmt"
	"time"

	"anamnesis/internal/reflection"

	"github.com/spf13/cobra"
)

func newCost(p *program) *cobra.Command {
	var since string
	cmd := &cobra.Command{
		Use:   "cost",
		Short: "Count what models were asked, and what for",
		Long: `Count the answers of models on this machine, and the tokens of prompts and answers, by
day (UTC), model and purpose. The limits of a day are reflection.daily_calls and
reflection.daily_tokens.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := p.openStore()
			if err != nil {
				return err
			}
			from, err := moment("--since", since, s.Now())
			if err != nil {
				return err
			}
			costs, err := reflection.Costs(cmd.Context(), s, from)
			if err != nil {
				return err
			}
			return p.cost(costs, s.Now())
		},
	}
	cmd.Flags().StringVar(&since, "since", "30d", "from `TIME` on: 2026-03-31, 12h, 7d")
	return cmd
}

func (p *program) cost(costs []reflection.Cost, now time.Time) error {
	type row struct {
		Day     string `json:"day"`
		Model   string `json:"model"`
		Purpose string `json:"purpose"`
		Calls   int    `json:"calls"`
		In      int    `json:"tokens_in"`
		Out     int    `json:"tokens_out"`
	}
	rows := []row{}
	var today, all reflection.Spending
	for _, c := range costs {
		rows = append(rows, row{c.Day, c.Model, c.Purpose, c.Calls, c.In, c.Out})
		all.Calls, all.In, all.Out = all.Calls+c.Calls, all.In+c.In, all.Out+c.Out
		if c.Day == now.UTC().Format(time.DateOnly) {
			today.Calls, today.In, today.Out = today.Calls+c.Calls, today.In+c.In, today.Out+c.Out
		}
	}
	o := p.cfg.Reflection
	if p.json {
		return p.emit(struct {
			header
			Rows       []row `json:"rows"`
			TodayCalls int   `json:"today_calls"`
			TodayToken int   `json:"today_tokens"`
			MaxCalls   int   `json:"daily_calls"`
			MaxTokens  int   `json:"daily_tokens"`
		}{head("cost"), rows, today.Calls, today.In + today.Out, o.DailyCalls, o.DailyTokens})
	}
	for _, r := range rows {
		p.printf("%s  %-28s %-10s %5d calls  %9d in  %8d out\n", r.Day, firstLine(r.Model, 28), firstLine(r.Purpose, 10), r.Calls, r.In, r.Out)
	}
	if len(rows) == 0 {
		p.note("no model was asked")
	}
	p.printf("together: %d calls, %d tokens in, %d out\n", all.Calls, all.In, all.Out)
	p.printf("today: %s, %s\n", outOf(today.Calls, o.DailyCalls, "calls"), outOf(today.In+today.Out, o.DailyTokens, "tokens"))
	return nil
}

func outOf(n, most int, what string) string {
	if most == 0 {
		return fmt.Sprintf("%d %s (no limit)", n, what)
	}
	return fmt.Sprintf("%d of %d %s", n, most, what)
}
