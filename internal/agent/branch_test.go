package agent_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"anamnesis/internal/agent"
	"anamnesis/internal/agent/agenttest"
)

// linked makes a record of Claude Code: "id parent kind text". The parent is "-" for null. Kinds are u, a,
// call, result, steer, boundary and summary.
func linked(t *testing.T, records ...string) (lines []string) {
	t.Helper()
	for i, r := range records {
		if strings.HasPrefix(r, "{") {
			lines = append(lines, r)
			continue
		}
		f := strings.SplitN(r, " ", 4)
		parent := `"` + f[1] + `"`
		if f[1] == "-" {
			parent = "null"
		}
		head := fmt.Sprintf(`{"parentUuid":%s,"isSidechain":false,"uuid":"%s","sessionId":"s1","cwd":"/w","timestamp":"2026-11-20T10:00:%02dZ",`, parent, f[0], i)
		lines = append(lines, head+map[string]string{
			"u":      `"type":"user","message":{"role":"user","content":"` + f[3] + `"}}`,
			"a":      `"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"` + f[3] + `"}]}}`,
			"call":   `"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"` + f[0] + `","name":"Edit","input":{"file_path":"/w/` + f[3] + `"}}]}}`,
			"result": `"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"` + f[3] + `","content":"ok"}]}}`,
			"steer":  `"type":"attachment","attachment":{"type":"queued_command","prompt":"` + f[3] + `","origin":{"kind":"human"},"humanTurn":true}}`,
			"boundary": `"type":"system","subtype":"compact_boundary","logicalParentUuid":"` + f[3] +
				`","content":"Conversation compacted"}`,
			"summary": `"type":"user","isCompactSummary":true,"message":{"role":"user","content":"` + f[3] + `"}}`,
		}[f[2]])
	}
	return lines
}

func prompts(turns []agent.Turn) (held, back string) {
	var in, out []string
	for _, t := range turns {
		switch {
		case t.Role != agent.User || t.Text == "":
		case t.TakenBack:
			out = append(out, t.Text)
		default:
			in = append(in, t.Text)
		}
	}
	return strings.Join(in, "|"), strings.Join(out, "|")
}

