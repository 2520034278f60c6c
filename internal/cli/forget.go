package cli

import (
	"context"
	"fmt"
	"slices"

	"anamnesis/internal/app"
	"anamnesis/internal/ingest"

	"github.com/spf13/cobra"
)

func newArchive(p *program) *cobra.Command {
	var reason, imported string
	cmd := &cobra.Command{
		Use:   "archive {ID... | --import RUN}",
		Short: "Take notes out of recall, and keep them",
		Long: `Archived notes are neither shown to sessions nor found by search. The files stay,
` + "`anamnesis list --all`" + ` shows them, and ` + "`anamnesis archive undo ID`" + ` brings them back.
--import archives everything that one run of import wrote; the run prints its name.`,
		Example: `  anamnesis archive 9KQT
  anamnesis archive 9KQT --reason 'the service is gone'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if (len(args) == 0) == (imported == "") {
				return usage("archive: give ID..., or --import RUN")
			}
			return p.archive(cmd, "archive", app.ArchiveOptions{Names: args, Import: imported, Reason: reason})
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "`TEXT` that says why, kept in the note")
	cmd.Flags().StringVar(&imported, "import", "", "all notes that the import `RUN` made")
	return cmd
}

func newUnarchive(p *program) *cobra.Command {
	var imported string
	cmd := &cobra.Command{
		Use:   "unarchive {ID... | --import RUN}",
		Short: "Bring archived notes back into recall",
		RunE: func(cmd *cobra.Command, args []string) error {
			if (len(args) == 0) == (imported == "") {
				return usage("unarchive: give ID..., or --import RUN")
			}
			return p.archive(cmd, "unarchive", app.ArchiveOptions{Names: args, Import: imported, Back: true})
		},
	}
	cmd.Flags().StringVar(&imported, "import", "", "all notes that the import `RUN` made")
	return cmd
}

func (p *program) archive(cmd *cobra.Command, command string, o app.ArchiveOptions) error {
	open := app.OpenWalked
	if o.Import != "" { // it decides about many
		open = app.OpenWhole
	}
	return run(p, cmd, command, open, func(ctx context.Context, r *app.Rooms) (app.ArchiveAnswer, error) {
		return app.Archive(ctx, r, o)
	}, p.printArchived(o.Back))
}

func (p *program) printArchived(back bool) func(app.ArchiveAnswer) {
	return func(a app.ArchiveAnswer) {
		for _, d := range a.Notes {
			title := firstLine(d.Row.Title, 60)
			switch {
			case !d.Changed && !back && d.Row.Status != "archived":
				p.printf("archive: %s is out of recall already (%s)\n", d.ID, firstLine(d.Row.Status, 40))
			case !d.Changed && !back:
				p.printf("archive: %s is archived already\n", d.ID)
			case !d.Changed:
				p.printf("unarchive: %s is not archived\n", d.ID)
			case !back:
				p.printf("archive: %s %q is kept and not recalled\n", d.ID, title)
			case d.Row.Status == "" || d.Row.SupersededBy != "":
				p.printf("unarchive: %s %q is not archived any more\n", d.ID, title)
			default:
				p.printf("unarchive: %s %q is recalled again\n", d.ID, title)
			}
		}
		p.undoLine(a.Undo)
	}
}

func newForget(p *program) *cobra.Command {
	var apply, now, undo bool
	var wide app.ForgetWideOptions
	cmd := &cobra.Command{
		Use:   "forget {ID | --text TEXT | --project KEY}",
		Short: "Erase a note for good, on every machine",
		Long: `Erase a note: its file, every note that says exactly the same (under another title,
too, when the body has eight words or more), their former forms, drafts and
conflicts. What stays is a tombstone, which recognises the statement without
holding it, so that no session, import or machine brings it back. The other
machines follow with their next sync. Without --apply it only lists what
would be erased.

The note is out of every answer at once and is erased ten minutes later, by the first
command or hook after that. Until then --undo brings it back, and no sync sends it or
its deletion. --now erases at once and cannot be undone; ` + "`anamnesis archive ID`" + ` can.

--text forgets everything that holds a text, whatever its case, and --project everything of a
project: notes and their former forms, lines of slots, drafts, conflicts, decisions, sessions
with their notes and unread messages. With --apply that is erased at once. What it cannot
reach it names.

A file that comes back, as from a backup, stays out of every answer and does not
travel; ` + "`anamnesis doctor`" + ` names it. --undo takes back that it was forgotten.

The history of git still holds the text: docs/sync.md says how to begin a new one.`,
		Example: `  anamnesis forget 9KQT
  anamnesis forget 9KQT --apply
  anamnesis forget 9KQT --undo
  anamnesis forget --text 'the Initech deal'`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if (len(args) == 1) == (wide.Text+wide.Project != "") || undo && len(args) == 0 {
				return usage("forget: give ID, --text or --project")
			}
			if len(args) == 0 {
				wide.Apply = apply || now
				return run(p, cmd, "forget", app.OpenWhole, func(ctx context.Context, r *app.Rooms) (app.ForgetWideAnswer, error) {
					return app.ForgetWide(ctx, r, wide)
				}, p.printForgottenWide)
			}
			if undo {
				return p.unforget(cmd, args[0])
			}
			return run(p, cmd, "forget", app.OpenWalked, func(ctx context.Context, r *app.Rooms) (app.ForgetAnswer, error) {
				how := app.ForgetPlan
				switch {
				case now:
					how = app.ForgetNow
				case apply:
					how = app.ForgetSoon
				}
				return app.Forget(ctx, r, args[0], how)
			}, func(a app.ForgetAnswer) {
				p.printForgotten(a)
				p.printAlike(a.Alike)
			})
		},
	}
	cmd.Flags().BoolVar(&apply, "apply", false, "do it")
	cmd.Flags().BoolVar(&now, "now", false, "do it at once, without the ten minutes in which it can be undone")
	cmd.Flags().BoolVar(&undo, "undo", false, "bring a forgotten note back that is not erased yet, or whose file is here again")
	cmd.Flags().StringVar(&wide.Text, "text", "", "everything that holds a `TEXT`")
	cmd.Flags().StringVar(&wide.Project, "project", "", "everything of the project `KEY`")
	cmd.MarkFlagsMutuallyExclusive("apply", "undo")
	cmd.MarkFlagsMutuallyExclusive("text", "project")
	cmd.MarkFlagsMutuallyExclusive("now", "undo")
	return cmd
}

func (p *program) unforget(cmd *cobra.Command, name string) error {
	return run(p, cmd, "forget", app.OpenWalked, func(ctx context.Context, r *app.Rooms) (app.Unforgotten, error) {
		return app.Unforget(ctx, r, name)
	}, func(u app.Unforgotten) {
		p.printf("forget: %s %q is not forgotten any more\n", u.ID, firstLine(u.Title, 60))
	})
}

// printAlike names what stays and says nearly what goes, and what comes back.
func (p *program) printAlike(left []app.Alike) {
	const most = 10
	near := slices.DeleteFunc(slices.Clone(left), func(l app.Alike) bool { return l.State == ingest.LikeResurfaced })
	again := slices.DeleteFunc(slices.Clone(left), func(l app.Alike) bool { return l.State != ingest.LikeResurfaced })
	for _, l := range again[:min(len(again), most)] {
		p.printf("shown again, because this note replaced it: %s %q (project=%s); `anamnesis archive %s` keeps it out of recall\n",
			l.ID, firstLine(l.Title, 60), printable(l.Project), l.ID)
	}
	if len(near) == 0 {
		return
	}
	p.printf("not erased, though nearly the same: %s; `anamnesis forget ID --apply` erases one\n", plural(len(near), "other note"))
	for _, l := range near[:min(len(near), most)] {
		state := ""
		switch l.State {
		case ingest.LikeLive:
		case ingest.LikeDraft:
			state = ", draft: `anamnesis review held drop " + string(l.ID) + "`"
		default:
			state = ", " + printable(l.State)
		}
		p.printf("  %s %q (project=%s%s)\n", p.short(l.ID), firstLine(l.Title, 60), printable(l.Project), state)
	}
}

func (p *program) printForgottenWide(a app.ForgetWideAnswer) {
	verb := "would erase"
	if a.Applied {
		verb = "erased"
	}
	p.printf("forget: %s %s, %s, %s, %s of %s, %s\n", verb, plural(len(a.Notes), "note"), plural(len(a.Slots), "slot"),
		plural(len(a.Held), "draft"), plural(len(a.Sessions.Exchanges), "exchange"), plural(a.Sessions.Sessions, "session"),
		plural(a.Sessions.Unread, "unread message"))
	const most = 20
	for _, n := range a.Notes[:min(len(a.Notes), most)] {
		p.printf("  %s %q (project=%s)\n", n.ID, firstLine(n.Title, 60), printable(n.Project))
	}
	if more := len(a.Notes) - most; more > 0 {
		p.printf("  … and %s more\n", plural(more, "note"))
	}
	for _, s := range a.Slots {
		p.printf("  lines of the slot %s\n", printable(s))
	}
	if !a.Applied {
		p.printf("nothing was changed yet; add --apply to do it. It cannot be undone.\n")
	}
	for _, s := range a.Left {
		p.printf("not reached: %s\n", s)
	}
}

func (p *program) printForgotten(a app.ForgetAnswer) {
	f := a.Forgotten
	verb := "would erase"
	switch {
	case a.Until != nil:
		verb = "forgotten:"
	case a.Applied:
		verb = "erased"
	}
	p.printf("forget: %s %s %q\n", verb, f.ID, firstLine(f.Title, 60))
	for i, path := range f.Notes {
		name := ""
		for _, o := range f.Others {
			if o.Path == path {
				name = fmt.Sprintf("  %q (project=%s)", firstLine(o.Title, 60), printable(o.Project))
			}
		}
		p.printf("  %s%s\n", a.Notes[i], name)
	}
	for _, more := range []struct {
		n    int
		noun string
	}{
		{f.Sidecars, "file of entities"}, {f.History, "former state"}, {len(f.Held), "draft"}, {len(f.Conflicts), "conflict"},
	} {
		switch {
		case more.n == 1 || more.n > 1 && more.noun != "file of entities":
			p.printf("  %s\n", plural(more.n, more.noun))
		case more.n > 1:
			p.printf("  %d files of entities\n", more.n)
		}
	}
	switch {
	case !a.Applied:
		p.printf("nothing was changed yet; add --apply to do it, and ten minutes to undo it\n")
	case a.Until != nil:
		p.printf("all of it is out of every answer now, and is erased at %s; to bring it back before: anamnesis forget %s --undo\n",
			a.Until.Local().Format("15:04"), p.short(f.ID))
	case a.InGit && p.cfg.Sync.Remote != "":
		p.printf("the other machines follow with their next sync\n")
	}
	if a.InGit && a.Until == nil {
		p.printf("git's history still holds the text. To begin a new history, when every machine has synced:\n"+
			"empty the remote, then on each machine `rm -rf %s` and `anamnesis sync`; docs/sync.md has the steps\n",
			a.GitDir)
	}
}
