package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"anamnesis/internal/app"
	"anamnesis/internal/index"
	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/store/tombstone"

	"github.com/spf13/cobra"
)

func newArchive(p *program) *cobra.Command {
	var reason, imported string
	cmd := &cobra.Command{
		Use:   "archive {ID... | --import RUN}",
		Short: "Take notes out of recall, and keep them",
		Long: `Take notes out of what sessions are told and what search finds. The files stay,
` + "`anamnesis list --all`" + ` shows them, and ` + "`anamnesis unarchive ID`" + ` brings them back.
--import archives all that one run of import made; the run says its name.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if (len(args) == 0) == (imported == "") {
				return usage("archive: give ID..., or --import RUN")
			}
			return p.setArchived(cmd.Context(), "archive", args, imported, func(g *ingest.Ingester, ids []note.ID) ([]ingest.StatusChange, error) {
				return g.Archive(cmd.Context(), ids, strings.TrimSpace(reason))
			})
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
			return p.setArchived(cmd.Context(), "unarchive", args, imported, func(g *ingest.Ingester, ids []note.ID) ([]ingest.StatusChange, error) {
				return g.Unarchive(cmd.Context(), ids)
			})
		},
	}
	cmd.Flags().StringVar(&imported, "import", "", "all notes that the import `RUN` made")
	return cmd
}

func (p *program) setArchived(ctx context.Context, command string, names []string, imported string, set func(*ingest.Ingester, []note.ID) ([]ingest.StatusChange, error)) error {
	open := p.openWalked
	if imported != "" { // it decides about many
		open = p.openWhole
	}
	m, err := open(ctx)
	if err != nil {
		return err
	}
	defer m.close()
	rows, err := app.Named(ctx, m.Rooms, names, imported)
	if err != nil {
		return err
	}
	type done struct {
		ID      note.ID `json:"id"`
		Path    string  `json:"path"`
		Changed bool    `json:"changed"`
	}
	var all []done
	skip := func(row index.Row) bool { return command == "archive" && row.Status != "" } // out of recall, for a reason that would be lost
	var ids []note.ID
	for _, row := range rows {
		if !skip(row) {
			ids = append(ids, row.ID)
		}
	}
	b := p.batch(m)
	changes, err := set(m.Ingester, ids)
	b.ended = m.Store.Now()
	if stale := new(ingest.StaleError); errors.As(err, &stale) {
		p.note("the notes are safe, but not in the index yet: %v; `anamnesis reindex` mends that", stale)
	} else if err != nil {
		return err
	}
	for _, row := range rows {
		if skip(row) {
			all = append(all, done{row.ID, m.Store.Path(row.Ref.Path), false})
			continue
		}
		all = append(all, done{row.ID, m.Store.Path(changes[0].Ref.Path), changes[0].Changed})
		changes = changes[1:]
	}
	switch {
	case p.json && len(all) == 1: // as it was when one note was all
		return p.emit(struct {
			header
			done
			Notes []done `json:"notes"`
		}{head(command), all[0], all})
	case p.json:
		return p.emit(struct {
			header
			Notes []done `json:"notes"`
		}{head(command), all})
	}
	for i, d := range all {
		title := firstLine(rows[i].Title, 60)
		switch {
		case !d.Changed && command == "archive" && rows[i].Status != "archived":
			p.printf("archive: %s is out of recall already (%s)\n", d.ID, firstLine(rows[i].Status, 40))
		case !d.Changed && command == "archive":
			p.printf("archive: %s is archived already\n", d.ID)
		case !d.Changed:
			p.printf("unarchive: %s is not archived\n", d.ID)
		case command == "archive":
			p.printf("archive: %s %q is kept and not recalled\n", d.ID, title)
		case rows[i].Status == "" || rows[i].SupersededBy != "":
			p.printf("unarchive: %s %q is not archived any more\n", d.ID, title)
		default:
			p.printf("unarchive: %s %q is recalled again\n", d.ID, title)
		}
	}
	if command != "archive" {
		return nil
	}
	var changed []string
	for _, d := range all {
		if d.Changed {
			changed = append(changed, string(d.ID))
		}
	}
	switch {
	case len(changed) > 10:
		p.undoLine(b.undo())
	case len(changed) > 0:
		p.undoLine("anamnesis unarchive " + strings.Join(changed, " "))
	}
	return nil
}

func newForget(p *program) *cobra.Command {
	var apply bool
	cmd := &cobra.Command{
		Use:   "forget ID",
		Short: "Erase a note for good, on every machine",
		Long: `Erase a note: its file, every note that says exactly the same (under another title,
too, when the body has eight words or more), their former forms, drafts and
conflicts. What stays is a tombstone, which recognises the statement without
holding it, so that no session, import or machine brings it back. The other
machines follow with their next sync. Without --apply it only lists what
would be erased. It cannot be undone; ` + "`anamnesis archive ID`" + ` can.

The history of git still holds the text: docs/sync.md says how to begin a new one.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			m, err := p.openWalked(cmd.Context())
			if err != nil {
				return err
			}
			defer m.close()
			id, err := m.forgettable(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return p.forget(cmd.Context(), m, id, apply)
		},
	}
	cmd.Flags().BoolVar(&apply, "apply", false, "do it")
	return cmd
}

