package agent

import (
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

const codexName = "codex"

// codexTools are the tools of Codex as its hooks and its transcripts name them; they
// differ for the shell.
var codexTools = []tool{
	{"Bash", "Bash", shellTool},
	{"exec_command", "Bash", shellTool},
	{"shell", "Bash", shellTool},
	{"shell_command", "Bash", shellTool},
	{"apply_patch", "Edit", patchTool},
	{"spawn_agent", "Agent", taskTool},
}

// codexHooks is the dialect of Codex. It drops, without a word, an answer that has a
// member that it does not know, and text that begins like JSON and is none.
var codexHooks = dialect{
	name: codexName,
	events: []eventName{
		{"SessionStart", SessionStart},
		{"UserPromptSubmit", UserPrompt},
		{"PreToolUse", PreToolUse},
		{"PostToolUse", PostToolUse},
		{"PermissionRequest", PermissionRequest},
		{"SubagentStart", SubagentStart},
		{"SubagentStop", SubagentStop},
		{"Stop", TurnEnd},
		{"PreCompact", PreCompact},
		{"PostCompact", PostCompact},
		{"SessionEnd", SessionEnd},
		{"Interrupt", OtherEvent},
	},
	tools: codexTools,
	limit: byBytes(), // 2,500 tokens, at four bytes each
	marks: func(p members) bool {
		if p.has("timestamp", "cursor_version", "prompt_id") || !p.has("hook_event_name") {
			return false
		}
		return isRollout(p.str("transcript_path")) || p.has("model") && p.has("permission_mode")
	},
	reply: func(e Event, text string) []byte {
		switch e.Name {
		case "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "SubagentStart":
			return envelope(e, text)
		}
		return nil
	},
	refuse: envelopeDeny,
	allow:  envelopeAllow,
}

// isRollout reports whether a file is named like a transcript of Codex.
func isRollout(file string) bool {
	base := path.Base(strings.ReplaceAll(file, `\`, "/"))
	return strings.HasPrefix(base, "rollout-") && strings.HasSuffix(strings.TrimSuffix(base, packedExt), ".jsonl")
}

// codexSessions are the rollouts of Codex: a file for each thread, appended to when it is
// resumed. A fork is a separate file, which does not repeat what it goes on from. Codex compresses the file of a
// thread that nobody resumed for some days, and decompresses it when somebody does. Plain files come first: where
// there are both, the plain one counts.
var codexSessions = lineSource{
	files: []string{
		"sessions/*/*/*/rollout-*.jsonl", "archived_sessions/rollout-*.jsonl",
		"sessions/*/*/*/rollout-*.jsonl" + packedExt, "archived_sessions/rollout-*.jsonl" + packedExt,
	},
	main: func(_ string, head []byte) bool {
		record, _, _ := readMembers(firstLine(head))
		return !codexSubagent(record.get("payload"))
	},
	take: func(b *builder) (func(members, line) bool, func()) { return (&codexReader{b: b}).take, b.splitTaken },
}

// codexStamp is the form of the time in the name of a rollout.
const codexStamp = "2006-01-02T15-04-05"

// codexParts is the Parts of Codex: rollout-TIME-THREAD.jsonl, and rollout-TIME-THREAD_SEGMENT.jsonl behind
// each rewind, below a folder for each day.
func codexParts(file string) (folders, thread string, ok bool) {
	name, isRollout := strings.CutPrefix(filepath.Base(file), "rollout-")
	name, isLines := strings.CutSuffix(strings.TrimSuffix(name, packedExt), ".jsonl")
	if !isRollout || !isLines || len(name) < len(codexStamp)+2 {
		return "", "", false
	}
	if _, err := time.Parse(codexStamp, name[:len(codexStamp)]); err != nil {
		return "", "", false
	}
	thread, _, _ = strings.Cut(name[len(codexStamp)+1:], "_")
	sessions := filepath.Dir(filepath.Dir(filepath.Dir(filepath.Dir(file))))
	return filepath.Join(sessions, "*", "*", "*"), thread, ValidID(thread) && filepath.Base(sessions) == "sessions"
}

// codexSubagent reports whether the payload of the first record is that of a sub-agent.
func codexSubagent(payload []byte) bool {
	p, _, _ := readMembers(payload)
	source, _, _ := readMembers(p.get("source"))
	return p.str("thread_source") == "subagent" || source.has("subagent") || isString(p.get("parent_thread_id"))
}

type codexReader struct {
	b     *builder
	known bool // the first header was read
}

// take reads one record.
func (c *codexReader) take(r members, l line) bool {
	at, ok := timeOf(r.get("timestamp"))
	if ok {
		c.b.seen(at)
	}
	payload := r.get("payload")
	p, _, _ := readMembers(payload)
	turn := Turn{At: at, Offset: l.offset, UUID: clip(string(r.get("ordinal")), 32)}
	switch r.str("type") {
	case "session_meta":
		c.header(p)
	case "turn_context":
		c.b.at(p.get("cwd"), nil)
	case "compacted":
		if s := strings.TrimSpace(StripInjected(p.str("message"))); s != "" && len(c.b.session.Summaries) < maxSummaries {
			c.b.session.Summaries = append(c.b.session.Summaries, clip(s, 64<<10))
		}
	case "event_msg":
		switch {
		case p.str("type") == "turn_aborted" && p.str("reason") != "replaced":
			turn.Role, turn.Interrupted = User, true
			c.b.said(turn)
		case p.str("type") == "thread_name_updated":
			if name := oneLine(p.str("thread_name")); name != "" {
				c.b.session.Title, c.b.session.Named = clip(name, 256), true
			}
		case p.str("type") == "thread_rolled_back":
			if n, err := strconv.Atoi(string(p.get("num_turns"))); err == nil {
				c.b.backBy(n)
			}
		case p.str("type") == "error" || p.str("type") == "stream_error":
			c.b.session.Failed = true
		}
	case "response_item":
		return c.item(p, turn)
	default:
		return false
	}
	return true
}

// header reads what a thread says about itself. A fork of an old version repeats the
// header of what it was forked from, behind its own.
func (c *codexReader) header(p members) {
	s := &c.b.session
	c.b.named(p.str("id"))
	if base := p.get("history_base"); base != nil && is(member(base, "thread_id"), s.ID) {
		c.cut(member(base, "end_ordinal_exclusive"))
	}
	if c.known {
		return
	}
	c.known = true
	c.b.at(p.get("cwd"), member(p.get("git"), "branch"))
	first(&s.Version, p.get("cli_version"), isVersion)
	first(&s.Remote, member(p.get("git"), "repository_url"), func(s string) bool { return len(s) <= 2048 && !hasControl(s) })
	if p.str("source") == "exec" || p.str("source") == "mcp" || p.str("originator") == "codex_exec" {
		s.Headless = true
	}
}

// cut notes that the user went back to before a record, behind which a new file of the thread goes on.
func (c *codexReader) cut(ordinal []byte) {
	c.b.session.Resumed = true
	end, err := strconv.Atoi(string(ordinal))
	if err != nil || !c.b.goesBack() {
		return
	}
	turns := c.b.session.Turns
	for i := range turns {
		if n, err := strconv.Atoi(turns[i].UUID); err == nil && n >= end {
			turns[i].TakenBack = true
		}
	}
}

// item reads what was said, done or answered.
func (c *codexReader) item(p members, turn Turn) bool {
	switch p.str("type") {
	case "message":
		switch p.str("role") {
		case "user":
			if turn.Role = User; c.b.session.Headless {
				turn.Asker = Program
			}
			if !codexUser(p, &turn) {
				c.b.session.Skipped.Meta++
				return true
			}
		case "assistant":
			turn.Role, turn.Text = Assistant, strings.Join(codexTexts(p), "\n")
		default: // what the harness tells its model
			c.b.session.Skipped.Meta++
			return true
		}
		c.b.said(turn)
	case "function_call", "custom_tool_call", "local_shell_call":
		input := p.get("arguments")
		if isString(input) {
			input = []byte(decode(input))
		}
		if p.has("input") {
			input = []byte(`{"input":` + string(p.get("input")) + `}`)
		} else if p.has("action") {
			input = p.get("action")
		}
		if _, object, err := readMembers(input); err != nil || !object {
			input = []byte("{}")
		}
		turn.Role = Assistant
		turn.Tools = []ToolUse{c.b.use(codexTools, p.str("call_id"), p.str("name"), input)}
		c.b.said(turn)
	case "function_call_output", "custom_tool_call_output":
		if use := c.b.waiting(p.str("call_id")); use != nil {
			text, failed := codexResult(p.get("output"))
			c.b.answer(use, text, failed)
		}
	default:
		return false
	}
	return true
}

// codexTexts returns the texts of a message; "" for a part that is none.
func codexTexts(p members) (texts []string) {
	eachElement(p.get("content"), func(part []byte) {
		text := ""
		switch unquote(member(part, "type")) {
		case "input_text", "output_text", "text":
			text = unquote(member(part, "text"))
		}
		texts = append(texts, text)
	})
	return texts
}

// codexHarness are the beginnings of parts that the harness wrote in the place of its user, in
// records that do not say who wrote them.
var codexHarness = []string{
	"<environment_context>", "<user_instructions>", "<INSTRUCTIONS>", "<turn_aborted>", "<hook_prompt", "<skill>",
	"<user_shell_command>", "<subagent_notification>", "# AGENTS.md instructions", "<user_action>",
	"Another language model started to solve this problem and produced a summary",
}

// codexMarks are the marks of the clients of Codex.
var codexMarks = clientMarks{
	whole: []string{"# Context from my IDE setup:", "# Files mentioned by the user:"},
	keep:  []string{"image"},
}

// codexRequest is the heading behind which an editor puts what its user typed. What it adds
// itself stands before it and may hold the same line, so the last one counts.
const codexRequest = "## My request for Codex:"

// codexUser reads a user's message: what was typed, and what the client put beside it. It
// reports false for one that the harness wrote.
func codexUser(p members, t *Turn) bool {
	texts := codexTexts(p)
	var by []Author // of each part, where the record says it
	if kinds := member(p.get("internal_chat_message_metadata_passthrough"), "content_item_kinds"); kinds != nil {
		eachElement(kinds, func(kind []byte) {
			author := Attached
			if strings.HasPrefix(unquote(kind), "user.") {
				author = Typed
			}
			by = append(by, author)
		})
		if !slices.Contains(by, Typed) {
			return false
		}
	}
	var m mixed
	for i, text := range texts {
		switch {
		case by == nil && slices.ContainsFunc(codexHarness, func(begin string) bool { return strings.HasPrefix(strings.TrimSpace(text), begin) }):
		case by != nil && (i >= len(by) || by[i] != Typed):
			m.add(text, Attached)
		default:
			if before, request, ok := cutLast("\n"+text, "\n"+codexRequest); ok {
				m.add(before+"\n"+codexRequest, Attached)
				text = request
			}
			m.part(&codexMarks, text, nil)
		}
	}
	m.into(t)
	return t.Text != ""
}

// codexResult reads the output of a tool: a text, a list of parts with texts, as MCP servers give, or an object
// with one. A shell puts a few lines before it, the exit code among them.
func codexResult(value []byte) (text string, failed bool) {
	var parts []string
	eachElement(value, func(part []byte) {
		if t := unquote(member(part, "text")); t != "" {
			parts = append(parts, t)
		}
	})
	if text = strings.Join(parts, "\n"); text == "" {
		text = unquote(value)
	}
	if text == "" {
		text = unquote(member(value, "content"))
		success := member(value, "success")
		failed = success != nil && !truthy(success)
	}
	if strings.HasPrefix(text, "{") { // an older form: an object as a text
		if inner := member([]byte(text), "output"); isString(inner) {
			code := member(member([]byte(text), "metadata"), "exit_code")
			return StripInjected(unquote(inner)), code != nil && string(code) != "0"
		}
	}
	head, out, ok := strings.Cut(text, "\nOutput:\n")
	if !ok || len(head) > 2000 {
		return StripInjected(text), failed
	}
	if _, code, ok := strings.Cut(head, "exited with code "); ok {
		word, _, _ := strings.Cut(code, "\n")
		n, err := strconv.Atoi(strings.TrimSpace(word))
		failed = err == nil && n != 0
	}
	return StripInjected(out), failed
}
