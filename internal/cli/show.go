package cli

import (
	"context"
	"fmt"
	"strings"

	"anamnesis/internal/index"
	"anamnesis/internal/note"

	"github.com/spf13/cobra"
)

// minPrefix is how many characters of an id name a note.
const minPrefix = 4

// resolve finds the note that an id, or the beginning or end of one, names.
func (m *memory) resolve(ctx context.Context, name string) (index.Row, error) {
	id, err := note.ParseID(strings.TrimSpace(name))
	if err != nil {
		return index.Row{}, usage("%w", err)
	}
	row, ok, err := m.index.Lookup(ctx, id)
	if err != nil || ok {
		return row, err
	}
	var found []index.Row
	if len(name) >= minPrefix {
		if found, err = m.index.Select(ctx, index.Filter{Dead: true, Part: string(id)}, 0); err != nil {
			return row, err
		}
	}
	switch len(found) {
	case 0:
		return row, &codedError{exitNothing, m.noNote(name)}
	case 1:
		return found[0], nil
	}
	var ids []string
	for _, r := range found[:min(len(found), 5)] {
		ids = append(ids, string(r.ID))
	}
	return row, usage("%s names %s: %s …; give more of the id", name, plural(len(found), "note"), strings.Join(ids, ", "))
}

// noNote says that a note is not there, and what is known of it.
func (m *memory) noNote(name string) error {
	if len(name) < minPrefix {
		return fmt.Errorf("there is no note %s; give at least %d characters of an id, `anamnesis list` names them", printable(name), minPrefix)
	}
	stones, _ := m.store.Tombstones()
	for _, t := range stones {
		if string(t.ID) == strings.TrimSpace(name) {
			day, _, _ := strings.Cut(t.At, "T")
			return fmt.Errorf("the note %s was forgotten on %s", t.ID, day)
		}
	}
	return fmt.Errorf("there is no note %s; `anamnesis list` names them", printable(name))
}

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
			row, err := m.resolve(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if path {
				p.printf("%s\n", m.store.Path(row.Ref.Path))
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
	n, data, _, err := m.store.Read(row.Ref.Path)
	if err != nil {
		return err
	}
	revs, err := m.store.History(row.ID)
	if err != nil {
		return err
	}
	if err := m.index.Fold(ctx); err != nil && !m.store.ReadOnly() {
		p.note("%v", err)
	}
	counters, err := m.index.Counters(ctx, []note.ID{row.ID})
	if err != nil {
		return err
	}
	seen := counters[row.ID]
	switch {
	case p.json:
		names := []string{}
		for _, r := range revs {
			names = append(names, m.store.Path(r.Path))
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
		}{head("show"), describe(n), n.Body, m.store.Path(row.Ref.Path), !row.Dead, row.SupersededBy, names, seen.Injected, seen.Recalled})
	case raw:
		_, err := p.stdout.Write(data)
		return err
	case history:
		for _, r := range revs {
			p.printf("%s  %s  %s\n", r.At.Format("2006-01-02 15:04:05"), r.Reason, m.store.Path(r.Path))
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
	p.printf("\n%s\n", m.store.Path(row.Ref.Path))
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

// dated writes a time stamp, which a note written by hand need not have.
func dated(s note.Stamp) string {
	if s == "" {
		return "undated"
	}
	return string(s)
}
