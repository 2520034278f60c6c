package cli

import (
	"context"
	"fmt"

	"anamnesis/internal/app"

	"github.com/spf13/cobra"
)

func newHeld(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "held",
		Short: "Decide on notes that wait because they nearly exist",
		Long: `A note that a machine wrote and that says almost what another note says is held
back until you decide. Without arguments the held notes are listed.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return run(p, cmd, "held", filesOnly, app.Held, func(a app.HeldAnswer) {
				for i, n := range a.Held {
					before := fmt.Sprintf("%s  [%s] ", n.ID, n.Type)
					p.printf("%s%s\n    %s\n", before, p.rest(before, n.Title, 100), p.rest("    ", a.Bodies[i], 100))
				}
				if len(a.Held) == 0 {
					p.note("nothing is held")
				}
			})
		},
	}
	keep := &cobra.Command{
		Use: "keep ID", Short: "Write a held note", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return run(p, cmd, "held", app.OpenWalked, func(ctx context.Context, r *app.Rooms) (app.Written, error) {
				return app.KeepDraft(ctx, r, args[0])
			}, p.printWritten("held"))
		},
	}
	drop := &cobra.Command{
		Use: "drop ID", Short: "Forget a held note", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return run(p, cmd, "held", filesOnly, func(ctx context.Context, r *app.Rooms) (app.DroppedDraft, error) {
				return app.DropDraft(ctx, r, args[0])
			}, func(d app.DroppedDraft) {
				p.printf("held: dropped %s %q\n", d.Dropped.ID, firstLine(d.Dropped.Title, 60))
			})
		},
	}
	cmd.AddCommand(keep, drop)
	return cmd
}
