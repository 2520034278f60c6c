package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

func newEval(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "eval",
		Short: "Measure how well notes are found",
		Long: `Measure how well notes are found in your own store, with questions of yours, and try
reflection and merges on a copy of it. docs/eval.md is the guide. Data sets are measured by
a program of the repository, in its folder lab.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usage("eval: specify a subcommand: %s", subcommands(cmd))
		},
	}
	cmd.AddCommand(newEvalBuild(p), newEvalRun(p), newEvalExperiment(p))
	return cmd
}

// subcommands lists the names of a command's subcommands.
func subcommands(cmd *cobra.Command) string {
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() && c.Name() != "help" {
			names = append(names, c.Name())
		}
	}
	return strings.Join(names, " | ")
}
