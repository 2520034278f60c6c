package cli

import (
	"context"

	"anamnesis/internal/agent"
	"anamnesis/internal/app"
	"anamnesis/internal/cli/hook"
	"anamnesis/internal/note"

	"github.com/spf13/cobra"
)

// startAnswer is what inject prints.
type startAnswer struct {
	Project string    `json:"project"`
	Text    string    `json:"text"`
	Shown   []note.ID `json:"shown"`
	Cut     []note.ID `json:"cut"`
	Left    []note.ID `json:"left_out"`
	Missing []string  `json:"missing"`
}

func newInject(p *program) *cobra.Command {
	var o app.StartOptions
	cmd := &cobra.Command{
		Use:   "inject",
		Short: "Print what the next session is told",
		Long: `Print the block that a session of this folder's project is told at its start:
all global notes, then up to k notes of the project, two recent sessions among them.

As a SessionStart hook it reads the event from standard input, stays under the
agent's limit and prints nothing but the block.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("k") && o.K < 0 {
				return usage("inject: --k %d: give 0 for global notes only, or a number", o.K)
			}
			return run(p, cmd, "inject", app.OpenWalked, func(ctx context.Context, r *app.Rooms) (startAnswer, error) {
				b, place, err := app.SessionStart(ctx, r, p.given(), o)
				for _, missing := range b.Missing {
					p.note("left out: %s", missing)
				}
				return startAnswer{place.Project, b.Text, b.Shown, b.Cut, b.Left, b.Missing}, err
			}, func(a startAnswer) { p.printf("%s", a.Text) })
		},
	}
	hook.StartFlags(cmd.Flags(), &o)
	return cmd
}

// given is the event on standard input of a command that runs by hand.
func (p *program) given() agent.Event {
	if p.event != nil {
		return *p.event
	}
	return agent.Event{}
}
