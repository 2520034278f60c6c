package cli

import (
	"fmt"

	"anamnesis/internal/index"
	"anamnesis/internal/store"

	"github.com/spf13/cobra"
)

type problemJSON struct {
	Path    string `json:"path"`
	Reason  string `json:"reason"`
	Sidecar bool   `json:"sidecar"` // its note is indexed
}

func problems(m *memory, all []index.Problem) []problemJSON {
	list := make([]problemJSON, 0, len(all))
	for _, pr := range all {
		list = append(list, problemJSON{m.Store.Path(pr.Path), pr.Reason, pr.Sidecar})
	}
	return list
}

func newReindex(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "reindex",
		Short: "Make the index anew from the notes",
		Long: `Read every note again and bring the index into step. It is never needed for
safety: the index can be deleted at any time and comes back. Files that cannot be
read as notes are named and left alone.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			m, err := p.open(cmd.Context(), 0)
			if err != nil {
				return err
			}
			defer m.close()
			if m.Store.ReadOnly() {
				return fmt.Errorf("reindex: %s: %w", m.Store.Root(), store.ErrReadOnly)
			}
			if m.Notice != "" {
				p.note("%s", m.Notice)
			}
			bar := p.progress("indexing notes")
			rep, err := m.Index.Sync(cmd.Context(), index.SyncOptions{All: true, Progress: bar.Step})
			bar.Done()
			if err != nil {
				return err
			}
			if err := m.Index.Fold(cmd.Context()); err != nil {
				return err
			}
			if rep.Healed && m.Notice == "" {
				p.note("the index was damaged and has been made anew")
			}
			indexed := rep.Files
			for _, pr := range rep.Problems {
				what := "left out of"
				if !pr.Sidecar {
					what = "skipped"
					indexed--
				}
				p.note("%s %s: %s", what, m.Store.Path(pr.Path), pr.Reason)
			}
			if p.json {
				return p.emit(struct {
					header
					Indexed  int           `json:"indexed"`
					Removed  int           `json:"removed"`
					Problems []problemJSON `json:"problems"`
				}{head("reindex"), indexed, rep.Removed, problems(m, rep.Problems)})
			}
			p.printf("reindex: indexed %d note(s)\n", indexed)
			return nil
		},
	}
}
