package cli

import (
	"context"

	"anamnesis/internal/app"
	"anamnesis/internal/ingest"
	"anamnesis/internal/note"

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
		RunE: func(cmd *cobra.Command, _ []string) error { return p.review(cmd.Context()) },
	}
	cmd.AddCommand(
		&cobra.Command{
			Use: "list", Short: "List them", Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error { return p.review(cmd.Context()) },
		},
		&cobra.Command{
			Use: "keep ID...", Short: "Say that a note is right", Args: cobra.MinimumNArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error { return p.reviewKeep(cmd.Context(), args) },
		},
		&cobra.Command{
			Use: "drop ID...", Short: "Archive a note", Args: cobra.MinimumNArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				return p.reviewDrop(cmd.Context(), args)
			},
		},
	)
	return cmd
}

func (p *program) review(ctx context.Context) error {
	m, err := p.openWalked(ctx)
	if err != nil {
		return err
	}
	defer m.close()
	quarantined, others, err := app.Unread(ctx, m.Rooms)
	if err != nil {
		return err
	}
	type row struct {
		app.NoteHead
		Body       string `json:"body"`
		Quarantine bool   `json:"quarantine"`
	}
	rows := []row{}
	for _, n := range append(quarantined, others...) {
		rows = append(rows, row{app.HeadOf(n), n.Body, n.Quarantine})
		mark := ""
		if n.Quarantine {
			mark = " (in quarantine)"
		}
		p.say("%s  [%s] %s  %s%s\n  %s\n", n.ID, n.Type, firstLine(n.Project, 40), firstLine(n.Title, 70), mark, firstLine(n.Body, 110))
	}
	if p.json {
		return p.emit(struct {
			header
			Notes []row `json:"notes"`
		}{head("review"), rows})
	}
	if len(rows) == 0 {
		p.note("nothing waits for a look")
		return nil
	}
	p.printf("`anamnesis review keep ID` says that one is right, `review drop ID` archives it, `why ID` tells what it was made of\n")
	return nil
}

func (p *program) reviewKeep(ctx context.Context, names []string) error {
	m, err := p.openWalked(ctx)
	if err != nil {
		return err
	}
	defer m.close()
	rows, err := app.Named(ctx, m.Rooms, names, "")
	if err != nil {
		return err
	}
	kept := []note.ID{}
	for _, r := range rows {
		out, err := m.Ingester.Review(ctx, r.ID)
		if err != nil {
			return err
		}
		if out.Stale != nil {
			p.note("the note is safe, but not in the index yet: %v; `anamnesis reindex` mends that", out.Stale)
		}
		kept = append(kept, r.ID)
		p.say("review: %s %q is right\n", r.ID, firstLine(r.Title, 60))
	}
	if p.json {
		return p.emit(struct {
			header
			Kept []note.ID `json:"kept"`
		}{head("review"), kept})
	}
	return nil
}

func (p *program) reviewDrop(ctx context.Context, names []string) error {
	m, err := p.openWalked(ctx)
	if err != nil {
		return err
	}
	rows, err := app.Named(ctx, m.Rooms, names, "")
	m.close()
	if err != nil {
		return err
	}
	for i, r := range rows {
		names[i] = string(r.ID)
	}
	return p.setArchived(ctx, "archive", names, "", func(g *ingest.Ingester, ids []note.ID) ([]ingest.StatusChange, error) {
		return g.Archive(ctx, ids, "reviewed, not right")
	})
}
