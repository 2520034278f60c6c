package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// An Event is what a harness tells a hook. Every field has been checked; what
// was missing or not as it should be is empty.
type Event struct {
	Harness string // Harness.Name
	Name    string // "SessionStart", …, as the harness spells it

	SessionID      string // valid for a file name
	TranscriptPath string // absolute
	Dir            string // absolute

	Source  string // why a session starts: startup, resume, clear, compact, fork
	Reason  string // why it ends: clear, logout, prompt_input_exit, other; of a notification, its type
	Trigger string // of a compaction: manual, auto

	Prompt    string          // what the user has just typed
	Automatic bool            // the client wrote the prompt, not a person
	Message   string          // of a notification
	ToolName  string          // of the tool that is about to run or has run
	ToolInput json.RawMessage // as the tool got it
	Failure   string          // what a tool that failed gave, at most maxFailure bytes of it
	// SubagentID is the sub-agent in which the event happens or which it is about,
	// SubagentType its kind. Whoever answers a prompt looks here first: what a
	// sub-agent is asked is not what the user typed.
	SubagentID   string
	SubagentType string
	TurnID       string // of the prompt that the event belongs to
	Program      bool   // a program runs the agent, as far as the environment of the hook tells
	Opens        bool   // a prompt that may be the first of a session whose start has no event that takes a text
}

// An EventKind is what an event means, whatever its harness calls it.
type EventKind string

// The kinds of events.
const (
	SessionStart       EventKind = "session-start"
	UserPrompt         EventKind = "user-prompt"
	PreToolUse         EventKind = "pre-tool-use"
	PostToolUse        EventKind = "post-tool-use"
	PostToolUseFailure EventKind = "post-tool-use-failure"
	SubagentStart      EventKind = "subagent-start"
	SubagentStop       EventKind = "subagent-stop"
	PermissionRequest  EventKind = "permission-request"
	Notification       EventKind = "notification"
	TurnEnd            EventKind = "turn-end"
	PreCompact         EventKind = "pre-compact"
	PostCompact        EventKind = "post-compact"
	SessionEnd         EventKind = "session-end"
	OtherEvent         EventKind = "other" // the harness has it, and it means nothing to us
)

// Typed returns the stretches of the event's prompt that a person typed, as Turn.Typed does.
func (e Event) Typed() []string {
	t := Turn{Role: User, Text: e.Prompt}
	if e.Harness == claudeName {
		t = claudePrompt(e.Prompt)
	}
	return t.Typed()
}

// A HookDialect is how an agent calls our hooks and how it wants to be answered.
//
// An agent writes one payload, a JSON object, to the standard input of a command
// and reads its standard output. Zero bytes are an answer that every agent
// accepts; anything else has to be exactly in its dialect, since some agents show
// to their user, or drop, what they do not understand.
type HookDialect interface {
	// Kind returns what an event means, by its name as the agent spells it. It
	// reports false for a name that is none of the agent's.
	Kind(event string) (EventKind, bool)

	// Recognises reports whether a payload bears the marks of this agent. One
	// agent may run the hooks that were installed for another, so the payload
	// counts for more than what the command line says. It may be false for a
	// payload that is too short to tell.
	Recognises(p Payload) bool

	// Event reads one payload, and keeps parts of it. The event is what could be read
	// before the error, if any; ReadEvent decides what a caller gets to see of it, and
	// sets Harness.
	Event(p Payload) (Event, error)

	// Reply says text to the agent in answer to e, in the dialect of that event:
	// plain text or a JSON object, a line end behind it. It returns nil, so zero
	// bytes, when text is blank or when the event has no way to carry a text.
	Reply(e Event, text string) []byte

	// Call reads what the tool of an event does. It is empty for a tool that changes
	// nothing and starts nobody.
	Call(e Event) Call

	// ToolNames lists the tools whose calls come to a hook.
	ToolNames() []string

	// Verdict allows or denies the call of a tool, in answer to e, with a reason for who
	// asked. It returns nil when the event has no way to say so.
	Verdict(e Event, allow bool, reason string) []byte

	// Ask lets the agent ask its user about the call of a tool, in answer to e before it runs, and shows the reason. An
	// agent whose hooks cannot do that denies the call.
	Ask(e Event, reason string) []byte

	// ContextLimit is how much text a reply may carry. An agent that gets more
	// shows its model a part or a preview, so a caller stays below.
	ContextLimit() ContextLimit
}

// A ContextLimit is a limit of a text; agents do not count alike.
type ContextLimit struct {
	Max  int            // 0 means no limit
	Size func(rune) int // what a character counts; nil means UTF-16 code units
}

// ErrNoEvent says that nothing was sent: a hook command was run by hand.
var ErrNoEvent = errors.New("read hook event: nothing on standard input")

// ReadEvent reads one event of h from r, usually standard input.
//
// The event is always usable: with nothing, something else than JSON, or no
// object in r it is empty but for Harness, and the error is there to be logged.
// Of a payload longer than max bytes, or one that had not ended when timeout
// passed, the event has what was complete. Zero means 1 MB and two seconds.
//
// ReadEvent returns as soon as the object is complete, whether or not the
// writer closes its end. After a timeout a goroutine stays behind in r.Read; a
// hook is about to exit anyway.
//
// An agent other than h that recognises the payload is the one that called:
// Event.Harness names it.
func ReadEvent(h *Harness, r io.Reader, max int64, timeout time.Duration) (Event, error) {
	if max <= 0 {
		max = 1 << 20
	}
	if timeout <= 0 {
		timeout = 2 * time.Second
	}
	p, cut := readPayload(r, max, timeout)
	if p.empty {
		return Event{Harness: h.Name}, errors.Join(ErrNoEvent, cut)
	}
	h = caller(h, p)
	e, err := h.Hooks.Event(p)
	e.Harness = h.Name
	if err != nil && cut == nil {
		return Event{Harness: h.Name}, fmt.Errorf("read hook event: %w", err)
	}
	if err == nil {
		cut = nil // it was whole after all
	}
	return e, cut
}

// caller returns the harness that sent a payload.
func caller(named *Harness, p Payload) *Harness {
	if named.Hooks.Recognises(p) {
		return named
	}
	for _, h := range All {
		if h != named && h.Hooks != nil && h.Hooks.Recognises(p) {
			return h
		}
	}
	return named
}
