package cli

import (
	"context"
	"encoding/json"
	"strings"

	"anamnesis/internal/agent"
	"anamnesis/internal/app"
	"anamnesis/internal/app/hooks"
	"anamnesis/internal/policy"

	"github.com/spf13/cobra"
)

func newPolicy(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Show and check your rules for the tools of agents",
		Long: `Your rules for the tools of agents: what is denied, what is allowed without asking you,
what an agent is shown before a call. They stand in the file policy-rules.jsonl of the
store, one JSON object a line. You write it; nothing else does, it does not travel, and
no file of a repository is ever read for it.

  {"scope": "pretool", "tool": "Bash", "pattern": "git push --force",
   "decision": "deny", "message": "Never force."}

scope is any (default), pretool (before a tool runs) or permission (when you would be
asked). tool is a name or * (default). pattern is part of the command, or of the call's
input as JSON, without regard to case. decision is deny, allow or context (default).
A rule with a confidence of MEDIUM or LOW does nothing.`,
		Example: `  anamnesis policy list
  anamnesis policy check --tool Bash --text "git push --force"`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.policyList(cmd) },
	}
	list := &cobra.Command{
		Use: "list", Short: "List the rules", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.policyList(cmd) },
	}
	cmd.AddCommand(list, newPolicyCheck(p))
	return cmd
}

func (p *program) policyList(cmd *cobra.Command) error {
	return run(p, cmd, "policy list", filesOnly, func(_ context.Context, r *app.Rooms) (hooks.PolicyAnswer, error) {
		return hooks.Policy(r.Store, agent.Default())
	}, func(a hooks.PolicyAnswer) {
		if len(a.Rules)+len(a.Problems) == 0 {
			p.printf("there are no rules; %s may hold some\n", a.Path)
		}
		for _, r := range a.Rules {
			about := string(r.Scope) + " " + printable(r.Tool)
			if r.Pattern != "" {
				about += " " + firstLine(printable(r.Pattern), 60)
			}
			if !r.Sure {
				about += " (not sure: it does nothing)"
			}
			p.printf("%4d  %-7s  %s\n", r.Line, r.Decision, about)
		}
		p.printTrouble(a)
	})
}

// printTrouble says which rules do nothing.
func (p *program) printTrouble(a hooks.PolicyAnswer) {
	for _, problem := range a.Problems {
		p.note("%s", printable(problem.String()))
	}
	if len(a.Unhooked) > 0 {
		p.note("no hook runs for %s: rules for it do nothing", printable(strings.Join(a.Unhooked, ", ")))
	}
}

func newPolicyCheck(p *program) *cobra.Command {
	var tool, text, at string
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check the rules, and what they say to a call",
		Long: `Check that every line of the policy can be understood. With --tool and --text, say
what the rules decide about a call: --text is its command, or its file.

Exit code 5 says that a line cannot be understood.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if text != "" && tool == "" {
				return usage("policy check: --text goes with --tool")
			}
			if at != string(policy.PreTool) && at != string(policy.Permission) {
				return usage("policy check: --scope %q: use pretool or permission", at)
			}
			return p.policyCheck(cmd, policy.Scope(at), tool, text)
		},
	}
	cmd.Flags().StringVar(&tool, "tool", "", "`NAME` of the tool, as the agent spells it")
	cmd.Flags().StringVar(&text, "text", "", "the command or the file of the call")
	cmd.Flags().StringVar(&at, "scope", string(policy.PreTool), "`WHEN`: pretool, before it runs, or permission, when you would be asked")
	return cmd
}

func (p *program) policyCheck(cmd *cobra.Command, at policy.Scope, tool, text string) error {
	return run(p, cmd, "policy check", filesOnly, func(_ context.Context, r *app.Rooms) (hooks.PolicyAnswer, error) {
		a, err := hooks.Policy(r.Store, agent.Default())
		if err == nil && tool != "" {
			v, _ := hooks.Police(r.Store, agent.Event{ToolName: tool, ToolInput: callInput(text)}, at, hooks.PromptOptions{Try: true})
			a.Call = &v // its error is one of the lines, which are shown
		}
		if err == nil && len(a.Problems) > 0 {
			err = &app.Error{Kind: app.Degraded}
		}
		return a, err
	}, func(a hooks.PolicyAnswer) {
		p.printTrouble(a)
		switch v := a.Call; {
		case v == nil:
			p.printf("%s, %s that cannot be understood\n", plural(len(a.Rules), "rule"), plural(len(a.Problems), "line"))
		case v.Decision == policy.Ask:
			p.printf("%s: %s\n", v.Decision, printable(v.Text))
		case v.Decision != "":
			p.printf("%s (line %d)\n", v.Decision, v.Line)
		case v.Text != "":
			p.verbatim(v.Text)
		default:
			p.printf("no rule is about it\n")
		}
	})
}

// callInput is the input of a call by hand: whatever kind of tool it is, it finds its
// member.
func callInput(text string) []byte {
	input, err := json.Marshal(map[string]string{"command": text, "file_path": text, "notebook_path": text})
	if err != nil {
		return nil // unreachable: these are strings
	}
	return input
}
