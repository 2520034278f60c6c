package hook

import (
	"context"
	"errors"

	"anamnesis/internal/app"
	"anamnesis/internal/app/hooks"
	"anamnesis/internal/policy"
)

// tool answers a call of a tool before it runs.
func (p *Process) tool(ctx context.Context, c call) error {
	h, err := p.opened()
	if err != nil {
		return err
	}
	reply, err := hooks.AnswerTool(ctx, p.called(ctx, h, c))
	_, werr := p.Stdout.Write(reply)
	return errors.Join(err, werr)
}

// toolDone shows, after a tool ran, what could not be shown before: most agents take it
// before, and have no hook here.
func (p *Process) toolDone(ctx context.Context, c call) error {
	text, err := hooks.ToolRules(ctx, p.called(ctx, p.host, c))
	return p.reply(c, text, err)
}

// toolFailed injects, after a call failed, the rules whose triggers stand in its output.
func (p *Process) toolFailed(ctx context.Context, c call) error {
	h, err := p.opened()
	if err != nil {
		return err
	}
	text, err := hooks.AnswerFailure(ctx, p.called(ctx, h, c))
	return p.reply(c, text, err)
}

// permission answers when the user would be asked, if the policy knows the answer.
func (p *Process) permission(_ context.Context, c call) error {
	s, err := app.OpenStore(p.host)
	if err != nil {
		return err
	}
	v, err := hooks.Police(s, c.event, policy.Permission, hooks.PromptOptions{})
	if v.Decision != "" {
		_, werr := p.Stdout.Write(c.harness.Hooks.Verdict(c.event, v.Decision == policy.Allow, v.Text))
		err = errors.Join(err, werr)
	}
	return err
}

// noted keeps an event that no record of the session will tell of.
func (p *Process) noted(c call) error {
	kind, _ := c.harness.Hooks.Kind(c.event.Name)
	return hooks.NoteEvent(p.host, c.event, kind)
}

// subagent answers the start of a sub-agent.
func (p *Process) subagent(ctx context.Context, c call) error {
	if !p.host.Config.Inject.Subagents || c.event.SessionID == "" || c.event.SubagentID == "" {
		return nil
	}
	r, err := app.Open(ctx, p.host, hooks.StartWait)
	if err != nil || r.Store.ReadOnly() {
		return err
	}
	a, err := hooks.Subagent(ctx, r, c.event, hooks.PromptOptions{Limit: c.harness.Hooks.ContextLimit()})
	if a.Text == "" {
		return err
	}
	_, werr := p.Stdout.Write(c.harness.Hooks.Reply(c.event, a.Text))
	return errors.Join(err, werr)
}

// subagentStopped ends what a sub-agent was shown.
func (p *Process) subagentStopped(c call) error {
	r, err := app.OpenFiles(p.host)
	if err != nil || r.Store.ReadOnly() {
		return err
	}
	return hooks.SubagentStopped(r, c.event)
}
