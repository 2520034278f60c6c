package agent

import (
	"bytes"
	"strings"
)

const copilotName = "copilot"

var copilotTools = []tool{
	{"Bash", "Bash", shellTool},
	{"bash", "Bash", shellTool},
	{"powershell", "PowerShell", shellTool},
	{"PowerShell", "PowerShell", shellTool},
	{"Edit", "Edit", editTool},
	{"edit", "Edit", editTool},
	{"str_replace_editor", "Edit", editTool},
	{"Write", "Write", editTool},
	{"create", "Write", editTool},
	{"apply_patch", "Edit", patchTool},
	{"Task", "Agent", taskTool},
	{"task", "Agent", taskTool},
}

// copilotHooks is the dialect of Copilot, in its command line and in VS Code. The one reads
// a text at the top of the answer, the other in an envelope; each passes over the other's.
// Payloads come with two sets of names.
var copilotHooks = dialect{
	name: copilotName,
	events: []eventName{
		{"SessionStart", SessionStart},
		{"UserPromptSubmit", UserPrompt},
		{"PreToolUse", PreToolUse},
		{"PostToolUse", PostToolUse},
		{"SubagentStart", SubagentStart},
		{"SubagentStop", SubagentStop},
		{"Stop", TurnEnd},
		{"PreCompact", PreCompact},
		{"SessionEnd", SessionEnd},
		{"PermissionRequest", OtherEvent},
		{"sessionStart", SessionStart},
		{"userPromptSubmitted", UserPrompt},
		{"preToolUse", PreToolUse},
		{"postToolUse", PostToolUse},
		{"postToolUseFailure", PostToolUseFailure},
		{"subagentStart", SubagentStart},
		{"subagentStop", SubagentStop},
		{"agentStop", TurnEnd},
		{"preCompact", PreCompact},
		{"sessionEnd", SessionEnd},
		{"permissionRequest", OtherEvent},
		{"userPromptTransformed", OtherEvent},
		{"errorOccurred", OtherEvent},
		{"notification", OtherEvent},
		{"preMcpToolCall", OtherEvent},
	},
	alias: []memberName{
		{"hookEventName", "hook_event_name"},
		{"hookName", "hook_event_name"},
		{"sessionId", "session_id"},
		{"transcriptPath", "transcript_path"},
		{"toolName", "tool_name"},
		{"toolArgs", "tool_input"},
		{"toolInput", "tool_input"},
		{"toolResult", "tool_response"},
		{"tool_result", "tool_response"},
		{"agentId", "agent_id"},
		{"agentType", "agent_type"},
		{"agentName", "agent_type"},
		{"agent_name", "agent_type"},
		{"stopHookActive", "stop_hook_active"},
	},
	tools: copilotTools,
	limit: byBytes(),
	marks: func(p members) bool {
		if p.has("cursor_version", "conversation_id", "extra") {
			return false
		}
		if p.has("sessionId", "hookName") {
			return true
		}
		file := strings.ReplaceAll(p.str("transcript_path"), `\`, "/")
		return p.has("timestamp") && p.has("session_id") && p.has("hook_event_name") &&
			(file == "" || strings.Contains(file, "/session-state/") || strings.Contains(file, "GitHub.copilot-chat"))
	},
	reply: func(e Event, text string) []byte {
		switch kind := copilotKind(e.Name); kind {
		case SessionStart, UserPrompt, PreToolUse, PostToolUse, PostToolUseFailure, SubagentStart:
			inner := `"additionalContext":` + QuoteJSON(text)
			return []byte(`{` + inner + `,"hookSpecificOutput":{"hookEventName":` + QuoteJSON(e.Name) + `,` + inner + "}}\n")
		}
		return nil
	},
	refuse: func(e Event, reason string) []byte {
		if copilotKind(e.Name) != PreToolUse {
			return nil
		}
		inner := `"permissionDecision":"deny","permissionDecisionReason":` + QuoteJSON(reason)
		return []byte(`{` + inner + `,"hookSpecificOutput":{"hookEventName":` + QuoteJSON(e.Name) + `,` + inner + "}}\n")
	},
}

// copilotKind is Kind, for functions that stand in the table itself.
func copilotKind(event string) EventKind {
	switch strings.ToLower(event[:min(1, len(event))]) + event[min(1, len(event)):] {
	case "sessionStart":
		return SessionStart
	case "userPromptSubmit", "userPromptSubmitted":
		return UserPrompt
	case "preToolUse":
		return PreToolUse
	case "postToolUse":
		return PostToolUse
	case "postToolUseFailure":
		return PostToolUseFailure
	case "subagentStart":
		return SubagentStart
	}
	return OtherEvent
}

// copilotSessions are the event logs of Copilot: a folder for each session, with a file
// that is appended to. Sub-agents write into the same file.
var copilotSessions = lineSource{
	files: []string{"session-state/*/events.jsonl"},
	ended: func(tail []byte) bool {
		last := bytes.LastIndex(tail, []byte(`{"type":"session.shutdown"`))
		return last >= 0 && last > bytes.LastIndex(tail, []byte(`{"type":"session.resume"`)) &&
			last > bytes.LastIndex(tail, []byte(`{"type":"user.message"`))
	},
	take: func(b *builder) (func(members, line) bool, func()) {
		return func(r members, l line) bool { return copilotRecord(b, r, l) }, b.splitTaken
	},
}

// copilotMarks are the marks of Copilot's clients.
var copilotMarks = clientMarks{
	drop: []string{"system-reminder", "system_reminder"},
	keep: []string{
		"tagged_files", "system_notification", "current_datetime", "attachments", "editorContext",
		"reminderInstructions", "skill-context", "skill_context", "invoked_skills", "conversation-summary", "conversation_summary",
	},
}

// copilotRecord takes one record.
func copilotRecord(b *builder, r members, l line) bool {
	at, ok := timeOf(r.get("timestamp"))
	if ok {
		b.seen(at)
	}
	s := &b.session
	if isString(r.get("agentId")) {
		s.Skipped.Sidechain++
		return true
	}
	data, _, _ := readMembers(r.get("data"))
	t := Turn{At: at, Offset: l.offset, UUID: clip(r.str("id"), 128)}
	b.record(t.UUID, l.offset)
	switch r.str("type") {
	case "session.snapshot_rewind":
		id := clip(data.str("upToEventId"), 128)
		if _, known := b.begins[id]; known {
			b.backTo(id)
		}
	case "session.start", "session.resume":
		b.named(data.str("sessionId"))
		in, _, _ := readMembers(data.get("context"))
		b.at(in.get("cwd"), in.get("branch"))
		first(&s.Version, data.get("copilotVersion"), isVersion)
	case "session.title_changed":
		if title := oneLine(data.str("title")); title != "" {
			s.Title = clip(title, 256)
		}
	case "session.error":
		s.Failed = true
	case "user.message":
		if source := data.str("source"); source != "" && source != "user" { // another program speaks
			s.Skipped.Meta++
			return true
		}
		t.Role = User
		var m mixed
		m.part(&copilotMarks, data.str("content"), nil)
		m.into(&t)
		b.said(t)
	case "abort":
		t.Role, t.Interrupted = User, true
		b.said(t)
	case "assistant.message":
		t.Role, t.Text = Assistant, data.str("content")
		eachElement(data.get("toolRequests"), func(request []byte) {
			q, _, _ := readMembers(request)
			input := q.get("arguments")
			if _, object, err := readMembers(input); err != nil || !object {
				input = []byte("{}")
			}
			t.Tools = append(t.Tools, b.use(copilotTools, q.str("toolCallId"), q.str("name"), input))
		})
		b.said(t)
	case "tool.execution_complete":
		if use := b.waiting(data.str("toolCallId")); use != nil {
			text := cutGuidance(unquote(member(data.get("result"), "content")))
			code := member(data.get("shellExecution"), "exitCode")
			failed := data.has("success") && !truthy(data.get("success")) || code != nil && string(code) != "0"
			if e := unquote(member(data.get("error"), "message")); e != "" {
				text = e
			}
			b.answer(use, StripInjected(text), failed)
		}
	default:
		return false
	}
	return true
}

// cutGuidance takes off what hooks said behind the result of a tool.
func cutGuidance(result string) string {
	if i := strings.LastIndex(result, "\n\nTool \""); i >= 0 && strings.Contains(result[i:], "Additional guidance from ") {
		return result[:i]
	}
	return result
}
