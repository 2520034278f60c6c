// Package hooks holds the use cases behind the events of an agent: the page of a session's start,
// what prompts, tools and sub-agents are shown, the rules of tools, capturing, handoffs, and fixes
// of earlier sessions. The command line and the server of tools ask them too.
//
// Failure policy: that of package app; the face turns each error into an empty answer.
package hooks

import (
	"context"
	"errors"
	"strings"
	"sync"

	"anamnesis/internal/agent"
	"anamnesis/internal/app"
	"anamnesis/internal/policy"
	"anamnesis/internal/store"
)

// A HookCall is an event of an agent that is answered: by a hook, a process that opens the rooms
// only when it must, or by a server that has them open.
type HookCall struct {
	Host    app.Host                   // with its Store opened
	Harness *agent.Harness             // of the event
	Event   agent.Event                //
	Rooms   func() (*app.Rooms, error) // opens the rooms; it is called once at most
}

// AnswerPrompt returns what a session is shown at a prompt, "" for nothing. What a sub-agent is
// asked is no prompt, nor is what its client writes. A store that cannot remember what it showed shows nothing: it would repeat
// it at every prompt.
func AnswerPrompt(ctx context.Context, c HookCall) (text string, err error) {
	if c.Event.SubagentID != "" || c.Event.Automatic {
		return "", nil
	}
	c.Rooms = sync.OnceValues(c.Rooms)
	silent, plan, err := promptSilent(c.Host, c.Event)
	more, nerr := nudge(c.Host, c.Event)
	owed, oerr := owedUnread(ctx, c)
	more += owed
	if err = errors.Join(err, nerr, oerr); silent || err != nil {
		return more, err
	}
	r, err := c.Rooms()
	if err != nil || r.Store.ReadOnly() {
		return more, err
	}
	a, err := Prompt(ctx, r, c.Event, PromptOptions{Limit: c.Harness.Hooks.ContextLimit(), Plan: plan})
	return a.Text + more, err
}

// AnswerTool returns the reply to a call of a tool before it runs, in the form of its agent. What
// the user's policy denies is denied, whatever else fails, and a call that would write into the store is asked about.
func AnswerTool(ctx context.Context, c HookCall) (reply []byte, err error) {
	v, perr := Police(c.Host.Store, c.Event, policy.PreTool, PromptOptions{})
	switch v.Decision {
	case policy.Deny:
		return c.Harness.Hooks.Verdict(c.Event, false, v.Text), perr
	case policy.Ask:
		return c.Harness.Hooks.Ask(c.Event, v.Text), perr
	}
	text, terr := ToolRules(ctx, c)
	return c.Harness.Hooks.Reply(c.Event, v.Text+text), errors.Join(perr, terr)
}

// ToolRules returns the rules with a trigger that fits a call. A session without a name would be
// shown the same rules before every call, so it is shown none. For the call that starts a
// sub-agent it looks up what the task is about.
func ToolRules(ctx context.Context, c HookCall) (string, error) {
	hooks, in := c.Harness.Hooks, c.Host.Config.Inject
	does := hooks.Call(c.Event)
	inTask := c.Harness.InTask // the agent puts it into the task
	switch {
	case does.Task != "" && (!in.Subagents || inTask && c.Event.SessionID == ""):
		return "", nil
	case does.Task != "":
	case len(hooks.Reply(c.Event, "x")) == 0: // it has no place for a text here
		return "", nil
	case !in.Tools || c.Event.SessionID == "" || !touches(does):
		return "", nil
	}
	r, err := c.Rooms()
	if err != nil || r.Store.ReadOnly() {
		return "", err
	}
	o := PromptOptions{Limit: hooks.ContextLimit()}
	var a PromptAnswer
	switch {
	case does.Task == "":
		a, err = Tool(ctx, r, c.Event, does, o)
	case inTask:
		a, err = TryTask(ctx, r, c.Event, does.Task, o)
	default: // what it would say would reach the one who gives the task
		err = noteTask(ctx, r, c.Event, does)
	}
	return a.Text, err
}

// AnswerFailure returns, after a call failed, the rules whose triggers stand in its output. An
// agent whose hook does not have the output gets none.
func AnswerFailure(ctx context.Context, c HookCall) (text string, err error) {
	if !c.Host.Config.Inject.Tools || c.Event.SessionID == "" || c.Event.Failure == "" || len(c.Harness.Hooks.Reply(c.Event, "x")) == 0 {
		return "", nil
	}
	r, err := c.Rooms()
	if err != nil || r.Store.ReadOnly() {
		return "", err
	}
	a, err := toolFailed(ctx, r, c.Event, PromptOptions{Limit: c.Harness.Hooks.ContextLimit()})
	return a.Text, err
}

// AnswerEvent answers an event that an agent sends to a server of ours instead of to a hook: a
// prompt, or a call of a tool before it runs or after it failed. The reply to any other is empty.
func AnswerEvent(ctx context.Context, r *app.Rooms, h *agent.Harness, e agent.Event) (reply []byte, err error) {
	c := HookCall{Host: r.Host, Harness: h, Event: e, Rooms: func() (*app.Rooms, error) { return r, nil }}
	c.Host.Store = r.Store
	kind, _ := h.Hooks.Kind(e.Name)
	switch kind {
	case agent.UserPrompt:
		text, err := AnswerPrompt(ctx, c)
		return PromptReply(c, text), err
	case agent.PreToolUse:
		return AnswerTool(ctx, c)
	case agent.PostToolUseFailure:
		text, err := AnswerFailure(ctx, c)
		return h.Hooks.Reply(e, text), err
	}
	return nil, nil
}

// PromptReply is the reply to a prompt, with the lines for the user that wait for it, where the agent can show them.
func PromptReply(c HookCall, text string) []byte {
	h, e := c.Harness, c.Event
	if h.Announce == nil || e.SessionID == "" || e.SubagentID != "" || c.Host.Store == nil || c.Host.Store.ReadOnly() {
		return h.Hooks.Reply(e, text)
	}
	shown := c.Host.Store.Spool().ShownLog(e.SessionID, "")
	st, err := shown.State()
	if err != nil || len(st.News) == 0 || shown.SaidNews(len(st.News)) != nil { // what cannot be noted as shown would be shown for ever
		return h.Hooks.Reply(e, text)
	}
	return h.Announce(e, text, strings.Join(st.News, "\n"))
}

// HookFailed records that an event could not be answered, as a hook does.
func HookFailed(r *app.Rooms, e agent.Event, err error) {
	_ = r.Store.Events().Log(store.Record{Kind: store.HookFailure, Session: e.SessionID, Text: "server " + e.Name, Error: err.Error()})
}
