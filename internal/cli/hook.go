package cli

import "github.com/spf13/cobra"

// newHook explains the command that package hook runs, for whoever calls it by hand.
func newHook(*program) *cobra.Command {
	return &cobra.Command{
		Use:   "hook AGENT EVENT",
		Short: "Answer an event of a coding agent",
		Long: `Answer an event that a coding agent sends on standard input. AGENT is its short name,
EVENT the name of the event as that agent spells it.

At the start of a session it prints what the session is shown, and lets a background
run sync. At its end, and before a compaction, it leaves the session to a background
run. At any other event it does nothing.

A hook always exits with 0 and prints nothing but its answer; what went wrong is a
record of the event log. ` + "`anamnesis init`" + ` installs the hooks of an agent.`,
		Example: `  anamnesis hook claude SessionStart < event.json`,
		Args:    cobra.ArbitraryArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
}
