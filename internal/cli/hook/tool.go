package hook

import (
	"context"
	"errors"

	"anamnesis/internal/agent"
	"anamnesis/internal/app"
	"anamnesis/internal/policy"
)

// tool answers a call of a tool before it runs. What the user's policy denies is denied,
// whatever else fails. A session that has no name would be told the same rules before
// every call, so it is told none.
func (p *Process) tool(ctx context.Context, c call) error {
	h, err := p.opened()
	if err != nil {
		return err
	}
	v, perr := app.Police(h.Store, c.event, policy.PreTool, app.PromptOptions{})
	if v.Decision == policy.Deny {
		_, err = p.Stdout.Write(c.harness.Hooks.Verdict(c.event, false, v.Text))
		return errors.Join(perr, err)
	}
	text, terr := p.toolRules(ctx, h, c)
	_, err = p.Stdout.Write(c.harness.Hooks.Reply(c.event, v.Text+text))
	return errors.Join(perr, terr, err)
}

// toolDone tells, after a tool ran, what could not be told before: most agents take it
// before, and have no hook here.
func (p *Process) toolDone(ctx context.Context, c call) error {
	text, err := p.toolRules(ctx, p.host, c)
	_, werr := p.Stdout.Write(c.harness.Hooks.Reply(c.event, text))
	return errors.Join(err, werr)
}

// toolFailed injects, after a call failed, the rules whose triggers stand in its output. An agent
// whose hook does not have the output gets none.
func (p *Process) toolFailed(ctx context.Context, c call) error {
	if !p.host.Config.Inject.Tools || c.event.SessionID == "" || c.event.Failure == "" || len(c.harness.Hooks.Reply(c.event, "x")) == 0 {
		return nil
	}
	h, err := p.opened()
	if err != nil {
		return err
	}
	r, err := app.Open(ctx, h, app.StartWait)
	if err != nil || r.Store.ReadOnly() {
		return err
	}
	a, err := app.ToolFailed(ctx, r, c.event, app.PromptOptions{Limit: c.harness.Hooks.ContextLimit()})
	return p.reply(c, a.Text, err)
}

// toolRules returns the rules of memory with a trigger that fits a call.
func (p *Process) toolRules(ctx context.Context, h app.Host, c call) (string, error) {
	does := c.harness.Hooks.Call(c.event)
	teller, ok := c.harness.Hooks.(agent.TaskTeller)
	switch {
	case does.Task != "" && ok && teller.TellsTasks():
		return p.tellTask(ctx, h, c, does)
	case does.Task != "":
		return "", p.task(ctx, h, c, does)
	case len(c.harness.Hooks.Reply(c.event, "x")) == 0: // it has no place for a text here
		return "", nil
	}
	if !p.host.Config.Inject.Tools || c.event.SessionID == "" || !app.Touches(does) {
		return "", nil
	}
	r, err := app.Open(ctx, h, app.StartWait)
	if err != nil || r.Store.ReadOnly() {
		return "", err
	}
	a, err := app.Tool(ctx, r, c.event, does, app.PromptOptions{Limit: c.harness.Hooks.ContextLimit()})
	return a.Text, err
}

// permission answers when the user would be asked, if the policy knows the answer.
func (p *Process) permission(_ context.Context, c call) error {
	s, err := app.OpenStore(p.host)
	if err != nil {
		return err
	}
	v, err := app.Police(s, c.event, policy.Permission, app.PromptOptions{})
	if v.Decision != "" {
		_, werr := p.Stdout.Write(c.harness.Hooks.Verdict(c.event, v.Decision == policy.Allow, v.Text))
		err = errors.Join(err, werr)
	}
	return err
}

// noted keeps an event that no record of the session will tell of.
func (p *Process) noted(c call) error {
	kind, _ := c.harness.Hooks.Kind(c.event.Name)
	return app.NoteEvent(p.host, c.event, kind)
}

// task looks up what a task is about that is given to a sub-agent, and says nothing: what
// it would say would reach the one who gives it.
func (p *Process) task(ctx context.Context, h app.Host, c call, does agent.Call) error {
	if !p.host.Config.Inject.Subagents {
		return nil
	}
	r, err := app.Open(ctx, h, app.StartWait)
	if err != nil || r.Store.ReadOnly() {
		return err
	}
	return app.NoteTask(ctx, r, c.event, does)
}

// tellTask returns what a task is about, for an agent that puts it into the task.
func (p *Process) tellTask(ctx context.Context, h app.Host, c call, does agent.Call) (string, error) {
	if !p.host.Config.Inject.Subagents || c.event.SessionID == "" {
		return "", nil
	}
	r, err := app.Open(ctx, h, app.StartWait)
	if err != nil || r.Store.ReadOnly() {
		return "", err
	}
	a, err := app.TryTask(ctx, r, c.event, does.Task, app.PromptOptions{Limit: c.harness.Hooks.ContextLimit()})
	return a.Text, err
}

// subagent answers the start of a sub-agent.
func (p *Process) subagent(ctx context.Context, c call) error {
	if !p.host.Config.Inject.Subagents || c.event.SessionID == "" || c.event.SubagentID == "" {
		return nil
	}
	r, err := app.Open(ctx, p.host, app.StartWait)
	if err != nil || r.Store.ReadOnly() {
		return err
	}
	a, err := app.Subagent(ctx, r, c.event, app.PromptOptions{Limit: c.harness.Hooks.ContextLimit()})
	if a.Text == "" {
		return err
	}
	_, werr := p.Stdout.Write(c.harness.Hooks.Reply(c.event, a.Text))
	return errors.Join(err, werr)
}

// subagentStopped ends what a sub-agent was told.
func (p *Process) subagentStopped(c call) error {
	r, err := app.OpenFiles(p.host)
	if err != nil || r.Store.ReadOnly() {
		return err
	}
	return app.SubagentStopped(r, c.event)
}
