package cli

import (
	"strings"

	"anamnesis/internal/app/setup"
	"anamnesis/internal/mcp"

	"github.com/spf13/cobra"
)

func newUninstall(p *program) *cobra.Command {
	var o setup.UninstallOptions
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Disconnect the agents; the notes stay",
		Long: `Take our hooks, our server and our rules out of the files of all agents that init
connected, or of those named, and leave everything else. If a file is still as init left
it, its former bytes come back. Where Claude Code has our MCP server, it is taken out by
Claude Code's own command. The store stays: your notes are yours. --purge erases what is
kept of sessions word for word, with its index and what it remembers as forgotten.`,
		Example: `  anamnesis uninstall --agent codex
  anamnesis uninstall --purge`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("name") {
				if err := setup.CheckServerName(o.Name); err != nil {
					return err
				}
			}
			o.Allow = mcp.Unasked()
			a, err := setup.Uninstall(cmd.Context(), p.host(), o)
			return render(p, "uninstall", a, err, func(a setup.UninstallAnswer) {
				if a.Settings != "" {
					p.printf("hooks: %s %s\n", a.Result, a.Settings)
				}
				if a.MCP != "" {
					p.printf("%s\n", a.MCP)
				}
				for _, one := range a.Agents {
					for _, f := range one.Files {
						p.printf("%s: %s %s (%s)\n", one.Agent, f.Result, f.Path, strings.Join(f.What, ", "))
					}
				}
				p.printPurged(&a)
				if a.Program != "" {
					p.printf("program: the copy that init made stays: %s; delete it when nothing runs it\n", a.Program)
				}
				p.printf("uninstall: done. Your notes stay in %s\n", a.Store)
			})
		},
	}
	cmd.Flags().StringSliceVar(&o.Agents, "agent", nil, "only these agents, by `NAME` (default: all that are connected)")
	cmd.Flags().StringVar(&o.Name, "name", "", "`NAME` of the MCP server (default: as init registered it)")
	cmd.Flags().BoolVar(&o.NoMCP, "no-mcp", false, "leave the MCP server where it is")
	cmd.Flags().BoolVar(&o.Purge, "purge", false, "erase what is kept of sessions word for word, too; notes stay")
	return cmd
}

func (p *program) printPurged(a *setup.UninstallAnswer) {
	kept := plural(a.Sessions.Sessions, "session") + " (" + size(a.Sessions.Bytes) + ")"
	switch {
	case a.Purged:
		p.printf("sessions: erased %s kept word for word, and the index\n", kept)
	case a.Sessions.Sessions > 0:
		p.printf("sessions: %s kept word for word stay; `anamnesis uninstall --purge` erases them\n", kept)
	}
}
