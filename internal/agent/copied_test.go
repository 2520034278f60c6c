package agent_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"anamnesis/internal/agent"
)

// A said is one record of a session of Codex.
type said struct{ user, agent, result, patch string }

// codexLines writes a session of Codex 0.171 down.
func codexLines(t *testing.T, all []said) string {
	t.Helper()
	var b strings.Builder
	n := 0
	write := func(kind string, payload js) {
		line, err := json.Marshal(js{"timestamp": "2026-11-20T10:00:00Z", "ordinal": n, "type": kind, "payload": payload})
		if err != nil {
			t.Fatal(err)
		}
		n++
		b.Write(append(line, '\n'))
	}
	message := func(role, kind, text string) {
		p := js{"type": "message", "role": role, "content": []any{js{"type": kind, "text": text}}}
		if role == "user" {
			p["internal_chat_message_metadata_passthrough"] = js{"content_item_kinds": []any{"user.text"}}
		}
		write("response_item", p)
	}
	write("session_meta", js{"id": "t1", "cwd": "/w", "originator": "codex-tui", "cli_version": "0.171.0", "source": "cli"})
	for _, one := range all {
		switch {
		case one.user != "":
			message("user", "input_text", one.user)
		case one.agent != "":
			message("assistant", "output_text", one.agent)
		case one.patch != "":
			write("response_item", js{"type": "custom_tool_call", "name": "apply_patch", "call_id": "p", "input": one.patch})
		default:
			write("response_item", js{"type": "function_call", "name": "exec_command", "call_id": "c", "arguments": `{"cmd":"x"}`})
			write("response_item", js{"type": "function_call_output", "call_id": "c", "output": "Process exited with code 0\nOutput:\n" + one.result})
		}
	}
	return b.String()
}

// typedIn returns what the user typed in a session, a text for each stretch.
func typedIn(s *agent.Session) (typed []string) {
	for i := range s.Turns {
		typed = append(typed, s.Turns[i].Typed()...)
	}
	return typed
}

// TestCopied holds which words of a user are copied from earlier text of the session, and which are not.
func TestCopied(t *testing.T) {
	const readme = "# Shop\n\nNode 22 is needed. Always run the zz tool before the\nbuild, since it makes the types.\n\n- Never push to main\n"
	const trace = "TypeError: roundHalf is not a function\n    at vat (pay/vat.js:12:3)\n    at total (pay/order.js:40:9)\nFAIL\nexit 1\n"
	for _, tt := range []struct {
		name  string
		all   []said
		typed []string
	}{
		{"a trace", []said{{user: "Run the tests"}, {result: trace}, {user: "what is this?\n" + trace}}, []string{"Run the tests", "what is this?"}},
		{
			"a paragraph of a file",
			[]said{{user: "Look around"}, {result: readme}, {user: "Node 22 is needed. Always run the zz tool before the build, since it makes the types.\n\nIs that so?"}},
			[]string{"Look around", "Is that so?"},
		},
		{
			"the same behind numbers of lines",
			[]said{{user: "Look around"}, {result: "     3\tNode 22 is needed. Always run the zz tool before the\n     4\tbuild, since it makes the types."}, {user: "Node 22 is needed. Always run the zz tool before the\nbuild, since it makes the types."}},
			[]string{"Look around"},
		},
		{"a line of a file", []said{{user: "Look around"}, {result: readme}, {user: "Never push to main"}}, []string{"Look around"}},
		{"a part of a line", []said{{user: "Look around"}, {result: "You should never push a tag to main without asking the release team first."}, {user: "never push a tag to main without asking the release team"}}, []string{"Look around"}},
		{
			"the agent's sentence, cited",
			[]said{{user: "Go on"}, {agent: "I did it. I will always use npm for installs here. Shall I push?"}, {user: "You said \"I will always use npm for installs here\". Use pnpm."}},
			[]string{"Go on", "You said", "Use pnpm."},
		},
		{"the agent's sentence, alone", []said{{user: "Go on"}, {agent: "I did it. I will always use npm."}, {user: "I will always use npm."}}, []string{"Go on"}},
		{"behind a colon", []said{{user: "Go on"}, {result: "error: cannot find module left-pad"}, {user: "why this: cannot find module left-pad"}}, []string{"Go on", "why this:"}},
		{
			"a patch",
			[]said{{user: "Go on"}, {patch: "*** Begin Patch\n*** Add File: a.md\n+Always store the dates as text.\n*** End Patch"}, {user: "Always store the dates as text.\nWhy?"}},
			[]string{"Go on", "Why?"},
		},
		{"markdown that a page does not show", []said{{user: "Go on"}, {result: "**Always** run `make lint` before [pushing](x)."}, {user: "Always run make lint before pushing"}}, []string{"Go on"}},
		{"without spaces", []said{{user: "看看"}, {result: "提交之前必须先运行所有的测试。"}, {user: "提交之前必须先运行所有的测试。为什么？"}}, []string{"看看", "为什么？"}},

		{"short words", []said{{user: "Go on"}, {agent: "- yes\n- no\n- use pnpm\n- run the tests"}, {user: "yes"}, {result: "use pnpm\nrun the tests\n"}, {user: "use pnpm"}, {user: "run the tests"}}, []string{"Go on", "yes", "use pnpm", "run the tests"}},
		{"short words without spaces", []said{{user: "看看"}, {agent: "- 运行测试"}, {user: "运行测试"}}, []string{"看看", "运行测试"}},
		{"the agent's question, answered", []said{{user: "Go on"}, {agent: "Shall I use pnpm for this repository?"}, {user: "use pnpm for this repository"}}, []string{"Go on", "use pnpm for this repository"}},
		{
			"a sentence with words of the agent",
			[]said{{user: "Go on"}, {agent: "I ran make lint and go test ./... before the commit. It passed."}, {user: "Please always run make lint and go test ./... before the commit, in every session."}},
			[]string{"Go on", "Please always run make lint and go test ./... before the commit, in every session."},
		},
		{
			"what the agent repeats later",
			[]said{{user: "always use pnpm for installs, never npm"}, {agent: "Noted: Always use pnpm for installs, never npm."}, {result: "rule: always use pnpm for installs\n"}, {user: "Always use pnpm for installs, never npm."}, {user: "always use pnpm for installs"}},
			[]string{"always use pnpm for installs, never npm", "Always use pnpm for installs, never npm.", "always use pnpm for installs"},
		},
		{"what stands there later only", []said{{user: "Never push to the main branch"}, {result: "Never push to the main branch"}}, []string{"Never push to the main branch"}},
		{"an answer among what is cited", []said{{user: "Go on"}, {agent: "The client should poll every second.\nRetries use an exponential backoff."}, {user: "The client should poll every second.\nno, websockets\nRetries use an exponential backoff.\nok"}}, []string{"Go on", "no, websockets", "ok"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := agent.ByName("codex").Sessions.ReadSession(strings.NewReader(codexLines(t, tt.all)), agent.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.typed, typedIn(s), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("typed (-want +got):\n%s", diff)
			}
		})
	}
}

