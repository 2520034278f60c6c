package cli

import (
	"anamnesis/internal/index"
	"anamnesis/internal/note"

	"github.com/spf13/cobra"
)

type rowJSON struct {
	ID           note.ID   `json:"id"`
	Type         note.Type `json:"type"`
	Title        string    `json:"title"`
	Project      string    `json:"project"`
	MachineID    string    `json:"machine_id"`
	Scope        string    `json:"scope"`
	UserID       string    `json:"user_id"`
	WorkspaceID  string    `json:"workspace_id"`
	Source       string    `json:"prov_source"`
	Confidence   float64   `json:"confidence"`
	Tags         []string  `json:"tags"`
	CreatedAt    string    `json:"created_at"`
	UpdatedAt    string    `json:"updated_at"`
	Live         bool      `json:"live"`
	SupersededBy note.ID   `json:"superseded_by,omitempty"`
	Branch       string    `json:"branch"`
	Path         string    `json:"path"`
}

func (m *memory) describeRow(r index.Row) rowJSON {
	stamp := func(s note.Stamp, zero bool) string {
		if zero {
			return ""
		}
		return string(s)
	}
	return rowJSON{
		r.ID, r.Type, r.Title, r.Project, r.MachineID, string(r.Ref.Scope), r.UserID, r.WorkspaceID, r.Source, r.Confidence,
		append([]string{}, r.Tags...), stamp(note.At(r.Created), r.Created.IsZero()), stamp(note.At(r.Updated), r.Updated.IsZero()),
		!r.Dead, r.SupersededBy, r.Branch, m.Store.Path(r.Ref.Path),
	}
}

func newList(p *program) *cobra.Command {
	var o filterOptions
	var limit int
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List notes, newest first",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit < 0 {
				return usage("list: --limit %d: give 0 for all, or a number", limit)
			}
			m, err := p.openWalked(cmd.Context())
			if err != nil {
				return err
			}
			defer m.close()
			f, err := o.filter(m)
			if err != nil {
				return err
			}
			rows, err := m.Index.Select(cmd.Context(), f, limit)
			if err != nil {
				return err
			}
			if p.json {
				all := make([]rowJSON, 0, len(rows))
				for _, r := range rows {
					all = append(all, m.describeRow(r))
				}
				return p.emit(struct {
					header
					Notes []rowJSON `json:"notes"`
					Stale int       `json:"stale"`
				}{head("list"), all, m.Stale})
			}
			for _, r := range rows {
				mark := " "
				if r.Dead {
					mark = "×"
				}
				p.printf("%s %s %s %-10s %-28s %s%s\n", p.in(dim, string(r.ID)), mark, date(r.Updated), r.Type, firstLine(r.Project, 28),
					p.in(bold, firstLine(r.Title, 80)), onBranch(r.Branch))
			}
			if len(rows) == 0 {
				p.note("no notes; `anamnesis add --title TITLE --body TEXT` writes one")
			}
			return nil
		},
	}
	o.addFlags(cmd.Flags())
	cmd.Flags().IntVar(&limit, "limit", 0, "notes at most; 0 means all")
	return cmd
}
