package cli

import (
	"context"
	"fmt"

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
			return ask(p, cmd, "list", func(ctx context.Context, r *app.Rooms) (app.ListAnswer, error) {
				return app.List(ctx, r, s, limit)
			}, p.printList)
		},
	}
	selectionFlags(cmd.Flags(), &s)
	cmd.Flags().IntVar(&limit, "limit", 0, "notes at most; 0 means all")
	return cmd
}

func (p *program) printList(a app.ListAnswer) {
	width := 0
	for _, n := range a.Notes {
		width = max(width, len(p.short(n.ID)))
	}
	for _, n := range a.Notes {
		mark := " "
		if !n.Live {
			mark = "×"
		}
		before := fmt.Sprintf("%s %s %-10s %-28s ", mark, date(n.Row.Updated), n.Type, firstLine(n.Project, 28))
		branch := onBranch(n.Branch)
		id := fmt.Sprintf("%-*s", width, p.short(n.ID))
		p.printf("%s %s%s%s\n", p.in(dim, id), before, p.in(bold, p.rest(id+" "+before+branch, n.Title, 80)), branch)
	}
	if len(a.Notes) == 0 {
		p.note("no notes; `anamnesis add --title TITLE --body TEXT` writes one")
	}
}
