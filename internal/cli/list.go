package cli

import (
	"context"

	"anamnesis/internal/app"

	"github.com/spf13/cobra"
)

func newList(p *program) *cobra.Command {
	var s app.Selection
	var limit int
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List notes, newest first",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit < 0 {
				return usage("list: --limit %d: give 0 for all, or a number", limit)
			}
			return run(p, cmd, "list", app.OpenWalked, func(ctx context.Context, r *app.Rooms) (app.ListAnswer, error) {
				return app.List(ctx, r, s, limit)
			}, p.printList)
		},
	}
	selectionFlags(cmd.Flags(), &s)
	cmd.Flags().IntVar(&limit, "limit", 0, "notes at most; 0 means all")
	return cmd
}

func (p *program) printList(a app.ListAnswer) {
	for _, n := range a.Notes {
		mark := " "
		if !n.Live {
			mark = "×"
		}
		p.printf("%s %s %s %-10s %-28s %s%s\n", p.in(dim, string(n.ID)), mark, date(n.Row.Updated), n.Type, firstLine(n.Project, 28),
			p.in(bold, firstLine(n.Title, 80)), onBranch(n.Branch))
	}
	if len(a.Notes) == 0 {
		p.note("no notes; `anamnesis add --title TITLE --body TEXT` writes one")
	}
}
