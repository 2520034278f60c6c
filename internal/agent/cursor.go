package agent

import (
	"path/filepath"
	"slices"
	"strings"
)

const cursorName = "cursor"

var cursorTools = []tool{
	{"Shell", "Bash", shellTool}, {"StrReplace", "Edit", editTool}, {"Write", "Write", editTool}, {"Task", "Agent", taskTool},
}

// cursorHooks is the dialect of Cursor. It takes a text at a session's start, which nobody
// waits for, and after tools; a prompt has no place for one.
var cursorHooks = dialect{
	name: cursorName,
	events: []eventName{
		{"sessionStart", SessionStart},
		{"beforeSubmitPrompt", UserPrompt},
		{"preToolUse", PreToolUse},
		{"postToolUse", PostToolUse},
		{"postToolUseFailure", PostToolUseFailure},
		{"subagentStart", SubagentStart},
		{"subagentStop", SubagentStop},
		{"stop", TurnEnd},
		{"preCompact", PreCompact},
		{"sessionEnd", SessionEnd},
		{"afterAgentResponse", OtherEvent},
		{"workspaceOpen", OtherEvent},
		{"beforeShellExecution", OtherEvent},
		{"afterShellExecution", OtherEvent},
		{"beforeMCPExecution", OtherEvent},
		{"afterMCPExecution", OtherEvent},
		{"beforeReadFile", OtherEvent},
		{"afterFileEdit", OtherEvent},
		{"afterAgentThought", OtherEvent},
	},
	alias: []memberName{
		{"conversation_id", "session_id"},
		{"generation_id", "turn_id"},
		{"tool_output", "tool_response"},
		{"subagent_id", "agent_id"},
		{"subagent_type", "agent_type"},
	},
	tools: cursorTools,
	limit: byBytes(),
	marks: func(p members) bool { return p.has("cursor_version") || p.has("conversation_id") },
	fix: func(e *Event, p members) {
		if e.Dir == "" {
			eachElement(p.get("workspace_roots"), func(root []byte) {
				if e.Dir == "" {
					set(&e.Dir, root, validDir)
				}
			})
		}
	},
	reply: func(e Event, text string) []byte {
		if e.Name != "sessionStart" && e.Name != "postToolUse" {
			return nil
		}
		return []byte(`{"additional_context":` + QuoteJSON(text) + "}\n")
	},
	refuse: func(e Event, reason string) []byte {
		if e.Name != "preToolUse" {
			return nil
		}
		return []byte(`{"permission":"deny","agent_message":` + QuoteJSON(reason) + `,"user_message":` + QuoteJSON(reason) + "}\n")
	},
}

// cursorSessions are the transcripts of Cursor's agent: a file for each conversation, whose
// lines hold messages of Anthropic's form.
var cursorSessions = lineSource{
	files:  []string{"projects/*/agent-transcripts/*.jsonl", "projects/*/agent-transcripts/*/*.jsonl"},
	folder: func(file string) string { return claude{}.ProjectFolder(file) },
	main: func(name string, _ []byte) bool {
		return !strings.Contains(filepath.ToSlash(name), "/subagents/")
	},
	take: func(b *builder) (func(members, line) bool, func()) {
		return func(r members, l line) bool { return cursorRecord(b, r, l) }, nil
	},
}

// cursorRecord takes one line.
func cursorRecord(b *builder, r members, l line) bool {
	s := &b.session
	for _, name := range []string{"timestamp", "createdAt"} {
		if at, ok := timeOf(r.get(name)); ok {
			b.seen(at)
		}
	}
	for _, name := range []string{"sessionId", "conversationId", "session_id", "conversation_id"} {
		b.named(r.str(name))
	}
	b.at(r.get("cwd"), r.get("gitBranch"))
	role := r.str("role")
	message := r.get("message")
	if role == "" {
		role = unquote(member(message, "role"))
	}
	content := member(message, "content")
	if content == nil {
		content = r.get("content")
	}
	if content == nil || role != "user" && role != "assistant" {
		return false
	}
	t := Turn{Role: Role(role), Offset: l.offset, At: s.Ended, UUID: clip(r.str("id"), 128)}
	var texts []string
	eachBlock(content, func(c claudeBlock) {
		switch {
		case is(c.kind, "text"):
			texts = append(texts, unquote(c.text))
		case is(c.kind, "tool_use"):
			input := c.input
			if _, object, err := readMembers(input); err != nil || !object {
				input = []byte("{}")
			}
			t.Tools = append(t.Tools, b.use(cursorTools, unquote(c.id), unquote(c.name), input))
		case is(c.kind, "tool_result"):
			if use := b.waiting(unquote(c.useID)); use != nil {
				b.answer(use, StripInjected(geminiText(c.content)), c.isError)
			}
		}
	})
	if t.Role == User {
		cursorUser(texts, &t)
	} else {
		t.Text = strings.Join(texts, "\n")
	}
	b.said(t)
	return true
}

// cursorMarks are the elements in which Cursor attaches something where it does not put the
// prompt into one.
var cursorMarks = clientMarks{keep: []string{
	"attached_files", "open_and_recently_viewed_files", "additional_data", "manually_attached_skills", "system_reminder", "system-reminder",
	"hooks_context", "user_info", "agent_skills", "git_status", "project_layout", "cursor_rules", "external_links",
	"image_files", "terminal_files_information", "linter_errors",
}}

// cursorUser takes a prompt out of the element in which it stands; what else is in the message
// comes from the editor. Of two parts with such an element the last holds the prompt.
func cursorUser(texts []string, t *Turn) {
	for _, text := range slices.Backward(texts) {
		if query, ok := cursorQuery(text); ok {
			t.Text = query
			return
		}
	}
	var m mixed
	for _, text := range texts {
		if strings.Contains("\n"+text, "\n"+cursorOpen) { // it stands in an attachment
			m.add(text, Attached)
			continue
		}
		m.part(&cursorMarks, text, nil)
	}
	m.into(t)
}

const cursorOpen, cursorClose = "<user_query>", "</user_query>"

// cutLast cuts s around the last sep.
func cutLast(s, sep string) (before, after string, ok bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// cursorQuery finds the prompt in a part. Other elements before it are passed over as wholes, each
// up to its last closing tag, since a file that stands in one may hold the same tags.
func cursorQuery(s string) (query string, ok bool) {
	for s != "" {
		s = strings.TrimLeft(s, " \t\r\n")
		if rest, ok := strings.CutPrefix(s, cursorOpen); ok {
			query, _, _ = strings.Cut(rest, cursorClose)
			return strings.TrimSpace(query), true
		}
		if name := tagName(s); name != "" {
			if last := strings.LastIndex(s, "</"+name+">"); last >= 0 {
				s = s[last+len(name)+3:]
				continue
			}
		}
		if _, rest, ok := cutLast("\n"+s, "\n"+cursorOpen); ok { // behind a text without marks
			query, _, _ = strings.Cut(rest, cursorClose)
			return strings.TrimSpace(query), true
		}
		return "", false
	}
	return "", false
}