// forgettable finds a note, or one that is gone and has former forms, by its whole id.
func (m *memory) forgettable(ctx context.Context, name string) (note.ID, error) {
	row, err := app.Resolve(ctx, m.Rooms, name)
	if err == nil {
		return row.ID, nil
	}
	id := note.ID(strings.TrimSpace(name))
	if _, perr := note.ParseID(string(id)); perr == nil {
		if revs, herr := m.Store.History(id); herr == nil && len(revs) > 0 {
			return id, nil
		}
	}
	return "", err
}

func (p *program) forget(ctx context.Context, m *memory, id note.ID, apply bool) error {
	f, err := tombstone.Plan(m.Store, id)
	var left []ingest.Like // looked up before the note is gone
	if n, nerr := m.Store.LatestRevision(id); err == nil && nerr == nil {
		left, err = m.Ingester.Alike(ctx, n)
	}
	if apply && err == nil {
		f, err = m.Ingester.Forget(ctx, id, m.Disallow)
	}
	if err != nil {
		return err
	}
	inGit := m.inGit(f)
	if p.json {
		for i, path := range f.Notes {
			f.Notes[i] = m.Store.Path(path)
		}
		return p.emit(struct {
			header
			ID        note.ID   `json:"id"`
			Applied   bool      `json:"applied"`
			Notes     []string  `json:"notes"`
			Sidecars  int       `json:"sidecars"`
			History   int       `json:"former_states"`
			Held      []note.ID `json:"held"`
			Conflicts []note.ID `json:"conflicts"`
			Tombstone string    `json:"tombstone"`
			InGit     bool      `json:"git_history_holds_it"`
			Alike     []alike   `json:"alike"` // what stays and says nearly the same, or is told again
		}{
			head("forget"), id, apply, append([]string{}, f.Notes...), f.Sidecars, f.History,
			append([]note.ID{}, f.Held...), append([]note.ID{}, f.Conflicts...), m.Store.Path(f.Tombstone), inGit, alikes(left),
		})
	}
	p.printForgotten(m, f, apply, inGit)
	p.printAlike(left)
	return nil
}

// An alike is a note or a draft that forget leaves.
type alike struct {
	ID      note.ID `json:"id"`
	Title   string  `json:"title"`
	Project string  `json:"project"`
	State   string  `json:"state"` // "" for a note that is recalled
}

func alikes(left []ingest.Like) []alike {
	all := []alike{}
	for _, l := range left {
		all = append(all, alike{l.ID, l.Title, l.Project, l.State})
	}
	return all
}

// printAlike names what stays and says nearly what goes, and what comes back.
func (p *program) printAlike(left []ingest.Like) {
	const most = 10
	near := slices.DeleteFunc(slices.Clone(left), func(l ingest.Like) bool { return l.State == ingest.LikeResurfaced })
	again := slices.DeleteFunc(slices.Clone(left), func(l ingest.Like) bool { return l.State != ingest.LikeResurfaced })
	for _, l := range again[:min(len(again), most)] {
		p.printf("told again, because this note replaced it: %s %q (project=%s); `anamnesis archive %s` keeps it out of recall\n",
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
			state = ", draft: `anamnesis held drop " + string(l.ID) + "`"
		default:
			state = ", " + printable(l.State)
		}
		p.printf("  %s %q (project=%s%s)\n", l.ID, firstLine(l.Title, 60), printable(l.Project), state)
	}
}

func (p *program) printForgotten(m *memory, f tombstone.Forgotten, applied, inGit bool) {
	verb := "would erase"
	if applied {
		verb = "erased"
	}
	p.printf("forget: %s %s %q\n", verb, f.ID, firstLine(f.Title, 60))
	for _, path := range f.Notes {
		name := ""
		for _, o := range f.Others {
			if o.Path == path {
				name = fmt.Sprintf("  %q (project=%s)", firstLine(o.Title, 60), printable(o.Project))
			}
		}
		p.printf("  %s%s\n", m.Store.Path(path), name)
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
	case !applied:
		p.printf("nothing was changed yet; add --apply to do it. It cannot be undone.\n")
	case inGit && p.cfg.Sync.Remote != "":
		p.printf("the other machines follow with their next sync\n")
	}
	if inGit {
		p.printf("git's history still holds the text. To begin a new history, when every machine has synced:\n"+
			"empty the remote, then on each machine `rm -rf %s` and `anamnesis sync`; docs/sync.md has the steps\n",
			m.Store.Path("memory/.git"))
	}
}
