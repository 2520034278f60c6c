package cli

import (
	"context"
	"time"

	"anamnesis/internal/app"

	"github.com/spf13/cobra"
)

func newQuiet(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "quiet DURATION|off",
		Short: "Tell prompts nothing for a while",
		Long: `Tell prompts nothing for a while, in all sessions on this machine: 30m, 2h, 3d.
Session starts and questions are answered as always. off ends it.

The setting inject.prompt.on is for good.`,
		Example: `  anamnesis quiet 2h
  anamnesis quiet off`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return run(p, cmd, "quiet", filesOnly, func(_ context.Context, r *app.Rooms) (app.QuietAnswer, error) {
				if args[0] == "off" {
					return app.BeQuiet(r, 0)
				}
				now := r.Store.Now()
				at, err := app.Moment("quiet", args[0], now)
				if err != nil || !at.Before(now) {
					return app.QuietAnswer{}, usage("quiet %q: give a duration such as 30m, 2h or 3d, or off", args[0])
				}
				return app.BeQuiet(r, now.Sub(at))
			}, func(a app.QuietAnswer) {
				if a.Until == "" {
					p.printf("prompts are told what they are about\n")
					return
				}
				until, _ := time.Parse(time.RFC3339, a.Until)
				p.printf("prompts are told nothing until %s; `anamnesis quiet off` ends that\n", clock(until.Local()))
			})
		},
	}
}
