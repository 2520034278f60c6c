package agent

import (
	"bytes"
	"errors"
	"strings"
)

// Event implements HookDialect.
func (claude) Event(payload []byte) (Event, error) {
	e := Event{Harness: claudeName}
	text := func(field *string, value []byte, valid func(string) bool) {
		if s := unquote(value); valid(s) {
			*field = s
		}
	}
	word := func(s string) bool { return len(s) <= 64 && isWord(s) }
	name := func(s string) bool { return len(s) <= 256 && !hasControl(s) }
	object, err := eachMember(payload, func(key, value []byte) {
		switch string(key) {
		case "hook_event_name":
			text(&e.Name, value, word)
		case "session_id":
			text(&e.SessionID, value, ValidID)
		case "transcript_path":
			text(&e.TranscriptPath, value, validDir)
		case "cwd":
			text(&e.Dir, value, validDir)
		case "source":
			text(&e.Source, value, word)
		case "reason":
			text(&e.Reason, value, word)
		case "trigger":
			text(&e.Trigger, value, word)
		case "prompt":
			e.Prompt = strings.TrimSpace(StripInjected(unquote(value)))
		case "message":
			e.Message = StripInjected(unquote(value))
		case "tool_name":
			text(&e.ToolName, value, name)
		case "tool_input":
			e.ToolInput = bytes.Clone(value)
		case "tool_response":
			e.ToolResult = bytes.Clone(value)
		case "agent_id":
			text(&e.SubagentID, value, name)
		case "agent_type":
			text(&e.SubagentType, value, name)
		case "prompt_id":
			text(&e.TurnID, value, name)
		case "stop_hook_active":
			e.Nested = truthy(value)
		}
	})
	if err == nil && !object {
		err = errors.New("not a JSON object")
	}
	return e, err
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
	return []byte(`{"hookSpecificOutput":{"hookEventName":` + quote(e.Name) +
		`,"additionalContext":` + quote(text) + "}}\n")
}

// ToolNames implements HookDialect.
func (claude) ToolNames() []string { return strings.Split(claudeTools, "|") }

// Verdict implements HookDialect. Before a tool runs nothing is allowed: that would pass
// over what the user is asked.
func (claude) Verdict(e Event, allow bool, reason string) []byte {
	switch {
	case e.Name == "PreToolUse" && !allow:
		return []byte(`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":` +
			quote(reason) + "}}\n")
	case e.Name == "PermissionRequest" && allow:
		return []byte(`{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}` + "\n")
	case e.Name == "PermissionRequest":
		return []byte(`{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":` +
			quote(reason) + "}}}\n")
	}
	return nil
}

// ContextLimit implements HookDialect. Claude Code keeps at most 10,000 UTF-16
// code units of a hook's output; of a longer one the model sees a 2 KB preview
// and a file name. The margin is for what an agent may put around the text.
func (claude) ContextLimit() ContextLimit { return ContextLimit{Max: 9_800} }

// Kind implements HookDialect. The others are those that Claude Code 2.1.330 knows.
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
	case "PostToolBatch", "PermissionDenied", "Notification", "UserPromptExpansion", "StopFailure",
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
func (claude) Recognises(payload []byte) bool {
	var transcript string
	foreign := false
	_, err := eachMember(payload, func(key, value []byte) {
		switch string(key) {
		case "transcript_path":
			transcript = unquote(value)
		case "timestamp", "turn_id", "cursor_version":
			foreign = true
		}
	})
	return err == nil && !foreign && strings.Contains(strings.ReplaceAll(transcript, `\`, "/"), "/projects/")
}
