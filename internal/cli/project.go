package cli

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"anamnesis/internal/app"

	"github.com/spf13/cobra"
)

func newProject(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "project",
		Short: "Show which project this folder belongs to, and why",
		Long: `Show which project this folder belongs to. First match wins: what you said (project join);
the first line of the nearest .anamnesis/project file in or above it, unless it came with a
clone; the address of the git remote "origin"; what this machine knows of the repository,
wherever it was moved, and of the folder; the name of the folder. A repository in your home
folder counts for that folder alone.`,
		Example: `  anamnesis project
  anamnesis project alias github.com/acme/old github.com/acme/new`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			s, err := p.openStore()
			if err != nil {
				return err
			}
			return render(p, "project", app.WhichProject(s), nil, p.printProject)
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
	cmd.AddCommand(alias, aliases, newProjectJoin(p))
	return cmd
}

func newProjectJoin(p *program) *cobra.Command {
	var undo bool
	var dir string
	cmd := &cobra.Command{
		Use:   "join [PROJECT]",
		Short: "Assign this folder to a project",
		Long: `Assign this folder, or the repository that it is in, to PROJECT: for example after it
was cloned again from another address, for a fork, or to confirm the .anamnesis/project
file that came with a clone. Without PROJECT, the offered project is used. This holds on
this machine, even if the folder is moved; "project alias" joins two names everywhere.
--dir names another folder, even one that is gone or on another system: its sessions are
filed under the project.`,
		Example: `  anamnesis project join
  anamnesis project join github.com/acme/shop
  anamnesis project join github.com/acme/shop --dir 'C:\Users\me\src\shop'`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return run(p, cmd, "project", app.OpenWalked, func(ctx context.Context, r *app.Rooms) (app.ProjectAnswer, error) {
				key := ""
				if dir == "" {
					dir = p.dir()
				}
				switch {
				case undo && len(args) > 0:
					return app.ProjectAnswer{}, usage("project join: --undo takes no project")
				case len(args) > 0:
					key = args[0]
				case !undo:
					o, err := app.LookForOffer(ctx, r, dir)
					if err == nil && o == nil {
						err = app.Errorf(app.NotFound, "project join: no project is offered for this folder; name one")
					}
					if err != nil {
						return app.ProjectAnswer{}, err
					}
					return o.Take(ctx, r, dir)
				}
				return app.Join(r, dir, key)
			}, p.printProject)
		},
	}
	cmd.Flags().BoolVar(&undo, "undo", false, "undo the join: use the evidence again")
	cmd.Flags().StringVar(&dir, "dir", "", "join `FOLDER`, not this one")
	return cmd
}

// dir is the folder that the command was started in.
func (p *program) dir() string {
	dir, err := os.Getwd()
	if err != nil {
		return string(filepath.Separator)
	}
	return dir
}

func (p *program) printProject(a app.ProjectAnswer) {
	how := "from the " + a.Source
	switch a.Source {
	case "joined":
		how = "joined by you:"
	case "known":
		how = "recorded here for"
	case "foreign":
		how = "for the path"
	}
	p.printf("%s\n  %s %s\n", a.Key, how, a.From)
	if len(a.Names) > 1 {
		others := slices.DeleteFunc(slices.Clone(a.Names), func(n string) bool { return n == a.Key })
		p.printf("  also known as %s\n", strings.Join(others, ", "))
	}
	if a.Asks != "" {
		p.printf("  the file .anamnesis/project came with this clone and names %s; `anamnesis project join %s` confirms it\n", a.Asks, a.Asks)
	}
}

func (p *program) printAliases(a app.AliasesAnswer) {
	for _, alias := range a.Aliases {
		p.printf("%s -> %s\n", alias.From, alias.Project)
	}
}
