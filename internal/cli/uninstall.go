package cli

import (
	"anamnesis/internal/app"

	"github.com/spf13/cobra"
)

func newUninstall(p *program) *cobra.Command {
	var name string
	var noMCP bool
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Take our hooks and our server out of Claude Code",
		Long: `Take our hooks out of Claude Code's settings and leave everything else. If the
file is still as init left it, its former bytes come back. The MCP server is taken
out by Claude Code's own command. The store stays: your notes are yours.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("name") {
				if err := app.CheckServerName(name); err != nil {
					return err
				}
			}
			a, err := app.Uninstall(cmd.Context(), p.host(), !noMCP, name)
			return render(p, "uninstall", a, err, func(a app.UninstallAnswer) {
				p.printf("hooks: %s %s\n", a.Result, a.Settings)
				if a.MCP != "" {
					p.printf("%s\n", a.MCP)
				}
				p.printf("uninstall: done. Your notes stay in %s\n", a.Store)
			})
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "`NAME` of the MCP server (default: as init registered it)")
	cmd.Flags().BoolVar(&noMCP, "no-mcp", false, "leave the MCP server where it is")
	return cmd
}
