package agent

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// A dialect is a HookDialect as a table: what an agent calls its events, the members
// of its payload and its tools, and the form in which it takes an answer. A table of
// constants costs nothing at the start of a hook.
type dialect struct {
	name   string
	events []eventName
	alias  []memberName // besides the usual names of members
	tools  []tool
	limit  ContextLimit

	marks  func(payload members) bool          // of the agent, in a payload
	fix    func(e *Event, payload members)     // what no table says; nil for nothing
	reply  func(e Event, text string) []byte   // text is not blank
	refuse func(e Event, reason string) []byte // denies a call; nil for no way
	allow  func(e Event) []byte                // allows what the user would be asked; nil for no way
}

// An eventName is what an agent calls an event.
type eventName struct {
	name string
	kind EventKind
}

// A memberName is what an agent calls a member of its payload that usually has
// another name.
type memberName struct{ theirs, usual string }

// hookBytes is how much text a reply may carry to any agent that does not say
// otherwise. The smallest limit that was seen is 10,000 bytes.
const hookBytes = 8_800

// byBytes is that limit.
func byBytes() ContextLimit {
	return ContextLimit{Max: hookBytes, Size: func(r rune) int { return max(utf8.RuneLen(r), 1) }}
}

// Kind implements HookDialect.
func (d *dialect) Kind(event string) (EventKind, bool) {
	for _, n := range d.events {
		if n.name == event {
			return n.kind, true
		}
	}
	return "", false
}

// Recognises implements HookDialect.
func (d *dialect) Recognises(p Payload) bool { return p.object && p.err == nil && d.marks(p.all) }

// Event implements HookDialect.
func (d *dialect) Event(p Payload) (Event, error) {
	e := Event{Harness: d.name}
	for _, m := range p.all {
		key := string(m.key)
		for _, a := range d.alias {
			if a.theirs == key {
				key = a.usual
			}
		}
		e.read(key, m.value)
	}
	if d.fix != nil {
		d.fix(&e, p.all)
	}
	for _, t := range d.tools {
		if t.name == e.ToolName {
			e.ToolName = t.as
			break
		}
	}
	return e, p.whole()
}

// Reply implements HookDialect. It is JSON always: plain text is shown to people by
// some agents, and dropped by others.
func (d *dialect) Reply(e Event, text string) []byte {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	return d.reply(e, text)
}

// Call implements HookDialect.
func (d *dialect) Call(e Event) Call {
	for _, t := range d.tools {
		if t.name == e.ToolName || t.as == e.ToolName {
			return callOf(t.kind, e)
		}
	}
	return Call{}
}

// ToolNames implements HookDialect.
func (d *dialect) ToolNames() (names []string) {
	for _, t := range d.tools {
		names = append(names, t.as)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Verdict implements HookDialect. Before a tool runs nothing is allowed: that would pass
// over what the user is asked.
func (d *dialect) Verdict(e Event, allow bool, reason string) []byte {
	switch {
	case allow && d.allow != nil:
		return d.allow(e)
	case !allow && d.refuse != nil:
		return d.refuse(e, reason)
	}
	return nil
}

// Ask implements HookDialect. Codex knows no question here, and none was tried with the other agents: they deny.
func (d *dialect) Ask(e Event, reason string) []byte { return d.Verdict(e, false, reason) }

// ContextLimit implements HookDialect.
func (d *dialect) ContextLimit() ContextLimit { return d.limit }

// members are those of one object, in order.
type members []struct{ key, value []byte }

// maxMembers bounds how many members of an object are looked at.
const maxMembers = 1000

func readMembers(data []byte) (all members, object bool, err error) {
	object, err = eachMember(data, func(key, value []byte) {
		if len(all) < maxMembers {
			all = append(all, struct{ key, value []byte }{key, value})
		}
	})
	return all, object, err
}

// get returns the text of a member, nil if there is none. Of several the last counts.
func (m members) get(name string) (value []byte) {
	for i := range m {
		if string(m[i].key) == name {
			value = m[i].value
		}
	}
	return value
}

// str is a member that is a string, decoded.
func (m members) str(name string) string { return unquote(m.get(name)) }

// has reports whether there is a member of one of the names.
func (m members) has(names ...string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return m.get(n) != nil })
}

// set takes a text into a field of an event, if it is one that may stand there.
func set(field *string, value []byte, valid func(string) bool) {
	if s := decode(value); valid(s) {
		*field = s
	}
}

func isShortWord(s string) bool { return len(s) <= 64 && isWord(s) }
func isName(s string) bool      { return len(s) <= 256 && !hasControl(s) }

// maxFailure is how much is kept of the output of a tool that failed, in bytes: both ends of it.
const maxFailure = 64 << 10

// ends cuts the middle out of a text that is longer than n bytes.
func ends(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n/2], "") + "\n" + strings.ToValidUTF8(s[len(s)-n/2:], "")
}

// read takes one member of a payload, under the name that most agents give it.
func (e *Event) read(key string, value []byte) {
	switch key {
	case "hook_event_name":
		set(&e.Name, value, isShortWord)
	case "session_id":
		set(&e.SessionID, value, ValidID)
	case "transcript_path":
		set(&e.TranscriptPath, value, validDir)
	case "cwd":
		set(&e.Dir, value, validDir)
	case "source":
		if set(&e.Source, value, isShortWord); e.Source == "new" { // Copilot
			e.Source = "startup"
		}
	case "reason", "notification_type":
		set(&e.Reason, value, isShortWord)
	case "trigger":
		set(&e.Trigger, value, isShortWord)
	case "prompt":
		e.Prompt = strings.TrimSpace(StripInjected(unquote(value)))
	case "message":
		e.Message = StripInjected(unquote(value))
	case "tool_name":
		set(&e.ToolName, value, isName)
	case "tool_input":
		e.ToolInput = value
	case "error":
		e.Failure = ends(StripInjected(unquote(value)), maxFailure)
	case "agent_id":
		set(&e.SubagentID, value, isName)
	case "agent_type":
		set(&e.SubagentType, value, isName)
	case "prompt_id", "turn_id":
		set(&e.TurnID, value, isName)
	}
}

// envelope is the form of a reply that most agents read: the event's name and the
// text, and nothing else.
func envelope(e Event, text string) []byte {
	return []byte(`{"hookSpecificOutput":{"hookEventName":` + QuoteJSON(e.Name) + `,"additionalContext":` + QuoteJSON(text) + "}}\n")
}

// envelopeDeny denies a call in the same form, before it and when the user would be asked.
func envelopeDeny(e Event, reason string) []byte {
	switch e.Name {
	case "PreToolUse":
		return preToolDecision("deny", reason)
	case "PermissionRequest":
		return []byte(`{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":` +
			QuoteJSON(reason) + "}}}\n")
	}
	return nil
}

// preToolDecision is the form of a decision before a tool runs.
func preToolDecision(decision, reason string) []byte {
	return []byte(`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"` + decision + `","permissionDecisionReason":` +
		QuoteJSON(reason) + "}}\n")
}

// envelopeAllow allows what the user would be asked, in the same form.
func envelopeAllow(e Event) []byte {
	if e.Name != "PermissionRequest" {
		return nil
	}
	return []byte(`{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}` + "\n")
}
