package cli

import (
	"context"
	"strings"

	"anamnesis/internal/app"
	"anamnesis/internal/note"

	"github.com/spf13/cobra"
)

func newShow(p *program) *cobra.Command {
	var raw, path, history bool
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Print a note",
		Long: `Print a note. The beginning or the end of its id is enough when it names only
one note.`,
		Example: `  anamnesis show 9KQT`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if path {
				r, err := app.OpenWalked(cmd.Context(), p.host())
				if err != nil {
					return err
				}
				defer r.Close()
				at, err := app.PathOf(cmd.Context(), r, args[0])
				if err == nil {
					p.verbatim(at + "\n")
				}
				return err
			}
			return ask(p, cmd, "show", func(ctx context.Context, r *app.Rooms) (app.ShowAnswer, error) {
				return app.Show(ctx, r, args[0])
			}, func(a app.ShowAnswer) {
				switch {
				case raw:
					_, _ = p.stdout.Write(a.File)
				case history:
					p.printRevisions(a)
				default:
					p.printShown(a)
				}
			})
		},
	}
	cmd.Flags().BoolVar(&raw, "raw", false, "print the file as it is")
	cmd.Flags().BoolVar(&path, "path", false, "print only where the file is")
	cmd.Flags().BoolVar(&history, "history", false, "list its former states")
	return cmd
}

// printRevisions lists the former states of a note.
func (p *program) printRevisions(a app.ShowAnswer) {
	for i, r := range a.Revisions {
		p.printf("%s  %s  %s\n", r.At.Format("2006-01-02 15:04:05"), r.Reason, a.History[i])
	}
	if len(a.Revisions) == 0 {
		p.note("the note has not changed since it was written")
	}
}

func (p *program) printShown(a app.ShowAnswer) {
	p.printf("# %s\n\n[%s] project %s · from %s · source %s (confidence %g)\n", firstLine(a.Title, note.MaxTitle), a.Type, a.Project,
		a.MachineID, a.Source, a.Confidence)
	p.printf("created %s · updated %s", dated(note.Stamp(a.CreatedAt)), dated(note.Stamp(a.UpdatedAt)))
	if len(a.Tags) > 0 {
		p.printf(" · tags %s", strings.Join(a.Tags, ", "))
	}
	switch {
	case a.Reviewed != "":
		p.printf(" · reviewed %s", dated(note.Stamp(a.Reviewed)))
	case !a.Vouched && a.Author == "" && (a.Source == note.Human || a.Source == note.User):
		p.printf(" · changed outside this program, not confirmed; `anamnesis review keep` confirms it")
	}
	if a.Branch != "" {
		p.printf(" · branch %s", firstLine(a.Branch, 60))
	}
	if a.SharedFrom != "" {
		p.printf("\nshared by %s; it stands in the team's repository %s\n", firstLine(a.Author, 60), firstLine(a.SharedFrom, 200))
	} else if a.Author != "" {
		p.printf("\nshared by %s; its file is on their machine\n", firstLine(a.Author, 60))
	} else {
		p.printf("\n%s\n", a.Path)
	}
	if a.Said > 0 {
		p.printf("you said it in %s", plural(a.Said, "session"))
		if a.LastSaid != "" {
			p.printf(", last %s", dated(note.Stamp(a.LastSaid)))
		}
		p.printf("\n")
	}
	p.printWhen(a.When, a.Proposed)
	if len(a.ConfirmedBy) > 0 {
		p.printf("said by %s too\n", firstLine(strings.Join(a.ConfirmedBy, ", "), 200))
	}
	p.printf("shown unasked %d×, found %d×", a.Injected, a.Recalled)
	if len(a.Revisions) > 0 {
		p.printf(" · %s (`anamnesis show --history %s`)", plural(len(a.Revisions), "former state"), a.ID)
	}
	p.printf("\n")
	if a.SupersededBy != "" {
		p.printf("superseded by %s\n", a.SupersededBy)
	} else if !a.Live {
		p.printf("not live: it is kept, and not shown to sessions\n")
	}
	if a.About != "" {
		p.printf("about: %s\n", a.About)
	}
	p.printf("\n")
	for _, d := range a.Details {
		p.printf("%s\n", printable(d.String()))
	}
	if len(a.Details) > 0 {
		p.printf("\n")
	}
	p.verbatim(a.Body + "\n")
}

// printWhen tells the triggers of a note, its own or those that it has by its form.
func (p *program) printWhen(own, proposed []string) {
	switch {
	case len(own) > 0:
		p.printf("triggers: %s\n", printable(strings.Join(own, ", ")))
	case len(proposed) > 0:
		p.printf("triggers by its form: %s\n", printable(strings.Join(proposed, ", ")))
	}
}
