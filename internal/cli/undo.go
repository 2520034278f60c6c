package cli

import (
	"context"

	"anamnesis/internal/app"
	"anamnesis/internal/app/history"
	"anamnesis/internal/ingest"

	"github.com/spf13/cobra"
)

func newUndo(p *program) *cobra.Command {
	var o app.MaintainOptions
	cmd := &cobra.Command{
		Use:   "undo RUN",
		Short: "Undo what one run of reflect, merge or import wrote",
		Long: `Undo what one run wrote, and nothing else: notes that it changed get their former
version, notes that it wrote are archived. A note that was changed since stays as it
is and is named. ` + "`anamnesis log history --runs`" + ` lists the runs of
this machine; reflect, merge and import print theirs. Without --apply it only
says what it would do.

Exit codes: 0 everything is undone; 4 some notes stay, because they were changed.`,
		Example: `  anamnesis log history --runs
  anamnesis undo 01M8
  anamnesis undo 01M8 --apply`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return run(p, cmd, "undo", app.OpenWalked, func(ctx context.Context, r *app.Rooms) (history.UndoAnswer, error) {
				return history.Undo(ctx, r, args[0], o)
			}, p.printUndone)
		},
	}
	cmd.Flags().BoolVar(&o.Apply, "apply", false, "do it")
	cmd.Flags().BoolVar(&o.NoSync, "no-sync", false, "commit on this machine only")
	return cmd
}

func (p *program) printUndone(a history.UndoAnswer) {
	n := make(map[string]int)
	for _, u := range a.Notes {
		n[u.Result]++
		title := firstLine(u.Title, 60)
		switch u.Result {
		case ingest.UndoEdited:
			p.printf("  %s %q was changed since and stays", u.ID, title)
			if u.Rev != "" {
				p.printf("; separately: anamnesis restore %s@%s --apply", u.ID, u.Rev)
			}
			p.printf("\n")
		case ingest.UndoLost:
			p.printf("  %s %q stays: its former form is not in the history any more\n", u.ID, title)
		case ingest.UndoGone:
			p.printf("  %s is gone\n", u.ID)
		case ingest.UndoRestored, ingest.UndoArchived:
			if !a.Applied {
				p.printf("  %s %q: %s\n", u.ID, title, u.Result)
			}
		}
	}
	restore, archive := "would restore", "archive"
	if a.Applied {
		restore, archive = "restored", "archived"
	}
	p.printf("undo of %s (%s, %s): %s %s, %s %s; %s stay as they are\n", a.Run, printable(a.What), printable(a.At),
		restore, plural(n[ingest.UndoRestored], "note"), archive, plainInt(n[ingest.UndoArchived]), plainInt(a.Left))
	if !a.Applied {
		p.printf("nothing was changed yet; add --apply to do it\n")
	}
	p.undoLine(a.Undo)
}
