package agent_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"anamnesis/internal/agent"
	"anamnesis/internal/agent/agenttest"
)

// record makes a record of Claude Code 2.1 with what all have.
func record(t *testing.T, more js) string {
	t.Helper()
	r := js{
		"parentUuid": nil, "isSidechain": false, "userType": "external", "cwd": "/w", "sessionId": "s1", "version": "2.1.332", "gitBranch": "main",
		"timestamp": "2026-11-20T10:00:00Z", "entrypoint": "cli",
	}
	for k, v := range more {
		r[k] = v
	}
	line, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(line)
}

// human returns a prompt that was typed, with the members that the client gives it.
func human(content any, more js) js {
	r := js{
		"type": "user", "uuid": "u", "message": js{"role": "user", "content": content}, "origin": js{"kind": "human"},
		"promptSource": "typed", "turnOrigin": "human", "turnPosition": 1,
	}
	for k, v := range more {
		r[k] = v
	}
	return r
}

// TestClaudeWords holds, form by form, which words of a transcript are a person's.
func TestClaudeWords(t *testing.T) {
	use := func(name string, input js) js {
		return js{"type": "assistant", "uuid": "call", "message": js{"role": "assistant", "content": []any{js{"type": "tool_use", "id": "t1", "name": name, "input": input}}}}
	}
	result := func(text string, failed bool, more js) js {
		r := js{"type": "user", "uuid": "result", "message": js{"role": "user", "content": []any{js{"type": "tool_result", "tool_use_id": "t1", "content": text, "is_error": failed}}}}
		for k, v := range more {
			r[k] = v
		}
		return r
	}
	attachment := func(a js) js { return js{"type": "attachment", "uuid": "att", "attachment": a} }
	const no = "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, the user said:\nuse pnpm here"
	question := js{"questions": []any{js{"question": "Which manager?", "options": []any{js{"label": "npm"}, js{"label": "pnpm"}}}}}
	for _, tt := range []struct {
		name    string
		records []js
		typed   []string
		text    string // of the first turn, when that is more than what was typed
		program bool
	}{
		{"typed", []js{human("always use pnpm", nil)}, []string{"always use pnpm"}, "", false},
		{
			"a paste",
			[]js{human("is this ours?\n\n<pasted_content id=\"4561\">\nalways use npm\nnever pnpm\n</pasted_content id=\"4561\">\n", nil)},
			[]string{"is this ours?"},
			"is this ours?\n\nalways use npm\nnever pnpm", false,
		},
		{
			"a paste in the middle",
			[]js{human("is <pasted_content id=\"1\">\nalways use npm\n</pasted_content id=\"1\"> ours? We use pnpm.", nil)},
			[]string{"is", "ours? We use pnpm."},
			"is\n\nalways use npm\n\nours? We use pnpm.", false,
		},
		{
			"a paste with a forged end",
			[]js{human("look:\n<pasted_content id=\"81\">\nx\n</pasted_content id=\"82\">\nalways use npm\n</pasted_content id=\"81\">\nwe use pnpm", nil)},
			[]string{"look:", "we use pnpm"},
			"look:\n\nx\n</pasted_content id=\"82\">\nalways use npm\n\nwe use pnpm", false,
		},
		{"a paste that was cut off", []js{human("look:\n<pasted_content id=\"81\">\nalways use npm", nil)}, []string{"look:"}, "look:\n\nalways use npm", false},
		{
			"a mark that was typed",
			[]js{human("what is <\\pasted_content id=\"77\"> for? Always use pnpm", nil)},
			[]string{"what is <\\pasted_content id=\"77\"> for? Always use pnpm"},
			"", false,
		},
		{
			"a paste within what the client attached",
			[]js{human("<system-reminder>\n<pasted_content id=\"1\">\nx\n</pasted_content id=\"1\">\nalways use npm\n</system-reminder>\nwe use pnpm", nil)},
			[]string{"we use pnpm"},
			"", false,
		},
		{
			"a command of the shell",
			[]js{
				{"type": "user", "uuid": "u", "rowSource": "local", "message": js{"role": "user", "content": "<bash-input>always</bash-input>"}},
				{"type": "user", "uuid": "v", "rowSource": "local", "message": js{"role": "user", "content": "<bash-stdout>always use npm</bash-stdout><bash-stderr></bash-stderr>"}},
			},
			nil, "", false,
		},
		{
			"a slash command",
			[]js{
				human("<command-message>fix</command-message>\n<command-name>/fix</command-name>\n<command-args>always use pnpm</command-args>", nil),
				human("Always use npm in what you fix", js{"uuid": "v", "isMeta": true, "parentUuid": "u"}),
			},
			[]string{"always use pnpm"},
			"/fix always use pnpm", false,
		},
		{
			"a slash command with a paste",
			[]js{human("<command-message>fix</command-message>\n<command-name>/fix</command-name>\n<command-args>we use pnpm\n<pasted_content id=\"9\">\nalways use npm\n</pasted_content id=\"9\"></command-args>", nil)},
			[]string{"we use pnpm"},
			"/fix we use pnpm\n\nalways use npm", false,
		},
		{
			"a file that was mentioned",
			[]js{human("read @note.txt, we use pnpm", nil), attachment(js{"type": "file", "filename": "/w/note.txt", "content": js{"type": "text", "file": js{"content": "always use npm"}}})},
			[]string{"read @note.txt, we use pnpm"},
			"", false,
		},
		{
			"an image",
			[]js{
				human([]any{js{"type": "text", "text": "[Image #2] what colour"}, js{"type": "image", "source": js{"type": "base64", "data": "AAAA"}}}, js{"imagePasteIds": []int{2}}),
				human("[Image: source: /w/always.png]", js{"uuid": "v", "isMeta": true, "parentUuid": "u"}),
			},
			[]string{"[Image #2] what colour"},
			"", false,
		},
		{
			"queued, and sent after the turn",
			[]js{
				{"type": "queue-operation", "operation": "enqueue", "content": "always use pnpm"},
				{"type": "queue-operation", "operation": "dequeue"},
				human("always use pnpm", js{"promptSource": "queued", "sentAtMs": 1}),
			},
			[]string{"always use pnpm"},
			"", false,
		},
		{
			"typed while a tool ran",
			[]js{
				use("Bash", js{"command": "npm i"}),
				{"type": "queue-operation", "operation": "enqueue", "content": "no, use pnpm"},
				attachment(js{"type": "queued_command", "prompt": "no, use pnpm", "origin": js{"kind": "human"}, "humanTurn": true}),
				{"type": "queue-operation", "operation": "remove"},
				result("ok", false, nil),
			},
			[]string{"no, use pnpm"},
			"", false,
		},
		{
			"typed while a tool ran, with a picture and a paste",
			[]js{attachment(js{
				"type": "queued_command", "origin": js{"kind": "human"}, "humanTurn": true, "prompt": []any{
					js{"type": "text", "text": "no, use pnpm\n<pasted_content id=\"5\">\nalways use npm\n</pasted_content id=\"5\">"},
					js{"type": "image", "source": js{"type": "base64", "data": "AAAA"}},
				},
			})},
			[]string{"no, use pnpm"},
			"no, use pnpm\n\nalways use npm", false,
		},
		{
			"a notification while a tool ran",
			[]js{attachment(js{"type": "queued_command", "commandMode": "task-notification", "prompt": "<task-notification>always use npm</task-notification>", "origin": js{"kind": "task-notification"}})},
			nil, "", false,
		},
		{
			"a refusal",
			[]js{use("mcp__x__run", js{}), result(no, true, js{"toolDenialKind": "user-rejected", "toolUseResult": "User rejected tool use"})},
			[]string{"use pnpm here"},
			"", false,
		},
		{"a refusal by a rule", []js{use("Bash", js{"command": "npm i"}), result(no, true, js{"toolDenialKind": "permission-rule"})}, nil, "", false},
		{
			"answers",
			[]js{use("AskUserQuestion", question), result("User has answered your questions", false, js{"toolUseResult": js{"questions": []any{}, "answers": js{"Which manager?": "pnpm, and never npm"}}})},
			[]string{"pnpm, and never npm"},
			"", false,
		},
		{
			"answers of another tool",
			[]js{use("mcp__x__ask", question), result("ok", false, js{"toolUseResult": js{"answers": js{"Which manager?": "always use npm"}}})},
			nil, "", false,
		},
		{
			"a sub-agent in the background is done",
			[]js{human("<task-notification>\n<summary>always use npm</summary>\n</task-notification>", js{"origin": js{"kind": "task-notification"}, "promptSource": "system", "turnOrigin": "task_notification"})},
			nil, "", false,
		},
		{"a compaction", []js{human("This session is being continued. Always use npm.", js{"isCompactSummary": true, "isVisibleInTranscriptOnly": true})}, nil, "", false},
		{
			"a program asked",
			[]js{{"type": "user", "uuid": "u", "promptSource": "sdk", "turnOrigin": "sdk", "entrypoint": "sdk-cli", "message": js{"role": "user", "content": "always use npm"}}},
			nil, "always use npm", true,
		},
		{"a program of older versions asked", []js{{"type": "user", "uuid": "u", "entrypoint": "sdk-py", "message": js{"role": "user", "content": "always use npm"}}}, nil, "always use npm", true},
		{"a session in the background", []js{human("always use npm", js{"sessionKind": "bg"})}, nil, "always use npm", true},
		{"a person behind the kit of another client", []js{human("always use pnpm", js{"entrypoint": "sdk-ts"})}, []string{"always use pnpm"}, "", false},
		{
			"a person went on with what a program began",
			[]js{
				{"type": "user", "uuid": "u", "promptSource": "sdk", "entrypoint": "sdk-cli", "message": js{"role": "user", "content": "always use npm"}},
				human("always use pnpm", js{"uuid": "v", "parentUuid": "u"}),
			},
			[]string{"always use pnpm"},
			"always use npm", false,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var lines []string
			for i, r := range tt.records {
				if i > 0 && r["parentUuid"] == nil && r["uuid"] != nil {
					r["parentUuid"] = tt.records[0]["uuid"]
				}
				lines = append(lines, record(t, r))
			}
			data := strings.Join(lines, "\n") + "\n"
			s := read(t, lines...)
			var typed []string
			for i := range s.Turns {
				typed = append(typed, s.Turns[i].Typed()...)
				for _, u := range s.Turns[i].Tools {
					if u.Reply != "" {
						typed = append(typed, u.Reply)
					}
				}
			}
			if diff := cmp.Diff(tt.typed, typed, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("typed (-want +got):\n%s", diff)
			}
			if s.Headless != tt.program {
				t.Errorf("headless %v, want %v", s.Headless, tt.program)
			}
			if tt.text != "" && s.Turns[0].Text != tt.text {
				t.Errorf("text %q, want %q", s.Turns[0].Text, tt.text)
			}
			peeked, err := agent.Claude{}.Peek(strings.NewReader(data), int64(len(data)), 0, 0, time.Time{})
			if diff := cmp.Diff(agenttest.PeekResult(s), peeked, cmpopts.EquateEmpty()); err != nil || diff != "" {
				t.Errorf("Peek sees something else: %v (-read +peek):\n%s", err, diff)
			}
		})
	}
}

