package hook

import (
	"context"
	"errors"

	"anamnesis/internal/app"
)

// tool answers a call of a tool before it runs. A session that has no name would be told
// the same before every call, so it is told nothing.
func (p *Process) tool(ctx context.Context, c call) error {
	does := c.harness.Hooks.Call(c.event)
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
