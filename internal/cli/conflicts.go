package cli

import (
	"context"
	"fmt"
	"path/filepath"

	"anamnesis/internal/app"
	"anamnesis/internal/ingest"

	"github.com/spf13/cobra"
)

func newConflicts(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "conflicts",
		Short: "Decide what a merge could not decide",
		Long: `When two machines change the same lines of a note, one version stays in its place
and the other waits here; nothing is lost and nothing stops. Without arguments the
conflicts are listed.`,
		Example: `  anamnesis review conflicts
  anamnesis review conflicts show 01M7
  anamnesis review conflicts resolve 01M7 --take`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return p.listConflicts() },
	}
	list := &cobra.Command{
		Use: "list", Short: "List the conflicts, oldest first", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return p.listConflicts() },
	}
	show := &cobra.Command{
		Use: "show ID", Short: "Print both versions as a diff", Args: cobra.ExactArgs(1),
		Long: `Print both versions as a diff: lines with - are in the version that stands in its
place, lines with + in the one that waits.`,
		RunE: func(_ *cobra.Command, args []string) error { return p.showConflict(args[0]) },
	}
	cmd.AddCommand(list, show, newResolve(p))
	return cmd
}

func newResolve(p *program) *cobra.Command {
	var keep, take, both, edit bool
	cmd := &cobra.Command{
		Use:   "resolve ID --keep|--take|--both|--edit",
		Short: "Say how a conflict ends",
		Long: `Say how a conflict ends. The version that goes is kept in the history of the note.
If one machine forgot the note, --keep lets it stay forgotten, and --take and
--edit bring it back.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			choice := ingest.TakeEdited
			switch {
			case keep:
				choice = ingest.KeepWinner
			case take:
				choice = ingest.TakeLoser
			case both:
				choice = ingest.KeepBoth
			}
			return p.resolveConflict(cmd, args[0], choice)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&keep, "keep", false, "the version in its place stays")
	f.BoolVar(&take, "take", false, "the version that waits takes its place")
	f.BoolVar(&both, "both", false, "both stay: the one that waits becomes a separate note")
	f.BoolVar(&edit, "edit", false, "write the note yourself, in $VISUAL or $EDITOR, with both versions before you")
	cmd.MarkFlagsMutuallyExclusive("keep", "take", "both", "edit")
	cmd.MarkFlagsOneRequired("keep", "take", "both", "edit")
	return cmd
}

func (p *program) listConflicts() error {
	s, err := p.openStore()
	if err != nil {
		return err
	}
	a, err := app.Conflicts(s)
	return render(p, "conflicts", a, err, func(a app.ConflictsAnswer) {
		for _, c := range a.Conflicts {
			before := fmt.Sprintf("%s  %-10s %s  ", c.ID, c.Why, c.At)
			p.printf("%s%s\n    %s\n", before, p.rest(before, c.Title, 80), c.Sentence())
		}
		if len(a.Conflicts) == 0 {
			p.note("there is no conflict")
		}
	})
}

func (p *program) showConflict(name string) error {
	s, err := p.openStore()
	if err != nil {
		return err
	}
	a, err := app.ShowConflict(s, name)
	return render(p, "conflicts", a, err, func(a app.ConflictAnswer) {
		p.printf("%s: %s\n", a.ID, a.Sentence())
		if a.Kept == nil {
			p.printf("there is no version in its place\n")
		}
		p.verbatim(a.Diff)
		if a.Diff == "" {
			p.printf("the versions are equal by now\n")
		}
		p.note("`anamnesis review conflicts resolve %s` with --keep (-), --take (+), --both or --edit ends it", a.ID)
	})
}

// resolveConflict ends a conflict. Nobody holds the lock while somebody edits.
func (p *program) resolveConflict(cmd *cobra.Command, name string, choice ingest.Choice) error {
	return run(p, cmd, "conflicts", now, func(ctx context.Context, r *app.Rooms) (a app.ResolvedAnswer, err error) {
		var edited []byte
		if choice == ingest.TakeEdited {
			if edited, err = p.editConflict(ctx, r.Store, name); err != nil {
				return a, err
			}
		}
		a, err = app.ResolveConflict(ctx, r, name, choice, edited)
		if left := a.Left; err == nil && left > 0 && !p.json {
			defer p.note("%s left", plural(left, "conflict"))
		}
		return a, err
	}, func(a app.ResolvedAnswer) {
		p.printf("conflicts: resolved %s (%s)\n", a.Resolved.ID, a.Choice)
		for _, path := range a.Changed {
			p.printf("  %s\n", filepath.Join(p.cfg.Home, filepath.FromSlash(path)))
		}
	})
}
