package cli

import (
	"context"

	"anamnesis/internal/app"
	"anamnesis/internal/app/hooks"
	"anamnesis/internal/inject"
	"anamnesis/internal/note"

	"github.com/spf13/cobra"
)

// pageAnswer is what page prints.
type pageAnswer struct {
	Project string         `json:"project"`
	Text    string         `json:"text"`
	Tokens  int            `json:"tokens"`
	Lines   []inject.Line  `json:"lines"`
	Topics  []inject.Topic `json:"topics"`
	Left    []inject.Line  `json:"left_out"`
	Shown   []note.ID      `json:"shown"`
}

func newPage(p *program) *cobra.Command {
	var o hooks.StartOptions
	cmd := &cobra.Command{
		Use:   "page",
		Short: "Show the page of a project, and why each line is on it",
		Long: `Show the page that a session of this folder's project sees at its start, the reason for
each line, and what is left out: what the agent's own files say already, duplicates, notes
whose code is gone, and notes that only a topic line stands for.`,
		Example: `  anamnesis page
  anamnesis page --project global`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return run(p, cmd, "page", app.OpenWalked, func(ctx context.Context, r *app.Rooms) (pageAnswer, error) {
				b, place, err := hooks.SessionStart(ctx, r, p.given(), o)
				for _, missing := range b.Missing {
					p.note("left out: %s", missing)
				}
				return pageAnswer{place.Project, b.Text, b.Tokens(), b.Lines, b.Topics, b.Dropped, b.Shown}, err
			}, p.printPage)
		},
	}
	cmd.Flags().StringVar(&o.Project, "project", "", "project `KEY` (default: the one of the current folder)")
	return cmd
}

func (p *program) printPage(a pageAnswer) {
	if a.Text == "" {
		p.printf("Nothing is known of %s yet.\n", a.Project)
		return
	}
	p.verbatim(a.Text)
	p.printf("\n%s, about %d tokens\n", plural(len(a.Lines), "note"), a.Tokens)
	for _, l := range a.Lines {
		p.printf("  %s  %s: %s\n", p.short(l.ID), note.Line(l.Title, 60), l.Why)
	}
	if len(a.Left) > 0 {
		p.printf("\nLeft out:\n")
	}
	for _, l := range a.Left {
		p.printf("  %s  %s: %s\n", p.short(l.ID), note.Line(l.Title, 60), l.Why)
	}
}
