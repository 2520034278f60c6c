package cli

import (
	"context"

	"anamnesis/internal/app"
	"anamnesis/internal/app/curate"

	"github.com/spf13/cobra"
)

func newVerify(p *program) *cobra.Command {
	var o curate.VerifyOptions
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Find notes whose code has changed",
		Long: `Look in this clone whether the files, symbols and build targets that the notes of
its project name are as they were when the notes were written. It lists what is not:

  gone      nothing of what the note names is left; sessions are not shown the note
  changed   the lines that define it are others; sessions are shown the note with a mark
  moved     it stands in another file

It reads files, runs nothing and asks no model. A note that names no code is not
looked at. "verify keep" says that a note holds for the code as it is now;
"anamnesis archive" takes away one that does not.`,
		Example: `  anamnesis review stale
  anamnesis review stale keep 9KQT
  anamnesis archive 9KQT`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return ask(p, cmd, "verify", func(ctx context.Context, r *app.Rooms) (curate.VerifyAnswer, error) {
				return curate.Verify(ctx, r, o)
			}, p.printVerify)
		},
	}
	cmd.Flags().BoolVar(&o.All, "all", false, "list the notes too whose code is as it was")
	cmd.PersistentFlags().StringVar(&o.Dir, "dir", "", "a folder of the clone (default: the current one)")
	cmd.AddCommand(&cobra.Command{
		Use: "keep ID...", Short: "Say that notes hold for the code as it is now", Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return run(p, cmd, "verify", app.OpenWalked, func(ctx context.Context, r *app.Rooms) (curate.VerifyKept, error) {
				return curate.KeepVerified(ctx, r, o.Dir, args)
			}, p.printVerifyKept)
		},
	})
	return cmd
}

func (p *program) printVerify(a curate.VerifyAnswer) {
	for _, n := range a.Notes {
		p.printf("%-8s %s  %s\n", n.State, p.short(n.ID), firstLine(n.Title, 70))
		for _, f := range n.Findings {
			where := ""
			if f.Where != "" {
				where = ", now in " + printable(f.Where)
			}
			p.printf("           %s: %s%s\n", printable(f.About), f.State, where)
		}
	}
	switch {
	case a.Looked == 0:
		p.note("no note of %s names code that was looked up when it was written", printable(a.Project))
	case a.Moved == 0:
		p.note("the code that %s of %s name is as it was", plural(a.Looked, "note"), printable(a.Project))
	default:
		p.note("`anamnesis review stale keep ID` for a note that holds, `anamnesis archive ID` for one that does not")
	}
}

func (p *program) printVerifyKept(a curate.VerifyKept) {
	for _, n := range a.Kept {
		p.printf("verify: %s %q holds", n.ID, firstLine(n.Title, 60))
		if len(n.Findings) == 0 {
			p.printf("; it names no code of this clone, and is not looked at again")
		}
		p.printf("\n")
	}
}
