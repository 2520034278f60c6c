package agent

import (
	"bytes"
	"context"
	"strings"

	"anamnesis/internal/agent/foreigndb"
)

const hermesName = "hermes"

var hermesTools = []tool{
	{"terminal", "Bash", shellTool}, {"patch", "Edit", editTool}, {"write_file", "Write", editTool}, {"delegate_task", "Agent", taskTool},
}

// hermesHooks is the dialect of Hermes. Only a prompt takes a text: the first one of a
// session gets what other agents are shown at their start, too.
var hermesHooks = dialect{
	name: hermesName,
	events: []eventName{
		{"pre_llm_call", UserPrompt},
		{"pre_tool_call", PreToolUse},
		{"post_tool_call", PostToolUse},
		{"on_session_finalize", SessionEnd},
		// It ends every turn, not the session.
		{"on_session_end", TurnEnd},
		{"on_session_start", OtherEvent},
		{"on_session_reset", OtherEvent},
		{"post_llm_call", OtherEvent},
		{"pre_verify", OtherEvent},
		{"subagent_start", OtherEvent},
		{"subagent_stop", OtherEvent},
		{"pre_gateway_dispatch", OtherEvent},
		{"pre_approval_request", OtherEvent},
		{"post_approval_response", OtherEvent},
		{"transform_tool_result", OtherEvent},
		{"transform_terminal_output", OtherEvent},
		{"transform_llm_output", OtherEvent},
	},
	tools: hermesTools,
	limit: byBytes(),
	marks: func(p members) bool {
		extra, object, _ := readMembers(p.get("extra"))
		_ = extra
		return object && p.has("hook_event_name") && !p.has("timestamp", "cursor_version", "turn_id")
	},
	fix: func(e *Event, p members) {
		extra, _, _ := readMembers(p.get("extra"))
		if e.Name == "pre_llm_call" {
			e.Prompt = strings.TrimSpace(StripInjected(extra.str("user_message")))
			e.Opens = extra.has("is_first_turn") && truthy(extra.get("is_first_turn"))
		}
		set(&e.TurnID, extra.get("turn_id"), isName)
		set(&e.SubagentID, extra.get("child_session_id"), isName)
	},
	reply: func(e Event, text string) []byte {
		if e.Name != "pre_llm_call" {
			return nil
		}
		return []byte(`{"context":` + QuoteJSON(text) + "}\n")
	},
	refuse: func(e Event, reason string) []byte {
		if e.Name != "pre_tool_call" {
			return nil
		}
		return []byte(`{"decision":"block","reason":` + QuoteJSON(reason) + "}\n")
	},
}

// hermesSessions are the sessions of Hermes in its database. One that was compressed goes
// on in another row; both are one session, with the id of the last.
var hermesSessions = dbSource{
	lineSource: lineSource{
		files: []string{"state.db"},
		take: func(b *builder) (func(members, line) bool, func()) {
			return func(r members, l line) bool { return hermesRecord(b, r, l) }, nil
		},
	},
	needs: []string{
		"sessions.id", "sessions.started_at", "sessions.parent_session_id", "sessions.end_reason", "sessions.source", "sessions.cwd",
		"messages.session_id", "messages.role", "messages.content", "messages.active", "messages.tool_calls", "messages.tool_call_id",
	},
	ids: `SELECT s.id FROM sessions s WHERE s.source NOT IN ('subagent', 'delegate', 'tool')
		AND NOT EXISTS (SELECT 1 FROM sessions c WHERE c.parent_session_id = s.id AND s.end_reason LIKE 'compress%')
		ORDER BY s.started_at, s.id`,
	rows: func(ctx context.Context, db *foreigndb.DB, id string, out *bytes.Buffer) error {
		const most = 100 // links of a chain; a database may lie
		chain := []string{id}
		for len(chain) < most {
			parent := ""
			err := db.Query(ctx, `SELECT p.id FROM sessions c JOIN sessions p ON p.id = c.parent_session_id
				WHERE c.id = ? AND p.end_reason LIKE 'compress%'`, func(c []string) error { parent = c[0]; return nil }, chain[len(chain)-1])
			if err != nil {
				return err
			}
			if parent == "" || parent == id {
				break
			}
			chain = append(chain, parent)
		}
		branch := "git_branch"
		if lacks, err := db.Lacks(ctx, "sessions", branch); err != nil {
			return err
		} else if lacks != "" { // an older version
			branch = "''"
		}
		for i := len(chain) - 1; i >= 0; i-- {
			err := db.Query(ctx, `SELECT cwd, started_at, `+branch+` FROM sessions WHERE id = ?`, func(c []string) error {
				return record(out, "kind", "session", "id", id, "cwd", c[0], "at", c[1], "branch", c[2])
			}, chain[i])
			if err == nil {
				err = db.Query(ctx, `SELECT id, role, `+foreigndb.Bounded("content")+`, `+foreigndb.Bounded("tool_calls")+`,
					tool_call_id, timestamp FROM messages WHERE session_id = ? AND active = 1 ORDER BY id`, func(c []string) error {
					return record(out, "kind", "message", "id", c[0], "role", c[1], "content", c[2], "*calls", c[3], "call", c[4], "at", c[5])
				}, chain[i])
			}
			if err != nil {
				return err
			}
		}
		return nil
	},
}

// hermesMarks are the marks of Hermes. What the user refers to stands behind the words, to the end.
var hermesMarks = clientMarks{
	keep: []string{"memory-context"},
	from: []string{"--- Attached Context ---", "--- Context Warnings ---", "[System note: "},
	whole: []string{
		"[CONTEXT COMPACTION", "[CONTEXT SUMMARY]", "[SYSTEM: ", "[IMPORTANT: The user has invoked the ", "[IMPORTANT: Background process ",
	},
}

// hermesRecord takes one row.
func hermesRecord(b *builder, r members, l line) bool {
	at, ok := timeOf(r.get("at"))
	if ok {
		b.seen(at)
	}
	if r.str("kind") == "session" {
		b.named(r.str("id"))
		first(&b.session.Dir, r.get("cwd"), validDir)
		first(&b.session.Branch, r.get("branch"), validBranch)
		return true
	}
	text := r.str("content")
	parts, inParts := strings.CutPrefix(decode(r.get("content")), "\x00json:")
	if inParts {
		text = geminiText([]byte(parts))
	}
	t := Turn{At: at, Offset: l.offset, UUID: clip(r.str("id"), 128), Text: text}
	switch r.str("role") {
	case "user":
		t.Role = User
		var m mixed
		if inParts {
			eachElement([]byte(parts), func(part []byte) { m.part(&hermesMarks, unquote(member(part, "text")), nil) })
		} else {
			m.part(&hermesMarks, text, nil)
		}
		m.into(&t)
	case "assistant":
		t.Role = Assistant
		eachElement(r.get("calls"), func(call []byte) {
			c, _, _ := readMembers(call)
			f, _, _ := readMembers(c.get("function"))
			input := []byte(f.str("arguments"))
			if _, object, err := readMembers(input); err != nil || !object {
				input = []byte("{}")
			}
			t.Tools = append(t.Tools, b.use(hermesTools, c.str("id"), f.str("name"), input))
		})
	case "tool":
		if use := b.waiting(r.str("call")); use != nil {
			b.answer(use, StripInjected(text), strings.Contains(text, `"error":`) && !strings.Contains(text, `"error": null`))
		}
		return true
	default:
		return false
	}
	b.said(t)
	return true
}
