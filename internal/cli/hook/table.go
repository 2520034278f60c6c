package hook

import (
	"context"
	"errors"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/app"
	"anamnesis/internal/app/hooks"
)

// A row says what we do at an event of an agent. What an event without a row is
// for us: nothing.
type row struct {
	event agent.EventKind
	wait  time.Duration // after it the hook gives up and exits 0

	say     func(*Process, context.Context, call) error // the read wing: what the agent is shown; nil is nothing
	note    func(*Process, call) error                  // the write wing: the work that is left to a background run; nil is none
	capture hooks.CaptureOptions                        // what a capture at this event means
}

// rows is the one table of hooks. The commands of the first program are parts of
// its rows; see commandOf.
func rows() []row {
	return []row{
		{event: agent.SessionStart, wait: 5 * time.Second, say: (*Process).sessionStart, note: (*Process).syncAtStart},
		{
			event: agent.SessionEnd, wait: time.Second, // a client ends the hook of a plugin after 1.5 s, whatever its time limit says
			note: (*Process).enqueueCapture, capture: hooks.CaptureOptions{Source: hooks.SessionEnd},
		},
		{event: agent.UserPrompt, wait: 2 * time.Second, say: (*Process).prompt},
		{event: agent.PreToolUse, wait: 2 * time.Second, say: (*Process).tool},
		{event: agent.PostToolUse, wait: 2 * time.Second, say: (*Process).toolDone},
		{event: agent.PermissionRequest, wait: time.Second, say: (*Process).permission, note: (*Process).noted},
		{event: agent.PostToolUseFailure, wait: 2 * time.Second, say: (*Process).toolFailed, note: (*Process).noted},
		{event: agent.Notification, wait: time.Second, note: (*Process).noted},
		{event: agent.SubagentStart, wait: 2 * time.Second, say: (*Process).subagent},
		{event: agent.SubagentStop, wait: time.Second, note: (*Process).subagentStopped},
		{event: agent.PostCompact, wait: time.Second, note: (*Process).compacted},
		{
			event: agent.PreCompact, wait: time.Second, note: (*Process).enqueueCapture,
			capture: hooks.CaptureOptions{Source: "precompact", NoSync: true},
		},
	}
}

// find returns the row of an event.
func find(event agent.EventKind) (row, bool) {
	for _, r := range rows() {
		if r.event == event {
			return r, true
		}
	}
	return row{}, false
}

// said and noted are one half of a row each.
func said(event agent.EventKind) *row {
	r, _ := find(event)
	r.note = nil
	return &r
}

func noted(event agent.EventKind) *row {
	r, _ := find(event)
	r.say = nil
	return &r
}

// A call is one run of a hook.
type call struct {
	harness *agent.Harness
	event   agent.Event
	start   hooks.StartOptions
	capture hooks.CaptureOptions
}

// run does what a row says. The agent waits for what it is shown, so that comes first.
func (r row) run(ctx context.Context, p *Process, c call) (err error) {
	if r.say != nil {
		err = r.say(p, ctx, c)
	}
	if r.note != nil {
		if nerr := r.note(p, c); err == nil {
			err = nerr
		}
	}
	return err
}

// sessionStart answers a session start.
func (p *Process) sessionStart(ctx context.Context, c call) error {
	return p.tellStart(ctx, c, c.harness.Hooks.ContextLimit(), func(text, line string) error {
		reply := c.harness.Hooks.Reply(c.event, text)
		if c.harness.Announce != nil && line != "" && c.event.Name != "" {
			reply = c.harness.Announce(c.event, text, line)
		}
		_, err := p.Stdout.Write(reply)
		return err
	})
}