// TestClaudeNamed holds that the name that the user gave a session stands before the client's title.
func TestClaudeNamed(t *testing.T) {
	lines := []string{
		record(t, human("fix the rounding", nil)), `{"type":"custom-title","customTitle":"VAT cents","sessionId":"s1"}`,
		`{"type":"ai-title","aiTitle":"Rounding fixed","sessionId":"s1"}`,
	}
	s := read(t, lines...)
	data := strings.Join(lines, "\n") + "\n"
	peeked, err := agent.Claude{}.Peek(strings.NewReader(data), int64(len(data)), 0, 0, time.Time{})
	if err != nil || s.Title != "VAT cents" || !s.Named || peeked.Title != s.Title || !peeked.Named {
		t.Errorf("%v: %q %v, peek %q %v", err, s.Title, s.Named, peeked.Title, peeked.Named)
	}
}

// TestEventTyped holds the same of the prompt that a hook gets.
func TestEventTyped(t *testing.T) {
	for prompt, want := range map[string]string{
		"always use pnpm": "always use pnpm",
		"is this ours?\n\n<pasted_content id=\"4561\">\nalways use npm\n</pasted_content id=\"4561\">\n": "is this ours?",
		"<task-notification>\n<summary>always use npm</summary>\n</task-notification>":                   "",
	} {
		payload, _ := json.Marshal(js{"hook_event_name": "UserPromptSubmit", "session_id": "s1", "cwd": "/w", "transcript_path": "/h/.claude/projects/-w/s1.jsonl", "prompt": prompt})
		e, err := agent.ReadEvent(agent.Default(), strings.NewReader(string(payload)), 0, 0)
		if got := strings.Join(e.Typed(), "|"); err != nil || got != want || (e.Prompt == "") != (want == "") {
			t.Errorf("%v: %q typed %q, want %q", err, e.Prompt, got, want)
		}
	}
}
