package cli

import (
	"context"
	"strings"

	"anamnesis/internal/app"
	"anamnesis/internal/app/history"

	"github.com/spf13/cobra"
)

func newRestore(p *program) *cobra.Command {
	var apply bool
	var damaged bool
	var since, until string
	cmd := &cobra.Command{
		Use:   "restore {ID@REV | --since TIME | --damaged}",
		Short: "Restore a former version of a note",
		Long: `Restore a former version of a note, or a note that was deleted. Without --apply it only
shows what would change. The present version is kept, so that a restore can be undone.
A forgotten note cannot be restored.

With --since every note that changed on this machine since then gets its version of that
time; that undoes a command that changed many notes.

With --damaged every note that a power loss, a full disk or another program emptied,
truncated or corrupted gets the version of the last commit, or the newest of its history.`,
		Example: `  anamnesis restore 9KQT@3f9c2ab
  anamnesis restore --damaged`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case damaged && since+until == "" && len(args) == 0:
				return run(p, cmd, "restore", app.OpenWalked, func(ctx context.Context, r *app.Rooms) (history.RewindAnswer, error) {
					return history.RestoreDamaged(ctx, r, apply)
				}, p.printRewound)
			case damaged:
				return usage("restore: --damaged is about all damaged notes, and takes no other; a single one: ID@HEAD")
			case since != "" && len(args) == 0:
				return run(p, cmd, "restore", app.OpenWalked, func(ctx context.Context, r *app.Rooms) (history.RewindAnswer, error) {
					return history.Rewind(ctx, r, since, until, apply)
				}, p.printRewound)
			case since != "" || until != "" || len(args) == 0:
				return usage("restore: give ID@REV, or --since TIME and, if wanted, --until TIME")
			}
			name, rev, ok := strings.Cut(args[0], "@")
			if !ok || name == "" || rev == "" {
				return usage("restore %s: say which form: ID@REV; `anamnesis log history ID` lists them", args[0])
			}
			return run(p, cmd, "restore", app.OpenWalked, func(ctx context.Context, r *app.Rooms) (history.RestoreAnswer, error) {
				return history.Restore(ctx, r, name, rev, apply)
			}, p.printRestored)
		},
	}
	cmd.Flags().BoolVar(&apply, "apply", false, "do it")
	cmd.Flags().BoolVar(&damaged, "damaged", false, "bring back what is damaged")
	cmd.Flags().StringVar(&since, "since", "", "take back what changed since `TIME`: 2026-03-31T14:00:00Z, 2026-03-31, 90m, 12h, 3d")
	cmd.Flags().StringVar(&until, "until", "", "and not after `TIME`")
	return cmd
}

func (p *program) printRestored(a history.RestoreAnswer) {
	switch {
	case !a.Applied:
		p.verbatim(a.Diff)
		p.printf("restore: nothing was changed yet; add --apply to do it\n")
	case !a.Changed:
		p.printf("restore: %s has that form already\n", a.ID)
	default:
		p.printf("restore: %s is as it was at %s\n  %s\n", a.ID, a.Rev, a.Path)
		p.undoLine(a.Undo)
	}
}

// at is how a revision is written behind a note, "" for none.
func at(rev string) string {
	if rev == "" {
		return ""
	}
	return "@" + rev
}

func (p *program) printRewound(a history.RewindAnswer) {
	for _, n := range a.Notes {
		p.printf("restore: %s%s%s%s\n", n.ID, at(n.Rev), because(n.Why), because(n.Error))
	}
	if !a.Applied {
		would := len(a.Notes) - a.Left
		p.printf("restore: %s would change%s\n", plural(would, "note"), dryRun(would))
		return
	}
	p.printf("restore: %s have their former form\n", plural(a.Changed, "note"))
	p.undoLine(a.Undo)
}
