package cli

import (
	"slices"
	"strings"

	"anamnesis/internal/app"

	"github.com/spf13/cobra"
)

func newProject(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "project",
		Short: "Show which project this folder belongs to, and why",
		Long: `Tell which project this folder belongs to. First match wins: the first line of
the nearest .anamnesis/project file above the folder, the address of the git
remote "origin", the name of the repository's folder, the folder's own name.`,
		Example: `  anamnesis project
  anamnesis project alias github.com/acme/old github.com/acme/new`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			s, err := p.openStore()
			if err != nil {
				return err
			}
			return render(p, "project", app.WhichProject(s), nil, func(a app.ProjectAnswer) {
				p.printf("%s\n  from the %s %s\n", a.Key, a.Source, a.From)
				if len(a.Names) > 1 {
					others := slices.DeleteFunc(slices.Clone(a.Names), func(n string) bool { return n == a.Key })
					p.printf("  also known as %s\n", strings.Join(others, ", "))
				}
			})
		},
	}
	alias := &cobra.Command{
		Use:   "alias OLD NEW",
		Short: "Say that OLD is another name of the project NEW",
		Args:  cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := p.openStore()
			if err != nil {
				return err
			}
			a, err := app.AddAlias(cmd.Context(), s, p.host().Face, args[0], args[1])
			return render(p, "project", a, err, p.printAliases)
		},
	}
	aliases := &cobra.Command{
		Use: "aliases", Short: "List the project aliases", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			s, err := p.openStore()
			if err != nil {
				return err
			}
			a, err := app.Aliases(s)
			return render(p, "project", a, err, p.printAliases)
		},
	}
	cmd.AddCommand(alias, aliases)
	return cmd
}

func (p *program) printAliases(a app.AliasesAnswer) {
	for _, alias := range a.Aliases {
		p.printf("%s -> %s\n", alias.From, alias.Project)
	}
}
