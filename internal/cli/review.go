package cli

import (
	"context"

	"anamnesis/internal/app"

	"github.com/spf13/cobra"
)

func newReview(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "review",
		Short: "Look at notes that a model wrote and nobody has read",
		Long: `List the notes that a model distilled or merged and that you have not looked at, the
ones in quarantine first: those read like orders to an agent, and no session is told
of them until you keep them.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return ask(p, cmd, "review", app.Review, p.printReview)
		},
	}
	cmd.AddCommand(
		&cobra.Command{
			Use: "list", Short: "List them", Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				return ask(p, cmd, "review", app.Review, p.printReview)
			},
		},
		&cobra.Command{
			Use: "keep ID...", Short: "Say that a note is right", Args: cobra.MinimumNArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				return run(p, cmd, "review", app.OpenWalked, func(ctx context.Context, r *app.Rooms) (app.ReviewKept, error) {
					return app.KeepReviewed(ctx, r, args)
				}, func(a app.ReviewKept) {
					for i, id := range a.Kept {
						p.printf("review: %s %q is right\n", id, firstLine(a.Titles[i], 60))
					}
				})
			},
		},
		&cobra.Command{
			Use: "drop ID...", Short: "Archive a note", Args: cobra.MinimumNArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				return p.archive(cmd, "archive", app.ArchiveOptions{Names: args, Reason: "reviewed, not right"})
			},
		},
	)
	return cmd
}

func (p *program) printReview(a app.ReviewAnswer) {
	for _, n := range a.Notes {
		mark := ""
		if n.Quarantine {
			mark = " (in quarantine)"
		}
		p.printf("%s  [%s] %s  %s%s\n  %s\n", p.short(n.ID), n.Type, firstLine(n.Project, 40), firstLine(n.Title, 70), mark,
			firstLine(n.Body, 110))
	}
	if len(a.Notes) == 0 {
		p.note("nothing waits for a look")
		return
	}
	p.printf("`anamnesis review keep ID` says that one is right, `review drop ID` archives it, `why ID` tells what it was made of\n")
}