// tellStart hands over what a session is shown at its start, if it is shown something. It
// does not walk the tree: the notes are read from their files, and the rest is left to a
// background run.
func (p *Process) tellStart(ctx context.Context, c call, limit agent.ContextLimit, say func(text, line string) error) error {
	began := time.Now()
	r, err := app.Open(ctx, p.host, hooks.StartWait)
	if err != nil {
		return err
	}
	// The index is not closed: the last connection that closes writes what others
	// left in the journal into the database and waits for the disk. The process
	// is about to end anyway.
	fresh, err := hooks.Fresh(ctx, r)
	if err != nil {
		return err
	}
	c.start.Limit, c.start.Instructed = limit, c.harness.Instructed && c.event.Name != "" // by hand there is no agent
	b, place, err := hooks.SessionStart(ctx, r, c.event, c.start)
	if err != nil {
		return err
	}
	if b.Text != "" {
		line := ""
		if p.host.Config.Inject.Announce {
			line = b.Announcement(time.Now())
		}
		if err := say(b.Text, line); err != nil {
			return err
		}
	}
	if !r.Store.ReadOnly() {
		_ = r.Recorder.Started(c.harness, c.event, place.Project) // without it a killed client is not missed
	}
	if !r.Store.ReadOnly() && (!fresh || hooks.Overdue(r)) {
		_ = app.Detach(p.host, "drain")
	}
	err = hooks.LogShownAtStart(r, c.event, b)
	if len(b.Shown) == 0 {
		return err
	}
	return errors.Join(err, r.Injector.Log(place, b, time.Since(began)))
}

// prompt answers what the user typed.
func (p *Process) prompt(ctx context.Context, c call) error {
	h, err := p.opened()
	if err != nil {
		return err
	}
	first, limit := "", c.harness.Hooks.ContextLimit()
	if c.event.SubagentID == "" && hooks.Opens(h, c.event) { // its first prompt gets both
		limit.Max /= 2
		err = errors.Join(p.tellStart(ctx, c, limit, func(text, _ string) error { first = text; return nil }), p.syncAtStart(c))
	}
	answered := p.called(ctx, h, c)
	text, perr := hooks.AnswerPrompt(ctx, answered)
	if err = errors.Join(err, perr); first+text != "" || answered.Harness.Announce != nil {
		_, werr := p.Stdout.Write(hooks.PromptReply(answered, first+text))
		err = errors.Join(err, werr)
	}
	return err
}

// called is a call that a use case answers. The rooms are opened when it needs them; an index that
// lags behind the notes is left to a background run.
func (p *Process) called(ctx context.Context, h app.Host, c call) hooks.HookCall {
	return hooks.HookCall{Host: h, Harness: c.harness, Event: c.event, Rooms: func() (*app.Rooms, error) {
		r, err := app.Open(ctx, h, hooks.StartWait)
		if err != nil || r.Store.ReadOnly() || c.event.Prompt == "" {
			return r, err
		}
		fresh, err := hooks.Fresh(ctx, r) // an upgrade may have emptied the index
		if err == nil && !fresh {
			_ = app.Detach(p.host, "drain")
		}
		return r, err
	}}
}

// reply hands a text to the agent, if there is any.
func (p *Process) reply(c call, text string, err error) error {
	if text == "" {
		return err
	}
	_, werr := p.Stdout.Write(c.harness.Hooks.Reply(c.event, text))
	return errors.Join(err, werr)
}

// compacted lets a session that lost its context be shown again.
func (p *Process) compacted(c call) error {
	r, err := app.OpenFiles(p.host)
	if err != nil {
		return err
	}
	return hooks.Compacted(r, c.event)
}

// syncAtStart lets a background run sync beside a session that starts or goes on.
// What follows a clear or a compaction is the same session to other machines.
func (p *Process) syncAtStart(c call) error {
	switch c.event.Source {
	case "clear", "compact", "fork":
		return nil
	}
	return app.Detach(p.host, "drain", "--sync")
}

// besideStart does the work of a start that no answer needs, where an agent runs a separate command for it.
// Such an agent has no other hook after a compaction, when the session is worth keeping.
func (p *Process) besideStart(c call) error {
	if c.event.Source != "compact" {
		return p.syncAtStart(c)
	}
	compaction, _ := find(agent.PreCompact)
	c.capture = compaction.capture
	return compaction.note(p, c)
}

// enqueueCapture leaves the session to a background run.
func (p *Process) enqueueCapture(c call) error {
	return hooks.EnqueueCapture(p.host, c.harness, c.event, c.capture)
}
