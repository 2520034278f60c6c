package agent

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"anamnesis/internal/agent/foreigndb"
)

const opencodeName = "opencode"

var opencodeTools = []tool{
	{"bash", "Bash", shellTool},
	{"edit", "Edit", editTool},
	{"multiedit", "MultiEdit", editTool},
	{"write", "Write", editTool},
	{"apply_patch", "Edit", patchTool},
	{"task", "Agent", taskTool},
}

// opencodeHooks is the dialect of our plugin for OpenCode, which has no hooks of shells:
// a file of JavaScript calls our commands, with payloads of our own making.
var opencodeHooks = dialect{
	name: opencodeName,
	events: []eventName{
		{"SessionStart", SessionStart},
		{"UserPromptSubmit", UserPrompt},
		{"PreToolUse", PreToolUse},
		{"PreCompact", PreCompact},
		{"PostCompact", PostCompact},
		{"SessionEnd", SessionEnd},
	},
	tools: opencodeTools,
	limit: byBytes(),
	marks: func(p members) bool { return p.str("harness") == opencodeName },
	reply: func(e Event, text string) []byte {
		switch e.Name {
		case "PreToolUse":
			if e.ToolName == "Agent" {
				if input := withPrefix(e.ToolInput, "prompt", text+"\n\n"); input != nil {
					return []byte(`{"tool_input":` + string(input) + "}\n")
				}
				return nil
			}
		case "SessionStart", "UserPromptSubmit":
		default:
			return nil
		}
		return []byte(`{"additionalContext":` + QuoteJSON(text) + "}\n")
	},
	refuse: func(e Event, reason string) []byte {
		if e.Name != "PreToolUse" {
			return nil
		}
		return []byte(`{"deny":` + QuoteJSON(reason) + "}\n")
	},
}

// opencodeSessions are the sessions of OpenCode in its database. A sub-agent is a session
// with a parent. A fork is a session with copies of what went before; its own part counts,
// which begins behind the time at which it was made.
var opencodeSessions = dbSource{
	lineSource: lineSource{
		files: []string{"opencode.db"},
		take: func(b *builder) (func(members, line) bool, func()) {
			return func(r members, l line) bool { return opencodeRecord(b, r, l) }, b.splitTaken
		},
	},
	needs: []string{"session.id", "session.directory", "session.time_created", "message.data", "part.data", "part.message_id"},
	ids:   `SELECT id FROM session WHERE parent_id IS NULL OR parent_id = '' ORDER BY time_created, id`,
	rows: func(ctx context.Context, db *foreigndb.DB, id string, out *bytes.Buffer) error {
		err := db.Query(ctx, `SELECT id, `+foreigndb.Bounded("directory")+`, `+foreigndb.Bounded("title")+`, version, time_created
			FROM session WHERE id = ?`, func(c []string) error {
			return record(out, "kind", "session", "id", c[0], "directory", c[1], "title", c[2], "version", c[3], "at", c[4])
		}, id)
		if err != nil {
			return err
		}
		err = db.Query(ctx, `SELECT p.id, m.time_created, `+foreigndb.Bounded("m.data")+`, `+foreigndb.Bounded("p.data")+`
			FROM message m JOIN part p ON p.message_id = m.id WHERE m.session_id = ?`+opencodeOrder, func(c []string) error {
			return record(out, "kind", "part", "id", c[0], "at", c[1], "*message", c[2], "*part", c[3])
		}, id)
		if err != nil {
			return err
		}
		return opencodeRevert(ctx, db, id, out)
	},
}

// opencodeOrder is the order of the parts of a session. Ids grow with time.
const opencodeOrder = ` ORDER BY m.time_created, m.id, p.id`

