package cli

import (
	"fmt"
	"strings"

	"anamnesis/internal/app/setup"
	"anamnesis/internal/connect"

	"github.com/spf13/cobra"
)

// agentsAnswer is what agents prints.
type agentsAnswer struct {
	Agents []connect.State `json:"agents"`
}

func newAgents(p *program) *cobra.Command {
	var all, rules bool
	cmd := &cobra.Command{
		Use:   "agents",
		Short: "Show what works with each agent on this machine",
		Long: `What memory does with each agent that is found on this machine: its version, what of ours
stands in its files, and how far each ability goes: works, partial with the reason, no
channel, when the agent has no place for it, or off, when a setting or a missing approval
keeps our hooks from running. --rules prints the block of rules that agents without a
channel get, for those that keep such rules in an app.`,
		Example: `  anamnesis agents
  anamnesis agents --json`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if rules {
				return render(p, "agents", agentRules{connect.RulesText()}, nil, func(a agentRules) { p.verbatim(a.Rules) })
			}
			a := agentsAnswer{setup.Agents(p.host())}
			return render(p, "agents", a, nil, func(a agentsAnswer) { p.printAgents(a.Agents, all) })
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "also those that are not found")
	cmd.Flags().BoolVar(&rules, "rules", false, "print the block of rules, and nothing else")
	return cmd
}

func (p *program) printAgents(states []connect.State, all bool) {
	shown := 0
	for _, s := range states {
		if !s.Found && !all {
			continue
		}
		shown++
		head := s.Title
		if s.Version != "" {
			head += " " + s.Version
		}
		switch {
		case !s.Found:
			head += ": not found in " + s.Home
		case len(s.Connected) == 0:
			head += ": not connected; `anamnesis init --agent " + s.Agent + "` does it"
		default:
			head += ": connected (" + strings.Join(s.Connected, ", ") + ")"
		}
		p.printf("%s\n", head)
		for _, a := range s.Abilities {
			line := fmt.Sprintf("  %-24s %s", a.Name, a.State)
			if a.Why != "" {
				line += " (" + a.Why + ")"
			}
			p.printf("%s\n", line)
		}
		if s.ToDo != "" {
			p.printf("  to do: %s\n", s.ToDo)
		}
	}
	if shown == 0 {
		p.printf("no agent is found on this machine; --all lists those that can be connected\n")
	}
}

// agentRules is the block of rules for agents without a channel.
type agentRules struct {
	Rules string `json:"rules"`
}