// TestCopiedElsewhere holds the same of Claude Code, whose short pastes have no mark, and of turns that were taken back.
func TestCopiedElsewhere(t *testing.T) {
	const line = "Always run the zz tool before the build"
	s := read(t,
		record(t, human("Look around", nil)),
		record(t, js{"type": "assistant", "uuid": "a", "parentUuid": "u", "message": js{"role": "assistant", "content": []any{js{"type": "text", "text": line}}}}),
		record(t, human("Is it so?\n"+line, js{"uuid": "v", "parentUuid": "a"})),
		record(t, human("What of this?\n"+line, js{"uuid": "w", "parentUuid": "a"})), // went back
	)
	if diff := cmp.Diff([]string{"Look around", "What of this?"}, typedIn(s)); diff != "" {
		t.Errorf("typed (-want +got):\n%s", diff)
	}
	for i, turn := range s.All() {
		if typed := strings.Join(turn.Typed(), "|"); strings.Contains(typed, line) {
			t.Errorf("turn %d: typed %q", i, typed)
		}
	}
}

// FuzzCopied holds that the spans of a turn stay ordered, disjoint and within its text.
func FuzzCopied(f *testing.F) {
	f.Add("Look: run a b c d e\nf g h.", "x\nrun a b c d e f g h. \"y\"", "`é` 提交之前必须先运行所有的测试。\n\n12 a b c d")
	f.Fuzz(func(t *testing.T, first, second, third string) {
		lines := codexLines(t, []said{{user: "go"}, {agent: first}, {user: second + "\n" + first}, {result: third}, {user: third + first + "\n" + second}})
		s, err := agent.ByName("codex").Sessions.ReadSession(strings.NewReader(lines), agent.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range s.Turns {
			at := 0
			for _, a := range s.Turns[i].Authors() {
				if a.From != at || a.To <= a.From {
					t.Fatalf("%+v in %q", a, s.Turns[i].Text)
				}
				at = a.To
			}
			if s.Turns[i].Role == agent.User && at != len(s.Turns[i].Text) {
				t.Fatalf("%d of %q", at, s.Turns[i].Text)
			}
		}
	})
}