// TestClaudeRewind holds that what the user took back is no part of the talk, and nothing else is.
func TestClaudeRewind(t *testing.T) {
	wentBack := func(leaf string) string {
		return `{"type":"last-prompt","lastPrompt":"x","leafUuid":"` + leaf + `","explicit":true,"sessionId":"s1"}`
	}
	const start = "00000000-0000-0000-0000-000000000000"
	for _, tt := range []struct {
		name       string
		records    []string
		held, back string
		files      string
	}{
		{"a chain", []string{"u1 - u one", "a1 u1 a done", "u2 a1 u two", "a2 u2 a done"}, "one|two", "", ""},
		{
			"back to a prompt",
			[]string{"u1 - u one", "a1 u1 a done", "u2 a1 u two", "c2 u2 call gone.go", "r2 c2 result c2", "u3 a1 u three", "c3 u3 call kept.go"},
			"one|three", "two", "/w/kept.go",
		},
		{
			"back twice, to two places",
			[]string{"u1 - u one", "a1 u1 a done", "u2 a1 u two", "a2 u2 a done", "u3 a2 u three", "u4 a2 u four", "u5 a1 u five", "a5 u5 a done"},
			"one|five", "two|three|four", "",
		},
		{"back to the start", []string{"u1 - u one", "a1 u1 a done", "u2 - u two", "a2 u2 a done"}, "two", "one", ""},
		{
			"back to the start, said behind the prompt",
			[]string{"u1 - u one", "a1 u1 a done", "u2 - u two", wentBack(start), "a2 u2 a done", wentBack(start)},
			"two", "one", "",
		},
		{"back to the start, and left", []string{"u1 - u one", "a1 u1 a done", wentBack(start)}, "", "one", ""},
		{"back, and left", []string{"u1 - u one", "a1 u1 a done", "u2 a1 u two", "a2 u2 a done", wentBack("a1")}, "one", "two", ""},
		{
			"said again at the end",
			[]string{"u1 - u one", "a1 u1 a done", "u2 a1 u two", wentBack("a1"), "u3 a1 u three", "a3 u3 a done", wentBack("a1")},
			"one|three", "two", "",
		},
		{
			"tools side by side",
			[]string{"u1 - u one", "c1 u1 call a.go", "c2 c1 call b.go", "r1 c1 result c1", "r2 c2 result c2", "a3 r2 a done", "u2 a3 u two"},
			"one|two", "", "/w/a.go /w/b.go",
		},
		{
			"typed beside a tool",
			[]string{"u1 - u one", "c1 u1 call a.go", "q1 c1 steer no, two", "r1 c1 result c1", "a2 r1 a done"},
			"one|no, two", "", "/w/a.go",
		},
		{
			"typed while at work, and taken back",
			[]string{"u1 - u one", "a1 u1 a hm", "q1 a1 steer two", "a2 q1 a done", "u3 a1 u three", "a3 u3 a done"},
			"one|three", "two", "",
		},
		{
			"typed while at work on what was taken back",
			[]string{"u1 - u one", "a1 u1 a done", "u2 a1 u two", "c2 u2 call a.go", "q2 c2 steer no, two", "r2 q2 result c2", "u3 a1 u three"},
			"one|three", "two|no, two", "",
		},
		{
			"a compaction",
			[]string{"u1 - u one", "a1 u1 a done", "b1 - boundary a1", "s1 b1 summary all of it", "u2 s1 u two", "a2 u2 a done"},
			"one|two", "", "",
		},
		{
			"a compaction that names nothing",
			[]string{"u1 - u one", "a1 u1 a done", "s1 - summary all of it", "u2 s1 u two"},
			"one|two", "", "",
		},
		{
			"back behind a compaction",
			[]string{"u1 - u one", "a1 u1 a done", "u2 a1 u two", "b1 - boundary u2", "s1 b1 summary all", "u3 s1 u three", "u4 a1 u four"},
			"one|four", "two|three", "",
		},
		{"a damaged record in between", []string{"u1 - u one", `{"uuid":"a1","type":`, "u2 a1 u two", "a2 u2 a done"}, "one|two", "", ""},
		{"a chain that bites its tail", []string{"u1 u2 u one", "a1 u1 a done", "u2 a1 u two", "u1 u2 u one"}, "one|two", "", ""},
		{"its own parent", []string{"u1 u1 u one", "u2 u2 u two"}, "one|two", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			data := strings.Join(linked(t, tt.records...), "\n") + "\n"
			s, err := agent.Claude{}.ReadSession(strings.NewReader(data), agent.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			held, back := prompts(s.All())
			if held != tt.held || back != tt.back {
				t.Errorf("in force %q, taken back %q; want %q, %q", held, back, tt.held, tt.back)
			}
			if in, out := prompts(s.Turns); in != tt.held || out != "" {
				t.Errorf("the talk is %q, %q", in, out)
			}
			if got := strings.Join(s.FilesTouched(), " "); got != tt.files {
				t.Errorf("files %q, want %q", got, tt.files)
			}
			for i := range s.Turns {
				if n := s.Number(i); s.All()[n].UUID != s.Turns[i].UUID {
					t.Errorf("turn %d has number %d", i, n)
				}
			}
			peeked, err := agent.Claude{}.Peek(strings.NewReader(data), int64(len(data)), 0, 0, time.Time{})
			if err != nil {
				t.Fatal(err)
			}
			if !peeked.Complete && strings.Contains(tt.records[len(tt.records)-1], "explicit") { // the capture knows
				return
			}
			if diff := cmp.Diff(agenttest.PeekResult(s), peeked, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("Peek sees something else (-read +peek):\n%s", diff)
			}
		})
	}
}

