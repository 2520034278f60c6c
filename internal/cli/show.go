package cli

import (
	"context"
	"strings"

	"anamnesis/internal/app"
	"anamnesis/internal/index"
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
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			m, err := p.openWalked(cmd.Context())
			if err != nil {
				return err
			}
			defer m.close()
			row, err := app.Resolve(cmd.Context(), m.Rooms, args[0])
			if err != nil {
				return err
			}
			if path {
				p.printf("%s\n", m.Store.Path(row.Ref.Path))
				return nil
			}
			return p.show(cmd.Context(), m, row, raw, history)
		},
	}
	cmd.Flags().BoolVar(&raw, "raw", false, "print the file as it is")
	cmd.Flags().BoolVar(&path, "path", false, "print only where the file is")
	cmd.Flags().BoolVar(&history, "history", false, "list its former states")
	return cmd
}

func (p *program) show(ctx context.Context, m *memory, row index.Row, raw, history bool) error {
	n, data, _, err := m.Store.Read(row.Ref.Path)
	if err != nil {
		return err
	}
	revs, err := m.Store.History(row.ID)
	if err != nil {
		return err
	}
	if err := m.Index.Fold(ctx); err != nil && !m.Store.ReadOnly() {
		p.note("%v", err)
	}
	counters, err := m.Index.Counters(ctx, []note.ID{row.ID})
	if err != nil {
		return err
	}
	seen := counters[row.ID]
	switch {
	case p.json:
		names := []string{}
		for _, r := range revs {
			names = append(names, m.Store.Path(r.Path))
		}
		return p.emit(struct {
			header
			noteJSON
			Body         string   `json:"body"`
			Path         string   `json:"path"`
			Live         bool     `json:"live"`
			SupersededBy note.ID  `json:"superseded_by,omitempty"`
			History      []string `json:"history"`
			Injected     int      `json:"injected"`
			Recalled     int      `json:"recalled"`
		}{head("show"), describe(n), n.Body, m.Store.Path(row.Ref.Path), !row.Dead, row.SupersededBy, names, seen.Injected, seen.Recalled})
	case raw:
		_, err := p.stdout.Write(data)
		return err
	case history:
		for _, r := range revs {
			p.printf("%s  %s  %s\n", r.At.Format("2006-01-02 15:04:05"), r.Reason, m.Store.Path(r.Path))
		}
		if len(revs) == 0 {
			p.note("the note has not changed since it was written")
		}
		return nil
	}
	p.printf("# %s\n\n[%s] project %s · from %s · source %s (confidence %g)\n", firstLine(n.Title, note.MaxTitle), n.Type, n.Project, n.MachineID, n.Provenance.Source, n.Provenance.Confidence)
	p.printf("created %s · updated %s", dated(n.CreatedAt), dated(n.UpdatedAt))
	if len(n.Tags) > 0 {
		p.printf(" · tags %s", strings.Join(n.Tags, ", "))
	}
	if n.Branch != "" {
		p.printf(" · branch %s", firstLine(n.Branch, 60))
	}
	p.printf("\n%s\n", m.Store.Path(row.Ref.Path))
	p.printf("shown at session start %d×, found %d×", seen.Injected, seen.Recalled)
	if len(revs) > 0 {
		p.printf(" · %s (`anamnesis show --history %s`)", plural(len(revs), "former state"), row.ID)
	}
	p.printf("\n")
	if row.SupersededBy != "" {
		p.printf("superseded by %s\n", row.SupersededBy)
	} else if row.Dead {
		p.printf("not live: it is kept, and not shown to sessions\n")
	}
	p.printf("\n%s\n", p.screened(n.Body))
	return nil
}
