package cli

import (
	"anamnesis/internal/app"

	"github.com/spf13/cobra"
)

func newMergeDriver(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "merge-driver BASE OURS THEIRS PATH",
		Short: "Merge one file for git",
		Long: `Merge two versions of a file of the notes repository, as sync does, and write the
result to OURS. git runs it for people who pull by hand; sync enters it into the
configuration of the repository. What lost is kept in ` + "`anamnesis review conflicts`" + `. It
fails, and leaves the conflict to git, only when it cannot decide.`,
		Hidden: true,
		Args:   cobra.ExactArgs(4),
		RunE: func(cmd *cobra.Command, args []string) error {
			conflict, err := app.MergeFile(cmd.Context(), p.host(), args[0], args[1], args[2], args[3])
			if conflict != "" {
				p.note("%s has two versions; `anamnesis review conflicts show %s` shows them", args[3], conflict)
			}
			return err
		},
	}
}