// opencodeRevert writes the first part that the user took back, behind all others, where it moves none of them. The
// session names its message, and a part where what is before it in the message stays. OpenCode deletes what was taken back
// when the user goes on, and forgets the place when the user wants it again.
func opencodeRevert(ctx context.Context, db *foreigndb.DB, id string, out *bytes.Buffer) error {
	if lacks, err := db.Lacks(ctx, "session", "revert"); err != nil || lacks != "" {
		return err // an older version
	}
	var message, part string
	err := db.Query(ctx, `SELECT `+foreigndb.Bounded("revert")+` FROM session WHERE id = ?`, func(c []string) error {
		if r, object, err := readMembers([]byte(c[0])); err == nil && object {
			message, part = r.str("messageID"), r.str("partID")
		}
		return nil
	}, id)
	if err != nil || message == "" {
		return err
	}
	return db.Query(ctx, `SELECT p.id FROM message m JOIN part p ON p.message_id = m.id
		WHERE m.session_id = ? AND (m.id > ? OR m.id = ? AND p.id >= ?)`+opencodeOrder+` LIMIT 1`, func(c []string) error {
		return record(out, "kind", "revert", "id", c[0])
	}, id, message, message, part)
}

// opencodeMarks are the marks of OpenCode. Nearly all that it attaches are parts of their own,
// which it calls synthetic.
var opencodeMarks = clientMarks{
	keep:  []string{"system-reminder"},
	whole: []string{"Called the Read tool with the following input", "The following tool was executed by the user"},
}

// opencodeRecord takes one row.
func opencodeRecord(b *builder, r members, l line) bool {
	s := &b.session
	at, ok := timeOf(r.get("at"))
	if ok {
		b.seen(at)
	}
	switch r.str("kind") {
	case "revert":
		b.backTo(clip(r.str("id"), 128))
		return true
	case "session":
		b.named(r.str("id"))
		first(&s.Dir, r.get("directory"), validDir)
		first(&s.Version, r.get("version"), isVersion)
		if title := oneLine(r.str("title")); title != "" && !strings.HasPrefix(title, "New session - ") {
			s.Title = clip(title, 256)
		}
		return true
	}
	m, _, _ := readMembers(r.get("message"))
	p, _, _ := readMembers(r.get("part"))
	t := Turn{At: at, Offset: l.offset, UUID: clip(r.str("id"), 128), Role: Assistant}
	b.record(t.UUID, l.offset)
	if m.str("role") == "user" {
		t.Role = User
	}
	if m.has("error") {
		if name := unquote(member(m.get("error"), "name")); name == "MessageAbortedError" {
			b.said(Turn{At: at, Offset: l.offset, Role: User, Interrupted: true})
		} else {
			s.Failed = true
		}
	}
	return opencodePart(b, p, t)
}

// opencodePart takes a part of a message. t is the turn that it makes.
func opencodePart(b *builder, p members, t Turn) bool {
	switch p.str("type") {
	case "text":
		if truthy(p.get("synthetic")) && p.has("synthetic") || p.has("ignored") && truthy(p.get("ignored")) {
			b.session.Skipped.Meta++
			return true
		}
		if t.Text = p.str("text"); t.Role == User {
			var m mixed
			m.part(&opencodeMarks, t.Text, nil)
			m.into(&t)
		}
		b.said(t)
		return true
	case "tool":
		t.Tools = []ToolUse{opencodeUse(b, p)}
		b.keep(t)
		return true
	}
	return slices.Contains([]string{"step-start", "step-finish", "reasoning", "snapshot", "patch"}, p.str("type"))
}

// opencodeUse reads the use of a tool with its result.
func opencodeUse(b *builder, p members) ToolUse {
	state, _, _ := readMembers(p.get("state"))
	input := state.get("input")
	if _, object, err := readMembers(input); err != nil || !object {
		input = []byte("{}")
	}
	use := b.use(opencodeTools, p.str("callID"), p.str("tool"), input)
	failed := state.str("status") == "error"
	if code := member(state.get("metadata"), "exit"); code != nil && string(code) != "0" && string(code) != "null" {
		failed = true
	}
	text := state.str("output")
	if e := state.str("error"); e != "" {
		text = e
	}
	b.answer(&use, StripInjected(text), failed)
	return use
}
