package cli

import (
	"cmp"
	"context"

	"anamnesis/internal/agent"
	"anamnesis/internal/app"
	"anamnesis/internal/app/hooks"
	"anamnesis/internal/cli/hook"
	"anamnesis/internal/note"
	"anamnesis/internal/policy"

	"github.com/spf13/cobra"
)

// startAnswer is what inject prints.
type startAnswer struct {
	Project string    `json:"project"`
	Text    string    `json:"text"`
	Shown   []note.ID `json:"shown"`
	Left    []note.ID `json:"left_out"`
	Missing []string  `json:"missing"`
}

func newInject(p *program) *cobra.Command {
	var o hooks.StartOptions
	var event, text, tool string
	cmd := &cobra.Command{
		Use:   "inject",
		Short: "Print what the next session is shown",
		Long: `Print what a session of this folder's project is shown at its start: the page of
the project, a line for each note. "anamnesis page" says why each line is on it.

With --event prompt it prints what the hook of a prompt would print for a text, and
why it says no more; with --event tool, what the hook of a tool would print before it
runs: --text is then the command or the file; with --event subagent, what a sub-agent
is shown at its start: --text is then its task. Nothing counts as shown by that.

As a SessionStart hook it reads the event from standard input, stays under the
agent's limit and prints nothing but the block.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case tool != "" && event != "tool":
				return usage("inject: --tool goes with --event tool")
			case event == "prompt":
				return p.tryPrompt(cmd, o.Project, text)
			case event == "subagent":
				return p.tryTask(cmd, o.Project, text)
			case event == "tool":
				return p.tryTool(cmd, o.Project, tool, text)
			case event != "start":
				return usage("inject: --event %q: use start, prompt, tool or subagent", event)
			case text != "":
				return usage("inject: --text goes with --event prompt, tool and subagent")
			}
			return run(p, cmd, "inject", app.OpenWalked, func(ctx context.Context, r *app.Rooms) (startAnswer, error) {
				b, place, err := hooks.SessionStart(ctx, r, p.given(), o)
				for _, missing := range b.Missing {
					p.note("left out: %s", missing)
				}
				return startAnswer{place.Project, b.Text, b.Shown, b.Left, b.Missing}, err
			}, func(a startAnswer) { p.verbatim(a.Text) })
		},
	}
	hook.StartFlags(cmd.Flags(), &o)
	cmd.Flags().StringVar(&event, "event", "start", "`EVENT` at which a session is shown something: start, prompt, tool or subagent")
	cmd.Flags().StringVar(&text, "text", "", "what the user says at the prompt; the command or the file of a tool; the task of a sub-agent")
	cmd.Flags().StringVar(&tool, "tool", "", "`NAME` of the tool that is about to run, as the agent spells it")
	return cmd
}

// tryPrompt prints what a prompt would be shown.
func (p *program) tryPrompt(cmd *cobra.Command, project, text string) error {
	return ask(p, cmd, "inject", func(ctx context.Context, r *app.Rooms) (hooks.PromptAnswer, error) {
		e := p.given()
		e.Prompt = cmp.Or(text, e.Prompt)
		return hooks.Prompt(ctx, r, e, hooks.PromptOptions{Project: project, Try: true})
	}, p.printInjected)
}

// tryTool prints what would be shown before a tool runs.
func (p *program) tryTool(cmd *cobra.Command, project, tool, text string) error {
	e := p.given()
	if tool != "" {
		e.ToolName = tool
	}
	if text != "" {
		e.ToolInput = callInput(text)
	}
	if e.ToolName == "" {
		return usage("inject: --event tool: say which with --tool, for example --tool Bash")
	}
	return ask(p, cmd, "inject", func(ctx context.Context, r *app.Rooms) (hooks.PromptAnswer, error) {
		dialect := agent.Default().Hooks
		o := hooks.PromptOptions{Project: project, Try: true, Limit: dialect.ContextLimit()}
		v, perr := hooks.Police(r.Store, e, policy.PreTool, o)
		if perr != nil {
			p.note("%s", printable(perr.Error()))
		}
		if v.Decision == policy.Deny || v.Decision == policy.Ask {
			return hooks.PromptAnswer{Text: v.Text + "\n"}, nil
		}
		a, err := hooks.Tool(ctx, r, e, dialect.Call(e), o)
		if a.Text = v.Text + a.Text; a.Text != "" {
			a.Silent = ""
		}
		return a, err
	}, p.printInjected)
}

// tryTask prints what a sub-agent would be shown at its start.
func (p *program) tryTask(cmd *cobra.Command, project, task string) error {
	return ask(p, cmd, "inject", func(ctx context.Context, r *app.Rooms) (hooks.PromptAnswer, error) {
		return hooks.TryTask(ctx, r, p.given(), task, hooks.PromptOptions{Project: project, Limit: agent.Default().Hooks.ContextLimit()})
	}, p.printInjected)
}

func (p *program) printInjected(a hooks.PromptAnswer) {
	p.printf("%s", a.Text)
	if a.Silent != "" {
		p.note("nothing is shown: %s", a.Silent)
	}
	for _, n := range a.Near {
		p.note("held back: %s", nearly(p.short(n.ID), "", n.Why))
	}
}

// nearly says which note was nearly shown, and why it was not.
func nearly(id, title, why string) string {
	if id == "" {
		return why
	}
	if title != "" {
		id += " " + title
	}
	return id + ": " + why
}

// given is the event on standard input of a command that runs by hand.
func (p *program) given() agent.Event {
	if p.event != nil {
		return *p.event
	}
	return agent.Event{}
}
