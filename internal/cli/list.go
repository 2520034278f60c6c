package cli

import (
	"context"
	"fmt"

	"anamnesis/internal/app"
	"anamnesis/internal/app/history"

	"github.com/spf13/cobra"
)

func newList(p *program) *cobra.Command {
	var s app.Selection
	var limit int
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List notes, newest first",
		Long: "Lists notes, newest first: 50, or as many as --limit says. When there are more, standard error says how many, and\n" +
			"with --json they are counted in \"total\".",
		Example: `  anamnesis list --project .
  anamnesis list --type procedural --tags deploy --limit 5`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit < 0 {
				return usage("list: --limit %d: give 0 for all, or a number", limit)
			}
			return ask(p, cmd, "list", func(ctx context.Context, r *app.Rooms) (app.ListAnswer, error) {
				a, err := app.List(ctx, r, s, limit)
				if err != nil {
					return a, err
				}
				a.Damaged, err = history.Damaged(ctx, r)
				return a, err
			}, p.printList)
		},
	}
	selectionFlags(cmd.Flags(), &s)
	cmd.Flags().IntVar(&limit, "limit", listedNotes, "notes at most; 0 means all")
	return cmd
}

// listedNotes is how many notes a list has that was asked for no number.
const listedNotes = 50

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
	if line := app.DamagedLine(len(a.Damaged)); line != "" {
		p.note("%s", line)
	}
	if len(a.Notes) < a.Total {
		p.note("these are the newest %d of %s; --limit shows more of them, --limit 0 all", len(a.Notes), plural(a.Total, "note"))
	}
}
