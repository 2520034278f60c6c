package cli

import (
	"strings"

	"anamnesis/internal/ingest"
	"anamnesis/internal/store"
	"anamnesis/internal/store/project"

	"github.com/spf13/cobra"
)

func newProject(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "project",
		Short: "Tell which project this folder belongs to, and why",
		Long: `Tell which project this folder belongs to. First match wins: the first line of
the nearest .anamnesis/project file above the folder, the address of the git
remote "origin", the name of the repository's folder, the folder's own name.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			s, err := p.openStore()
			if err != nil {
				return err
			}
			id := p.project(s, "")
			names := project.Names(s, id)
			if p.json {
				return p.emit(struct {
					header
					Key    string   `json:"project"`
					Source string   `json:"source"`
					From   string   `json:"from"`
					Branch string   `json:"branch"`
					Names  []string `json:"names"`
				}{head("project"), id.Key, id.Source, id.From, id.Branch, names})
			}
			p.printf("%s\n  from the %s %s\n", id.Key, id.Source, id.From)
			if len(names) > 1 {
				p.printf("  also known as %s\n", strings.Join(without(names, id.Key), ", "))
			}
			return nil
		},
	}
	alias := &cobra.Command{
		Use:   "alias OLD NEW",
		Short: "Say that OLD is another name of the project NEW",
		Args:  cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[0] == args[1] || args[0] == "" || args[1] == "" {
				return usage("project alias %q %q: two different names are needed", args[0], args[1])
			}
			s, err := p.openStore()
			if err != nil {
				return err
			}
			if err := ingest.AddAlias(cmd.Context(), s, args[0], args[1]); err != nil {
				return err
			}
			return p.printAliases(s)
		},
	}
	aliases := &cobra.Command{
		Use: "aliases", Short: "List the project aliases", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			s, err := p.openStore()
			if err != nil {
				return err
			}
			return p.printAliases(s)
		},
	}
	cmd.AddCommand(alias, aliases)
	return cmd
}

func without(names []string, key string) []string {
	var rest []string
	for _, n := range names {
		if n != key {
			rest = append(rest, n)
		}
	}
	return rest
}

func (p *program) printAliases(s *store.Store) error {
	all, err := project.Aliases(s)
	if err != nil {
		return err
	}
	if p.json {
		list := make([]map[string]string, 0, len(all))
		for _, a := range all {
			list = append(list, map[string]string{"from": a.From, "to": a.To, "project": project.Canonical(s, a.From)})
		}
		return p.emit(struct {
			header
			Aliases []map[string]string `json:"aliases"`
		}{head("project"), list})
	}
	for _, a := range all {
		p.printf("%s -> %s\n", a.From, project.Canonical(s, a.From))
	}
	return nil
}
