package hook

import (
	"context"
	"errors"

	"anamnesis/internal/agent"
	"anamnesis/internal/app"
)

// tool answers a call of a tool before it runs. A session that has no name would be told
// the same before every call, so it is told nothing.
func (p *Process) tool(ctx context.Context, c call) error {
	does := c.harness.Hooks.Call(c.event)
	if does.Task != "" {
		return p.task(ctx, c, does)
	}
	if !p.host.Config.Inject.Tools || c.event.SessionID == "" || !app.Touches(does) {
		return nil
	}
	r, err := app.Open(ctx, p.host, app.StartWait)
	if err != nil || r.Store.ReadOnly() {
		return err
	}
	a, err := app.Tool(ctx, r, c.event, does, app.PromptOptions{Limit: c.harness.Hooks.ContextLimit()})
	if a.Text == "" {
		return err
	}
	_, werr := p.Stdout.Write(c.harness.Hooks.Reply(c.event, a.Text))
	return errors.Join(err, werr)
}

// task looks up what a task is about that is given to a sub-agent, and says nothing: what
// it would say would reach the one who gives it.
func (p *Process) task(ctx context.Context, c call, does agent.Call) error {
	if !p.host.Config.Inject.Subagents {
		return nil
	}
	r, err := app.Open(ctx, p.host, app.StartWait)
	if err != nil || r.Store.ReadOnly() {
		return err
	}
	return app.NoteTask(ctx, r, c.event, does)
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
