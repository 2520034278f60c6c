package agent

import "strings"

// Event implements HookDialect.
func (claude) Event(p Payload) (Event, error) {
	e := Event{Harness: claudeName}
	for _, m := range p.all {
		e.read(string(m.key), m.value)
	}
	if tagName(e.Prompt) == "task-notification" { // a sub-agent in the background is done
		if t := claudePrompt(e.Prompt); t.Text == "" {
			e.Prompt, e.Automatic = "", true
		}
	}
	return e, p.whole()
}

// claudePrompt returns a prompt as a turn, without what the client wrote itself.
func claudePrompt(prompt string) Turn {
	var u utterance
	u.add(prompt)
	t, _ := u.turn()
	return t
}

// claudeToolTable are the tools of which something is read.
var claudeToolTable = [...]tool{
	{"Edit", "Edit", editTool},
	{"MultiEdit", "MultiEdit", editTool},
	{"Write", "Write", editTool},
	{"NotebookEdit", "NotebookEdit", editTool},
	{"Bash", "Bash", shellTool},
	{"PowerShell", "PowerShell", shellTool},
	{"Agent", "Agent", taskTool},
	{"Task", "Task", taskTool},
}

// Call implements HookDialect.
func (claude) Call(e Event) Call {
	for _, t := range claudeToolTable {
		if t.name == e.ToolName {
			return callOf(t.kind, e)
		}
	}
	return Call{}
}

// Reply implements HookDialect. At the start of a session, and when a person runs
// the command by hand, plain text is what gets read; events in mid-session take
// it as a member of a JSON object; the others, SessionEnd and PreCompact among
// them, have no place for it.
func (claude) Reply(e Event, text string) []byte {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	switch e.Name {
	case "", "SessionStart":
		// A text that begins like an object would be taken for one.
		if e.Name == "" || !strings.HasPrefix(strings.TrimSpace(text), "{") {
			return []byte(strings.TrimRight(text, "\n") + "\n")
		}
	case "UserPromptSubmit", "SubagentStart", "PreToolUse", "PostToolUse", "PostToolUseFailure":
	default:
		return nil
	}
	return envelope(e, text)
}

// claudeAnnounce is the Announce of Claude Code.
func claudeAnnounce(e Event, text, line string) []byte {
	if text == "" {
		return []byte(`{"systemMessage":` + QuoteJSON(line) + "}\n")
	}
	return []byte(`{"systemMessage":` + QuoteJSON(line) + `,"hookSpecificOutput":{"hookEventName":` + QuoteJSON(e.Name) +
		`,"additionalContext":` + QuoteJSON(text) + "}}\n")
}

// ToolNames implements HookDialect.
func (claude) ToolNames() []string { return strings.Split(claudeTools, "|") }

// Verdict implements HookDialect. Before a tool runs nothing is allowed: that would pass
// over what the user is asked.
func (claude) Verdict(e Event, allow bool, reason string) []byte {
	if allow {
		return envelopeAllow(e)
	}
	return envelopeDeny(e, reason)
}

// Ask implements HookDialect.
func (claude) Ask(e Event, reason string) []byte {
	if e.Name != "PreToolUse" {
		return nil
	}
	return preToolDecision("ask", reason)
}

// ContextLimit implements HookDialect. Claude Code keeps at most 10,000 UTF-16
// code units of a hook's output; of a longer one the model sees a 2 KB preview
// and a file name. The margin is for what an agent may put around the text.
func (claude) ContextLimit() ContextLimit { return ContextLimit{Max: 9_800} }

// Kind implements HookDialect. The others are those that Claude Code 2.1.332 knows.
func (claude) Kind(event string) (EventKind, bool) {
	switch event {
	case "SessionStart":
		return SessionStart, true
	case "UserPromptSubmit":
		return UserPrompt, true
	case "PreToolUse":
		return PreToolUse, true
	case "PostToolUse":
		return PostToolUse, true
	case "PostToolUseFailure":
		return PostToolUseFailure, true
	case "SubagentStart":
		return SubagentStart, true
	case "SubagentStop":
		return SubagentStop, true
	case "Stop":
		return TurnEnd, true
	case "PreCompact":
		return PreCompact, true
	case "PostCompact":
		return PostCompact, true
	case "SessionEnd":
		return SessionEnd, true
	case "PermissionRequest":
		return PermissionRequest, true
	case "Notification":
		return Notification, true
	case "PostToolBatch", "PermissionDenied", "UserPromptExpansion", "StopFailure",
		"PreModelSwitch", "PostModelSwitch", "Setup", "TeammateIdle", "TaskCreated", "TaskCompleted", "Elicitation",
		"ElicitationResult", "ConfigChange", "WorktreeCreate", "WorktreeRemove", "InstructionsLoaded", "CwdChanged",
		"FileChanged", "DirectoryAdded", "MessageDisplay":
		return OtherEvent, true
	}
	return "", false
}

// Recognises implements HookDialect: the transcript lies below projects, and
// there is no time in the payload, unlike in those of the agents that took over
// the names of its members.
func (claude) Recognises(p Payload) bool {
	if p.err != nil || p.all.has("timestamp", "turn_id", "cursor_version") {
		return false
	}
	return strings.Contains(strings.ReplaceAll(p.all.str("transcript_path"), `\`, "/"), "/projects/")
}
