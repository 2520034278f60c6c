package cli

import (
	"embed"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// topics are the pages of `anamnesis help TOPIC`. Their names are no commands.
//
//go:embed topics
var topics embed.FS

// topicNames lists the topics, in the order in which they are offered.
var topicNames = []string{"storage", "injection", "syncing", "teams", "trouble"}

// newHelp is cobra's help command, with topics, and a name that is none is a mistake.
func newHelp(p *program) *cobra.Command {
	return &cobra.Command{
		Use:       "help [COMMAND | TOPIC]",
		Short:     "Explain a command or a topic",
		Hidden:    true,
		ValidArgs: topicNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && slices.Contains(topicNames, args[0]) {
				text, err := topics.ReadFile(path.Join("topics", args[0]+".txt"))
				if err == nil {
					_, err = p.stdout.Write(text)
				}
				return err
			}
			at := cmd.Root()
			for _, name := range args {
				i := slices.IndexFunc(at.Commands(), func(c *cobra.Command) bool { return c.Name() == name })
				if i < 0 {
					return unknownCommand(at, name)
				}
				at = at.Commands()[i]
			}
			at.InitDefaultHelpFlag()
			return at.Help()
		},
	}
}

// listCommands prints the commands, group by group.
func (p *program) listCommands(root *cobra.Command) {
	p.printf("Long-term memory for coding agents. Usage: anamnesis COMMAND [flags]\n")
	for _, g := range groups {
		p.printf("%s\n", g.Title)
		for _, c := range commands { // cobra sorts its own list by name
			if c.group == g.ID {
				cmd, _, _ := root.Find([]string{c.name})
				p.printf("  %-9s  %s\n", c.name, cmd.Short)
			}
		}
	}
	p.printf("Help: anamnesis help COMMAND, or one of the topics %s\n", strings.Join(topicNames, ", "))
	p.printf("Every command takes --json and --set KEY=VALUE (a setting, for this run); --version prints the version\n")
}
