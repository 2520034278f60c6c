package cli

import (
	"context"
	"strings"
	"time"

	"anamnesis/internal/app"
	"anamnesis/internal/app/hooks"

	"github.com/spf13/cobra"
)

func newQuiet(p *program) *cobra.Command {
	var private bool
	cmd := &cobra.Command{
		Use:   "quiet DURATION|session [ID]|off",
		Short: "Mute memory for a while or for one session",
		Long: `Inject nothing at prompts, tools and sub-agents for a while, in all sessions on this
machine: 30m, 2h, 3d. Session starts and searches work as always.

"quiet session" mutes one session for good: the one that is given, or the one that started
last in this project. With --private it is not captured either, and what Anamnesis kept of it is
forgotten: its notes, the rules that only it taught, its exchanges and messages.

"quiet off" ends both; a private session stays private. To switch injection off for good,
set inject.prompt.on, inject.tools.on or inject.subagents.on to false. A project asks for
quiet with {"quiet": true} in its .anamnesis/config.json.`,
		Example: `  anamnesis quiet 2h
  anamnesis quiet session --private
  anamnesis quiet off`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			open := filesOnly
			if private { // what was kept of the session is forgotten
				open = app.OpenWalked
			}
			return run(p, cmd, "quiet", open, func(ctx context.Context, r *app.Rooms) (hooks.QuietAnswer, error) {
				switch {
				case args[0] == "session":
					return hooks.QuietSession(ctx, r, strings.Join(args[1:], ""), private)
				case private || len(args) > 1:
					return hooks.QuietAnswer{}, usage("quiet %s: --private and an ID go with `quiet session`", args[0])
				case args[0] == "off":
					return hooks.BeQuiet(r, 0)
				}
				now := r.Store.Now()
				at, err := app.Moment("quiet", args[0], now)
				if err != nil || !at.Before(now) {
					return hooks.QuietAnswer{}, usage("quiet %q: give a duration such as 30m, 2h or 3d, or session, or off", args[0])
				}
				return hooks.BeQuiet(r, now.Sub(at))
			}, func(a hooks.QuietAnswer) {
				p.printQuiet(a)
			})
		},
	}
	cmd.Flags().BoolVar(&private, "private", false, "of a session: capture nothing of it either")
	return cmd
}

func (p *program) printQuiet(a hooks.QuietAnswer) {
	for _, id := range a.Private {
		p.printf("session %s is private: it is shown nothing, and nothing of it is captured\n", firstLine(id, 60))
	}
	for _, id := range a.Sessions {
		p.printf("session %s is shown nothing\n", firstLine(id, 60))
	}
	if a.Until == "" {
		if len(a.Sessions)+len(a.Private) == 0 {
			p.printf("prompts are shown what they are about\n")
		}
		return
	}
	until, _ := time.Parse(time.RFC3339, a.Until)
	p.printf("prompts are shown nothing until %s; `anamnesis quiet off` ends that\n", clock(until.Local()))
}
