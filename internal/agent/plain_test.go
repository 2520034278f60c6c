package agent_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/agent"
)

// TestPlain holds that what a session says to a terminal reaches no text of it, whichever agent wrote it down.
func TestPlain(t *testing.T) {
	const esc = "\x1b[31mre\x1b[1md\x1b[0m \u009b4mC1\u009b0m \x1b]8;;https://a.example\x1b\\link\x1b]8;;\x1b\\ x\by\a"
	const want = "red C1 link y"
	quoted, err := json.Marshal(esc)
	if err != nil {
		t.Fatal(err)
	}
	q := string(quoted)
	progress := strings.TrimSuffix(q, `"`) + `\n 10%\r 20%\r100%\nend"`
	const at = `"timestamp":"2026-11-20T10:00:00Z"`
	message := func(role, kind string) string {
		return `{` + at + `,"type":"response_item","payload":{"type":"message","role":"` + role + `","content":[{"type":"` + kind + `","text":` + q + `}]}}`
	}
	input := `{"command":` + q + `,"list":["a\bb",{` + q + `:1}]}`
	arguments, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	statements := "CREATE TABLE session (id text, parent_id text, directory text, title text, version text, time_created integer);" +
		"CREATE TABLE message (id text, session_id text, time_created integer, data text);" +
		"CREATE TABLE part (id text, message_id text, session_id text, data text);" +
		"INSERT INTO session VALUES ('s1', NULL, '/w', 'x' || char(27) || '[31m" + "', '1', 1795170000000);" +
		"INSERT INTO message VALUES ('m1', 's1', 1795170000001, '{\"role\":\"user\"}'), ('m2', 's1', 1795170000002, '{\"role\":\"assistant\"}');" +
		fmt.Sprintf("INSERT INTO part VALUES ('p1', 'm1', 's1', '{\"type\":\"text\",\"text\":%s}'), ('p2', 'm2', 's1', '{\"type\":\"text\",\"text\":%s}'),"+
			" ('p3', 'm2', 's1', '{\"type\":\"tool\",\"tool\":\"bash\",\"callID\":\"c\",\"state\":{\"input\":%s,\"output\":%s}}');", q, q, input, progress)
	for _, tt := range []struct{ agent, data string }{
		{"claude", strings.Join([]string{
			record(t, human(esc, nil)),
			`{"type":"assistant","uuid":"a","parentUuid":"u",` + at + `,"message":{"role":"assistant","content":[{"type":"text","text":` + q + `},{"type":"tool_use","id":"c","name":"Bash","input":` + input + `}]}}`,
			`{"type":"user","uuid":"r","parentUuid":"a",` + at + `,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":` + progress + `}]}}`,
			`{"type":"custom-title","customTitle":` + q + `}`, `{"type":"summary","summary":` + q + `}`,
		}, "\n")},
		{"codex", strings.Join([]string{
			message("user", "input_text"), message("assistant", "output_text"),
			`{` + at + `,"type":"response_item","payload":{"type":"function_call","name":"exec_command","call_id":"c","arguments":` + string(arguments) + `}}`,
			`{` + at + `,"type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":` + progress + `}}`,
			`{` + at + `,"type":"event_msg","payload":{"type":"thread_name_updated","thread_name":` + q + `}}`,
			`{` + at + `,"type":"compacted","payload":{"message":` + q + `}}`,
		}, "\n")},
		{"gemini", strings.Join([]string{
			`{"id":"1",` + at + `,"type":"user","content":[{"text":` + q + `}]}`,
			`{"id":"2",` + at + `,"type":"gemini","content":` + q + `,"toolCalls":[{"id":"c","name":"run_shell_command","args":` + input + `,"result":[{"functionResponse":{"response":{"output":` + progress + `}}}]}]}`,
			`{"$set":{"summary":` + q + `}}`,
		}, "\n")},
		{"qwen", strings.Join([]string{
			`{"uuid":"1","parentUuid":null,` + at + `,"type":"user","message":{"parts":[{"text":` + q + `}]}}`,
			`{"uuid":"2","parentUuid":"1",` + at + `,"type":"assistant","message":{"parts":[{"text":` + q + `},{"functionCall":{"id":"c","name":"run_shell_command","args":` + input + `}}]}}`,
			`{"uuid":"3","parentUuid":"2",` + at + `,"type":"tool_result","message":{"parts":[{"functionResponse":{"id":"c","response":{"output":` + progress + `}}}]}}`,
			`{"uuid":"4","parentUuid":"3",` + at + `,"type":"system","subtype":"custom_title","systemPayload":{"customTitle":` + q + `}}`,
		}, "\n")},
		{"copilot", strings.Join([]string{
			`{"type":"user.message","id":"1",` + at + `,"data":{"content":` + q + `}}`,
			`{"type":"assistant.message","id":"2",` + at + `,"data":{"content":` + q + `,"toolRequests":[{"toolCallId":"c","name":"bash","arguments":` + input + `}]}}`,
			`{"type":"tool.execution_complete","id":"3",` + at + `,"data":{"toolCallId":"c","result":{"content":` + progress + `}}}`,
			`{"type":"session.title_changed","id":"4",` + at + `,"data":{"title":` + q + `}}`,
		}, "\n")},
		{"cursor", strings.Join([]string{
			`{"role":"user","message":{"content":[{"type":"text","text":` + q + `}]}}`,
			`{"role":"assistant","message":{"content":[{"type":"text","text":` + q + `},{"type":"tool_use","id":"c","name":"Shell","input":` + input + `}]}}`,
			`{"role":"user","message":{"content":[{"type":"tool_result","tool_use_id":"c","content":` + progress + `}]}}`,
		}, "\n")},
		{"hermes", strings.Join([]string{
			`{"kind":"message","id":"1","role":"user","content":` + q + `,"at":"1795170000"}`,
			`{"kind":"message","id":"2","role":"assistant","content":` + q + `,"calls":[{"id":"c","function":{"name":"terminal","arguments":` + string(arguments) + `}}],"at":"1795170001"}`,
			`{"kind":"message","id":"3","role":"tool","call":"c","content":` + progress + `,"at":"1795170002"}`,
		}, "\n")},
		{"opencode", string(records(t, agent.ByName("opencode").Sessions, []byte(statements)))},
		{"aider", "# aider chat started at 2026-11-20 10:00:00\n\n#### " + esc + "\n\n" + esc + "\n"},
		{"specstory", "_**User (2026-11-20 10:00:00Z)**_\n\n" + esc + "\n\n---\n\n_**Agent (m 2026-11-20 10:01:00Z)**_\n\n" + esc + "\n\n---\n"},
	} {
		t.Run(tt.agent, func(t *testing.T) {
			source := agent.ByName(tt.agent).Sessions
			s, err := source.ReadSession(strings.NewReader(tt.data+"\n"), agent.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			checkTexts(t, append(s.Summaries, s.Title)...)
			said := map[agent.Role]bool{}
			for _, turn := range s.Turns {
				if turn.Text != "" {
					said[turn.Role] = turn.Text == want
				}
				for _, u := range turn.Tools {
					if u.Result != want+"\n100%\nend" {
						t.Errorf("result %q", u.Result)
					}
					var in struct {
						Command string
						List    []any
					}
					if err := json.Unmarshal(u.Input, &in); err != nil || in.Command != want || fmt.Sprint(in.List) != "[b map["+want+":1]]" {
						t.Errorf("input %s: %v", u.Input, err)
					}
				}
			}
			if !said[agent.User] || !said[agent.Assistant] {
				t.Errorf("turns %+v", s.Turns)
			}
			if s.Title != "" && s.Title != want && s.Title != "x" {
				t.Errorf("title %q", s.Title)
			}
			peeked, err := source.Peek(strings.NewReader(tt.data), int64(len(tt.data)), 0, 0, time.Time{})
			if err != nil || peeked.FirstPrompt != want || lastOutcome(peeked.Dialogue) != want {
				t.Errorf("%v: peek %q, %q", err, peeked.FirstPrompt, lastOutcome(peeked.Dialogue))
			}
		})
	}
}

// TestPlainHermesParts holds that a content in parts, which begins with a NUL, is read as parts.
func TestPlainHermesParts(t *testing.T) {
	content, _ := json.Marshal("\x00json:" + `[{"type":"text","text":"\u001b[31mred\u001b[0m"}]`)
	s, err := agent.ByName("hermes").Sessions.ReadSession(
		bytes.NewReader([]byte(`{"kind":"message","id":"1","role":"user","at":"1795170000","content":`+string(content)+"}\n")), agent.Limits{})
	if err != nil || s.FirstPrompt() != "red" {
		t.Errorf("%v: %q", err, s.FirstPrompt())
	}
}

// TestPlainEvent holds the same of the prompt of a hook, whose call of a tool stays as it is.
func TestPlainEvent(t *testing.T) {
	payload, err := os.ReadFile("testdata/codex/events/user_prompt.json")
	if err != nil {
		payload = []byte(`{"hook_event_name":"UserPromptSubmit","session_id":"s1","cwd":"/w","transcript_path":"/h/.codex/sessions/2026/11/20/rollout-2026-11-20T10-00-00-s1.jsonl","model":"m","permission_mode":"default"}`)
	}
	payload = append(bytes.TrimSuffix(bytes.TrimSpace(payload), []byte("}")), `,"prompt":"\u001b[31mfix\u001b[0m it","tool_input":{"command":"printf \u001b[31m"}}`...)
	e, err := agent.ReadEvent(agent.ByName("codex"), bytes.NewReader(payload), 0, 0)
	if err != nil || e.Prompt != "fix it" || string(e.ToolInput) != `{"command":"printf \u001b[31m"}` {
		t.Errorf("%v: %q, %s", err, e.Prompt, e.ToolInput)
	}
}
