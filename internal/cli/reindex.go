package cli

import (
	"anamnesis/internal/app"

	"github.com/spf13/cobra"
)

func newReindex(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "reindex",
		Short: "Rebuild the index from the notes",
		Long: `Read every note again and bring the index into step. It is never needed for
safety: the index can be deleted at any time and comes back. Files that cannot be
read as notes are named and left alone.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return run(p, cmd, "reindex", now, app.ReindexAll, func(a app.ReindexAnswer) {
				for _, pr := range a.Problems {
					what := "left out of"
					if !pr.Sidecar {
						what = "skipped"
					}
					p.note("%s %s: %s", what, pr.Path, pr.Reason)
				}
				p.printf("reindex: indexed %s\n", plural(a.Indexed, "note"))
			})
		},
	}
}
