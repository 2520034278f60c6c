package agent

import (
	"path/filepath"
	"strings"
)

const qwenName = "qwen"

var qwenTools = []tool{
	{"run_shell_command", "Bash", shellTool},
	{"edit", "Edit", editTool},
	{"write_file", "Write", editTool},
	{"agent", "Agent", taskTool},
}

// qwenHooks is the dialect of Qwen Code: a relative of Gemini CLI with the events of Claude
// Code. It drops the answer at a session's start, so the first prompt brings that, too. The
// event of a prompt comes again, with none, after each call of a tool.
var qwenHooks = dialect{
	name: qwenName,
	events: []eventName{
		{"UserPromptSubmit", UserPrompt},
		{"PreToolUse", PreToolUse},
		{"PostToolUse", PostToolUse},
		{"PostToolUseFailure", PostToolUseFailure},
		{"PermissionRequest", OtherEvent},
		{"SubagentStart", SubagentStart},
		{"SubagentStop", SubagentStop},
		{"Stop", TurnEnd},
		{"PreCompact", PreCompact},
		{"PostCompact", PostCompact},
		{"SessionEnd", SessionEnd},
		{"SessionStart", OtherEvent},
		{"Notification", OtherEvent},
	},
	tools: qwenTools,
	limit: byBytes(),
	marks: func(p members) bool {
		file := strings.ReplaceAll(p.str("transcript_path"), `\`, "/")
		return p.has("timestamp") && strings.Contains(file, "/projects/") && strings.Contains(file, "/chats/")
	},
	fix: func(e *Event, _ members) { e.Opens = e.Name == "UserPromptSubmit" && e.Prompt != "" },
	reply: func(e Event, text string) []byte {
		switch e.Name {
		case "UserPromptSubmit", "PostToolUse", "PostToolUseFailure":
			return envelope(e, text)
		}
		return nil
	},
	refuse: func(e Event, reason string) []byte {
		if e.Name != "PreToolUse" {
			return nil
		}
		return envelopeDeny(e, reason)
	},
}

// qwenSessions are the chats of Qwen Code: a file for each session below a folder for each
// project. Every record says in which folder and on which branch it was written.
var qwenSessions = lineSource{
	files: []string{"projects/*/chats/*.jsonl"},
	main: func(name string, head []byte) bool {
		return !is(member(firstLine(head), "kind"), "subagent") && !strings.Contains(filepath.ToSlash(name), "/subagents/")
	},
	take: func(b *builder) (func(members, line) bool, func()) {
		seen := make(map[string]bool)
		branches := newBranchTree()
		take := func(r members, l line) bool {
			ok := qwenRecord(b, seen, r, l)
			branches.add(r.get("uuid"), r.get("parentUuid"), qwenKind(b, r, l), l.offset)
			return ok
		}
		return take, func() {
			branches.decide()
			b.takeBack(func(t *Turn) bool { return branches.left(t.Offset) })
		}
	},
}

// qwenKind returns what a record that was taken means for the branches.
func qwenKind(b *builder, r members, l line) recordKind {
	turns := b.session.Turns
	switch r.str("type") {
	case "user":
		if n := len(turns); n > 0 && turns[n-1].Offset == l.offset && turns[n-1].Text != "" {
			return promptRecord
		}
		return talkRecord
	case "assistant", "tool_result":
		return talkRecord
	}
	return otherRecord
}

// qwenRecord takes one record.
func qwenRecord(b *builder, seen map[string]bool, r members, l line) bool {
	s := &b.session
	b.named(r.str("sessionId"))
	id := clip(r.str("uuid"), 128)
	if id != "" && seen[id] || r.has("forkedFrom") { // a fork begins with copies of another session
		s.Skipped.Duplicate++
		return true
	}
	if len(seen) < maxUUIDs {
		seen[id] = true
	}
	at, ok := timeOf(r.get("timestamp"))
	if ok {
		b.seen(at)
	}
	b.at(r.get("cwd"), r.get("gitBranch"))
	first(&s.Version, r.get("version"), isVersion)
	parts := member(r.get("message"), "parts")
	t := Turn{At: at, Offset: l.offset, UUID: id}
	switch r.str("type") {
	case "user":
		t.Role = User
		geminiUser(parts, nil, &t)
		b.said(t)
	case "assistant":
		t.Role, t.Text = Assistant, geminiText(parts)
		eachElement(parts, func(part []byte) {
			if c, _, _ := readMembers(member(part, "functionCall")); c != nil {
				input := c.get("args")
				if _, object, err := readMembers(input); err != nil || !object {
					input = []byte("{}")
				}
				t.Tools = append(t.Tools, b.use(qwenTools, c.str("id"), c.str("name"), input))
			}
		})
		b.said(t)
	case "tool_result":
		qwenResult(b, parts)
	case "system":
		qwenSystem(s, r)
	default:
		return false
	}
	return true
}

// qwenResult takes the results of tools.
func qwenResult(b *builder, parts []byte) {
	eachElement(parts, func(part []byte) {
		f, _, _ := readMembers(member(part, "functionResponse"))
		if f == nil {
			return
		}
		if use := b.waiting(f.str("id")); use != nil {
			text, bad := responseText(f.get("response"))
			b.answer(use, StripInjected(text), bad)
		}
	})
}

// qwenSystem takes a record that the agent wrote for itself.
func qwenSystem(s *Session, r members) {
	if r.str("subtype") == "custom_title" {
		if title := oneLine(unquote(member(r.get("systemPayload"), "customTitle"))); title != "" {
			s.Title, s.Named = clip(title, 256), !is(member(r.get("systemPayload"), "titleSource"), "auto")
		}
	}
	s.Skipped.Meta++
}
