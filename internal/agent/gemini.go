package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
)

const geminiName = "gemini"

var geminiTools = []tool{
	{"run_shell_command", "Bash", shellTool},
	{"replace", "Edit", editTool},
	{"write_file", "Write", editTool},
	{"invoke_agent", "Agent", taskTool},
}

// geminiHooks is the dialect of Gemini CLI. It shows plain text and errors to its user, so
// there is nothing but JSON. Before a tool it takes no text: what there is to say about a
// tool is said after it, and a sub-agent is shown in its task.
var geminiHooks = dialect{
	name: geminiName,
	events: []eventName{
		{"SessionStart", SessionStart},
		{"BeforeAgent", UserPrompt},
		{"BeforeTool", PreToolUse},
		{"AfterTool", PostToolUse},
		{"AfterAgent", TurnEnd},
		{"SessionEnd", SessionEnd},
		// It fires before every call of the model, whether anything is compressed or not.
		{"PreCompress", OtherEvent},
		{"BeforeModel", OtherEvent},
		{"AfterModel", OtherEvent},
		{"BeforeToolSelection", OtherEvent},
		{"Notification", OtherEvent},
	},
	tools: geminiTools,
	limit: byBytes(),
	marks: func(p members) bool {
		file := strings.ReplaceAll(p.str("transcript_path"), `\`, "/")
		return p.has("timestamp") && strings.Contains(file, "/.gemini/")
	},
	fix: func(e *Event, p members) {
		e.Prompt = strings.TrimSpace(StripInjected(cutElement(p.str("prompt"), "hook_context")))
		if e.Name == "AfterAgent" {
			e.Prompt = ""
		}
	},
	reply: func(e Event, text string) []byte {
		switch e.Name {
		case "SessionStart", "BeforeAgent", "AfterTool":
			return envelope(e, text)
		case "BeforeTool":
			if e.ToolName != "Agent" {
				return nil
			}
			input := withPrefix(e.ToolInput, "prompt", text+"\n\n")
			if input == nil {
				return nil
			}
			return []byte(`{"hookSpecificOutput":{"hookEventName":"BeforeTool","tool_input":` + string(input) + "}}\n")
		}
		return nil
	},
	refuse: func(e Event, reason string) []byte {
		if e.Name != "BeforeTool" {
			return nil
		}
		return []byte(`{"decision":"deny","reason":` + QuoteJSON(reason) + "}\n")
	},
}

// cutElement takes the elements of a name out of a text; one that never ends goes to the end.
func cutElement(s, name string) string {
	begin, end := "<"+name+">", "</"+name+">"
	for {
		i := strings.Index(s, begin)
		if i < 0 {
			return s
		}
		_, rest, _ := strings.Cut(s[i:], end)
		s = s[:i] + rest
	}
}

// withPrefix returns an object with a text put before a member that is a string, nil when
// there is none. All other members stay: an agent replaces the whole.
func withPrefix(object []byte, name, prefix string) []byte {
	all, ok, err := readMembers(object)
	if !ok || err != nil || !isString(all.get(name)) {
		return nil
	}
	out := []byte("{")
	for i, m := range all {
		if i > 0 {
			out = append(out, ',')
		}
		value := m.value
		if string(m.key) == name {
			value = []byte(QuoteJSON(prefix + decode(value)))
		}
		out = append(append(append(out, QuoteJSON(string(m.key))...), ':'), value...)
	}
	return append(out, '}')
}

// geminiSessions are the chats of Gemini CLI: a file for each session below a folder for
// each project. A record whose id was there before replaces it.
// Old versions wrote one document of JSON instead.
var geminiSessions = geminiSource{lineSource{
	files: []string{"tmp/*/chats/session-*.jsonl", "tmp/*/chats/session-*.json"},
	dirFile: func(file string) string {
		return path.Join(path.Dir(path.Dir(file)), ".project_root")
	},
	main: func(_ string, head []byte) bool {
		kind := member(firstLine(head), "kind")
		return kind == nil || is(kind, "main")
	},
	take: func(b *builder) (func(members, line) bool, func()) {
		r := &geminiReader{b: b, done: make(map[string]bool)}
		return r.take, func() {
			r.flush()
			b.splitTaken()
		}
	},
}}

// A geminiSource is the SessionSource of files of both forms.
type geminiSource struct{ lineSource }

// Open implements SessionSource. The records of a document are its messages, behind one that says whose they are.
func (s *geminiSource) Open(f File, id string) (*io.SectionReader, error) {
	records, err := s.lineSource.Open(f, id)
	if err != nil || path.Ext(f.Name()) != ".json" {
		return records, err
	}
	if records.Size() > maxRecords {
		return nil, fmt.Errorf("read %s: it is longer than %d MB", f.Name(), maxRecords>>20)
	}
	data, err := io.ReadAll(records)
	if err != nil {
		return nil, err
	}
	all, object, err := readMembers(data)
	if err != nil || !object {
		return nil, fmt.Errorf("read %s: it is no whole document of JSON", f.Name())
	}
	var out bytes.Buffer
	if err := record(&out, "sessionId", all.str("sessionId"), "startTime", all.str("startTime")); err != nil {
		return nil, err
	}
	eachElement(all.get("messages"), func(message []byte) {
		_ = json.Compact(&out, message) // it was checked as a whole
		out.WriteByte('\n')
	})
	return io.NewSectionReader(bytes.NewReader(out.Bytes()), 0, int64(out.Len())), nil
}

type geminiReader struct {
	b    *builder
	done map[string]bool // ids that are turns
	open Turn            // of the last id, kept back because it may be replaced
	id   string
	uses [][2]string // results of the tools of the open turn: text, and "x" for a failure
}

func (g *geminiReader) take(r members, l line) bool {
	s := &g.b.session
	if first(&s.ID, r.get("sessionId"), ValidID); r.has("startTime") {
		if at, ok := timeOf(r.get("startTime")); ok {
			g.b.seen(at)
		}
		return true
	}
	if patch := r.get("$set"); patch != nil {
		if title := oneLine(unquote(member(patch, "summary"))); title != "" {
			s.Title = clip(title, 256)
		}
		eachElement(member(patch, "messages"), func(m []byte) {
			if record, ok, err := readMembers(m); ok && err == nil {
				g.message(record, l)
			}
		})
		return true
	}
	if isString(r.get("$rewindTo")) {
		g.flush()
		g.id = ""
		g.b.backTo(clip(r.str("$rewindTo"), 128))
		return true
	}
	return g.message(r, l)
}

// message takes one record of the conversation.
func (g *geminiReader) message(r members, l line) bool {
	id := clip(r.str("id"), 128)
	at, ok := timeOf(r.get("timestamp"))
	if ok {
		g.b.seen(at)
	}
	if id != g.id {
		g.flush()
	}
	g.b.record(id, l.offset)
	t := Turn{At: at, Offset: l.offset, UUID: id}
	var uses [][2]string
	switch r.str("type") {
	case "user":
		t.Role = User
		if !g.user(r.get("content"), r.get("displayContent"), &t) {
			return true
		}
	case "gemini":
		t.Role, t.Text = Assistant, geminiText(r.get("content"))
		eachElement(r.get("toolCalls"), func(call []byte) {
			c, _, _ := readMembers(call)
			input := c.get("args")
			if _, object, err := readMembers(input); err != nil || !object {
				input = []byte("{}")
			}
			t.Tools = append(t.Tools, g.b.use(geminiTools, c.str("id"), c.str("name"), input))
			uses = append(uses, geminiResult(c))
		})
	case "error":
		g.b.session.Failed = true
		return true
	default:
		return false
	}
	g.id, g.open, g.uses = id, t, uses
	return true
}

// user reads what a user typed. It reports false for what the agent put there itself.
func (g *geminiReader) user(content, shown []byte, t *Turn) bool {
	text := geminiText(content)
	if trimmed := strings.TrimSpace(text); strings.HasPrefix(trimmed, "<session_context>") {
		_, list, _ := strings.Cut(trimmed, "Workspace Directories:**\n")
		if dir, _, ok := strings.Cut(strings.TrimLeft(list, " -"), "\n"); ok && g.b.session.Dir == "" && validDir(dir) {
			g.b.session.Dir = dir
		}
		g.b.session.Skipped.Meta++
		return false
	}
	geminiUser(content, shown, t)
	return t.Text != "" // else the results of tools, or nothing
}

// geminiMarks are the marks of Gemini CLI, and of its relative Qwen Code.
var geminiMarks = clientMarks{
	drop: []string{"hook_context"},
	keep: []string{"system-reminder", "state_snapshot", "session_context"},
	whole: []string{
		"I ran the following shell command:", "Here is the user's editor context as a JSON object",
		"Here is a summary of changes in the user's editor context", "This is the Gemini CLI. We are setting up the context",
		"This is the Qwen Code. We are setting up the context",
	},
	from:  []string{"--- Content from referenced files ---"},
	until: "--- End of content ---",
}

// geminiUser reads the parts of a user's message. Files that the user names stand in parts behind
// the first. shown is what the client showed of the message, where it says so: then that was typed.
func geminiUser(content, shown []byte, t *Turn) {
	var m mixed
	if isString(content) {
		m.part(&geminiMarks, unquote(content), nil)
	} else {
		var parts []string
		eachElement(content, func(part []byte) { parts = append(parts, strings.TrimSpace(unquote(member(part, "text")))) })
		first := slices.Index(parts, geminiMarks.from[0])
		last := len(parts) - 1
		for last > first && parts[last] != geminiMarks.until {
			last--
		}
		if last <= first { // cut off: all that follows is files
			last = len(parts) - 1
		}
		for i, part := range parts {
			if first >= 0 && i >= first && i <= last {
				m.add(part, Attached)
			} else {
				m.part(&geminiMarks, part, nil)
			}
		}
	}
	m.into(t)
	said := strings.TrimSpace(StripInjected(geminiText(shown)))
	i := strings.Index(t.Text, said)
	switch {
	case said == "" || t.Text == "":
	case i >= 0:
		t.Spans = []Span{{i, i + len(said), Typed}}
	case said[0] == '/': // a command of the user's, expanded
		t.Spans = []Span{{0, len(t.Text), Attached}}
	}
}

// flush keeps the turn that was open.
func (g *geminiReader) flush() {
	if g.open.Role == "" {
		return
	}
	again := g.id != "" && g.done[g.id]
	if g.id != "" && len(g.done) < maxUUIDs {
		g.done[g.id] = true
	}
	for i, u := range g.uses {
		g.b.answer(&g.open.Tools[i], u[0], u[1] != "")
	}
	tools := g.open.Tools
	if !again || !g.b.replace(g.open) {
		g.b.said(g.open)
	}
	for _, u := range tools { // they are answered
		delete(g.b.pending, u.ID)
	}
	g.open, g.uses = Turn{}, nil
}

// geminiText joins the texts of a content, which may be one text.
func geminiText(content []byte) string {
	if isString(content) {
		return unquote(content)
	}
	var texts []string
	eachElement(content, func(part []byte) {
		if t := unquote(member(part, "text")); t != "" {
			texts = append(texts, t)
		}
	})
	return strings.Join(texts, "\n")
}

// geminiResult reads the result of a call: its text, and whether it failed.
func geminiResult(call members) (r [2]string) {
	if call.str("status") == "error" {
		r[1] = "x"
	}
	eachElement(call.get("result"), func(part []byte) {
		text, failed := responseText(member(member(part, "functionResponse"), "response"))
		if failed {
			r[1] = "x"
		}
		r[0] += StripInjected(cutElement(text, "hook_context"))
	})
	r[0] = strings.TrimSpace(strings.NewReplacer("<untrusted_context>", "", "</untrusted_context>", "").Replace(r[0]))
	return r
}

// responseText reads what a tool answered, and whether that says that it failed. A shell
// tells its exit code in a separate line.
func responseText(response []byte) (text string, failed bool) {
	text = unquote(member(response, "output"))
	if e := unquote(member(response, "error")); e != "" {
		return e, true
	}
	_, code, ok := strings.Cut(text, "Exit Code: ")
	return text, ok && !strings.HasPrefix(code, "0") && !strings.HasPrefix(code, "(none)")
}
