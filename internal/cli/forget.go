package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"

	"anamnesis/internal/note"
	"anamnesis/internal/store"

	"github.com/spf13/cobra"
)

func newArchive(p *program) *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:   "archive ID",
		Short: "Take a note out of recall, and keep it",
		Long: `Take a note out of what sessions are told and what search finds. The file stays,
` + "`anamnesis list --all`" + ` shows it, and ` + "`anamnesis unarchive ID`" + ` brings it back.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.setArchived(cmd.Context(), "archive", args[0], func(s *store.Store, id note.ID) (store.Ref, bool, error) {
				return s.Archive(id, strings.TrimSpace(reason))
			})
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "`TEXT` that says why, kept in the note")
	return cmd
}

func newUnarchive(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "unarchive ID",
		Short: "Bring an archived note back into recall",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.setArchived(cmd.Context(), "unarchive", args[0], (*store.Store).Unarchive)
		},
	}
}

func (p *program) setArchived(ctx context.Context, command, name string, set func(*store.Store, note.ID) (store.Ref, bool, error)) error {
	m, err := p.openWalked(ctx)
	if err != nil {
		return err
	}
	defer m.close()
	row, err := m.resolve(ctx, name)
	if err != nil {
		return err
	}
	unlock, err := m.store.Lock(ctx)
	if err != nil {
		return err
	}
	ref, changed, err := set(m.store, row.ID)
	unlock()
	if err != nil {
		return err
	}
	if err := m.reread(ctx, []string{ref.Path}); err != nil {
		p.note("the note is safe, but not in the index yet: %v; `anamnesis reindex` mends that", err)
	}
	if p.json {
		return p.emit(struct {
			header
			ID      note.ID `json:"id"`
			Path    string  `json:"path"`
			Changed bool    `json:"changed"`
		}{head(command), row.ID, m.store.Path(ref.Path), changed})
	}
	switch {
	case !changed && command == "archive":
		p.printf("archive: %s is archived already\n", row.ID)
	case !changed:
		p.printf("unarchive: %s is not archived\n", row.ID)
	case command == "archive":
		p.printf("archive: %s %q is kept and not recalled\nundo: anamnesis unarchive %[1]s\n", row.ID, firstLine(row.Title, 60))
	default:
		p.printf("unarchive: %s %q is recalled again\n", row.ID, firstLine(row.Title, 60))
	}
	return nil
}

func newForget(p *program) *cobra.Command {
	var apply bool
	cmd := &cobra.Command{
		Use:   "forget ID",
		Short: "Erase a note for good, on every machine",
		Long: `Erase a note: its file, every note that says exactly the same, their former forms,
drafts and conflicts. What stays is a tombstone, which recognises the statement
without holding it, so that no session, import or machine brings it back. The
other machines follow with their next sync. Without --apply it only lists what
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
	row, err := m.resolve(ctx, name)
	if err == nil {
		return row.ID, nil
	}
	id := note.ID(strings.TrimSpace(name))
	if _, perr := note.ParseID(string(id)); perr == nil {
		if revs, herr := m.store.History(id); herr == nil && len(revs) > 0 {
			return id, nil
		}
	}
	return "", err
}

func (p *program) forget(ctx context.Context, m *memory, id note.ID, apply bool) error {
	f, err := m.store.PlanForget(id)
	if apply && err == nil {
		f, err = m.forget(ctx, id)
	}
	if err != nil {
		return err
	}
	inGit := false
	if _, err := os.Stat(m.store.Path("memory/.git")); err == nil || !errors.Is(err, fs.ErrNotExist) {
		inGit = strings.HasPrefix(f.Tombstone, "memory/")
	}
	if p.json {
		for i, path := range f.Notes {
			f.Notes[i] = m.store.Path(path)
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
		}{
			head("forget"), id, apply, append([]string{}, f.Notes...), f.Sidecars, f.History,
			append([]note.ID{}, f.Held...), append([]note.ID{}, f.Conflicts...), m.store.Path(f.Tombstone), inGit,
		})
	}
	p.printForgotten(m, f, apply, inGit)
	return nil
}

// forget erases under the store lock and tells the index.
func (m *memory) forget(ctx context.Context, id note.ID) (store.Forgotten, error) {
	unlock, err := m.store.Lock(ctx)
	if err != nil {
		return store.Forgotten{}, err
	}
	f, err := m.store.Forget(id)
	if err == nil {
		err = m.disallow(append([]string{string(id) + ".md"}, f.Notes...))
	}
	unlock()
	if err != nil {
		return f, err
	}
	return f, m.reread(ctx, f.Notes)
}

func (p *program) printForgotten(m *memory, f store.Forgotten, applied, inGit bool) {
	verb := "would erase"
	if applied {
		verb = "erased"
	}
	p.printf("forget: %s %s %q\n", verb, f.ID, firstLine(f.Title, 60))
	for _, path := range f.Notes {
		p.printf("  %s\n", m.store.Path(path))
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
			m.store.Path("memory/.git"))
	}
}
