package cli

import (
	"cmp"
	"context"
	"fmt"

	"anamnesis/internal/app"
	"anamnesis/internal/app/curate"

	"github.com/spf13/cobra"
)

func newHeld(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "held",
		Short: "Resolve near-duplicates and files that do not travel",
		Long: `List what is held back until you decide: notes that a machine wrote and that say
almost what another note says, and files that no sync sends, because they hold what
looks like a secret, lost their text, or say that you vouch for them when this machine
does not know that (` + "`anamnesis review keep ID`" + `). What was found is shown masked.

Take a secret out of its note with ` + "`anamnesis edit ID`" + `, or release the note: the
first ` + "`anamnesis review held release ID`" + ` tells what would go where, with --apply it goes with
the next sync, and until then --undo keeps it here.`,
		Example: `  anamnesis review held
  anamnesis review held release 9KQT
  anamnesis review held release 9KQT --apply`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return run(p, cmd, "held", filesOnly, curate.Held, p.printHeld)
		},
	}
	keep := &cobra.Command{
		Use: "keep ID", Short: "Write a held note", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return run(p, cmd, "held", app.OpenWalked, func(ctx context.Context, r *app.Rooms) (app.Written, error) {
				return curate.KeepDraft(ctx, r, args[0])
			}, p.printWritten("held"))
		},
	}
	drop := &cobra.Command{
		Use: "drop ID", Short: "Forget a held note", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return run(p, cmd, "held", filesOnly, func(ctx context.Context, r *app.Rooms) (curate.DroppedDraft, error) {
				return curate.DropDraft(ctx, r, args[0])
			}, func(d curate.DroppedDraft) {
				p.printf("held: dropped %s %q\n", d.Dropped.ID, firstLine(d.Dropped.Title, 60))
			})
		},
	}
	cmd.AddCommand(keep, drop, p.newRelease())
	return cmd
}

func (p *program) printHeld(a curate.HeldAnswer) {
	for i, n := range a.Held {
		before := fmt.Sprintf("%s  [%s] ", n.ID, n.Type)
		p.printf("%s%s\n    %s\n", before, p.rest(before, n.Title, 100), p.rest("    ", a.Bodies[i], 100))
	}
	for _, f := range a.Withheld {
		before := fmt.Sprintf("%s  [does not travel] ", printable(f.Name()))
		p.printf("%s%s\n", before, p.rest(before, cmp.Or(f.Title, f.Path), 100))
		if f.Released {
			p.printf("    released: goes %s; `anamnesis review held release %s --undo` keeps it here\n", goesTo(a.Remote), printable(f.Name()))
			continue
		}
		p.printf("    memory/%s: %s\n", printable(f.Path), firstLine(f.Why, 300))
		for _, line := range f.Found {
			p.printf("    %s\n", p.rest("    ", line, 200))
		}
		if f.Lost() {
			p.printf("    `anamnesis restore %s@HEAD --apply` brings its text back\n", printable(f.Name()))
		}
	}
	if len(a.Held)+len(a.Withheld) == 0 {
		p.note("nothing is held")
	}
}

// goesTo says where a released note goes, and when.
func goesTo(remote string) string {
	if remote == "" {
		return "to the remote that you set, with its first sync (none is set now)"
	}
	return "to " + remote + " with the next sync"
}

func (p *program) newRelease() *cobra.Command {
	var apply, undo bool
	cmd := &cobra.Command{
		Use:   "release ID",
		Short: "Let a note travel in spite of what was found in it",
		Long: `Tell what of a note would go to which remote, with what was found in it masked. With
--apply it goes as it is now, with the next sync; a note that changes is held back
again. Until that sync --undo keeps it here. What was sent once is in the history of
the remote: change such a secret then.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			step := map[bool]app.ReleaseStep{true: app.ReleaseApply}[apply]
			if undo {
				step = app.ReleaseUndo
			}
			return run(p, cmd, "held", app.OpenWalked, func(ctx context.Context, r *app.Rooms) (app.Release, error) {
				return app.ReleaseWithheld(ctx, r, args[0], step)
			}, func(a app.Release) { p.printRelease(a, undo) })
		},
	}
	cmd.Flags().BoolVar(&apply, "apply", false, "let it go with the next sync")
	cmd.Flags().BoolVar(&undo, "undo", false, "keep it here after all, when no sync has taken it yet")
	cmd.MarkFlagsMutuallyExclusive("apply", "undo")
	return cmd
}

func (p *program) printRelease(a app.Release, undo bool) {
	name := printable(a.Name)
	switch {
	case len(a.Files) == 0 && undo:
		p.printf("held: %s was not released\n", name)
		return
	case len(a.Files) == 0:
		p.printf("held: nothing keeps %s back\n", name)
		return
	case a.Undone:
		p.printf("held: %s stays here\n", name)
		return
	}
	for _, f := range a.Files {
		p.printf("%s: %s\n", printable(f.Path), firstLine(f.Why, 300))
		for _, line := range f.Found {
			p.printf("    %s\n", p.rest("    ", line, 200))
		}
	}
	if !a.Applied {
		p.printf("held: %q would go %s; nothing was changed, --apply lets it go\n", a.Title, goesTo(a.Remote))
		return
	}
	p.printf("held: %q goes %s\n", a.Title, goesTo(a.Remote))
	p.undoLine("anamnesis review held release " + name + " --undo")
}