// TestRewindOfOthers holds the same for agents that say so in other ways.
func TestRewindOfOthers(t *testing.T) {
	item := func(role, text string) string {
		kind := map[string]string{"user": "input_text", "assistant": "output_text"}[role]
		return `{"timestamp":"2026-11-20T10:00:00Z","type":"response_item","payload":{"type":"message","role":"` + role +
			`","content":[{"type":"` + kind + `","text":"` + text + `"}]}}`
	}
	back := func(n string) string {
		return `{"timestamp":"2026-11-20T10:00:00Z","type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":` + n + `}}`
	}
	gemini := func(id, kind, text string) string {
		return `{"id":"` + id + `","timestamp":"2026-11-20T10:00:00Z","type":"` + kind + `","content":[{"text":"` + text + `"}]}`
	}
	qwen := func(id, parent, kind, text string) string {
		if parent != "null" {
			parent = `"` + parent + `"`
		}
		return `{"uuid":"` + id + `","parentUuid":` + parent + `,"sessionId":"s1","timestamp":"2026-11-20T10:00:00Z","type":"` + kind +
			`","message":{"parts":[{"text":"` + text + `"}]}}`
	}
	copilot := func(id, kind, data string) string {
		return `{"type":"` + kind + `","data":` + data + `,"id":"` + id + `","timestamp":"2026-11-20T10:00:00Z"}`
	}
	for _, tt := range []struct {
		name, agent string
		lines       []string
		held, back  string
	}{
		{"one turn", "codex", []string{item("user", "one"), item("assistant", "ok"), item("user", "two"), item("assistant", "ok"), back("1"), item("user", "three")}, "one|three", "two"},
		{"two turns", "codex", []string{item("user", "one"), item("user", "two"), item("user", "three"), back("2"), item("user", "four"), back("1")}, "one", "two|three|four"},
		{"more than there are", "codex", []string{item("user", "one"), back("9"), item("user", "two")}, "two", "one"},
		{"a number that is none", "codex", []string{item("user", "one"), back("-1"), back(`"x"`), back("1e9")}, "one", ""},
		{
			"to a prompt", "gemini",
			[]string{gemini("1", "user", "one"), gemini("2", "gemini", "ok"), gemini("3", "user", "two"), gemini("4", "gemini", "ok"), `{"$rewindTo":"3"}`, gemini("5", "user", "three")},
			"one|three", "two",
		},
		{"to the first", "gemini", []string{gemini("1", "user", "one"), gemini("2", "gemini", "ok"), `{"$rewindTo":"1"}`, gemini("5", "user", "three")}, "three", "one"},
		{"to one that is not there", "gemini", []string{gemini("1", "user", "one"), `{"$rewindTo":"9"}`, gemini("5", "user", "three")}, "three", "one"},
		{"a branch", "qwen", []string{qwen("1", "null", "user", "one"), qwen("2", "1", "assistant", "ok"), qwen("3", "2", "user", "two"), qwen("4", "2", "user", "three")}, "one|three", "two"},
		{
			"to an event", "copilot",
			[]string{
				copilot("1", "user.message", `{"content":"one"}`), copilot("2", "user.message", `{"content":"two"}`),
				copilot("3", "session.snapshot_rewind", `{"upToEventId":"2","eventsRemoved":1}`), copilot("4", "user.message", `{"content":"three"}`),
				copilot("5", "session.snapshot_rewind", `{"upToEventId":"nowhere"}`),
			},
			"one|three", "two",
		},
	} {
		t.Run(tt.agent+" "+tt.name, func(t *testing.T) {
			data := strings.Join(tt.lines, "\n") + "\n"
			source := agent.ByName(tt.agent).Sessions
			s, err := source.ReadSession(strings.NewReader(data), agent.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			held, back := prompts(s.All())
			if in, _ := prompts(s.Turns); held != tt.held || back != tt.back || in != tt.held {
				t.Errorf("in force %q (%q), taken back %q; want %q, %q", held, in, back, tt.held, tt.back)
			}
			peeked, err := source.Peek(strings.NewReader(data), int64(len(data)), 0, 0, time.Time{})
			if diff := cmp.Diff(agenttest.PeekResult(s), peeked, cmpopts.EquateEmpty()); err != nil || diff != "" {
				t.Errorf("Peek sees something else: %v (-read +peek):\n%s", err, diff)
			}
		})
	}
}
