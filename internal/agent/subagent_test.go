package agent_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/agent"
)

// A file says whose sub-agent wrote it, and the session of a person is none. Whatever its records say, no person asked.
func TestSubagents(t *testing.T) {
	pad := strings.Repeat("x", 30<<10)
	for _, c := range []struct {
		name, agent, records, id string
		sessions                 []string
	}{
		{
			"claude", "claude", `{"type":"user","isSidechain":true,"agentId":"a1","sessionId":"s","origin":{"kind":"human"},"message":{"role":"user","content":"look"},"uuid":"1"}`,
			"a1",
			[]string{"s"},
		},
		{
			"claude, not in its first record", "claude", `{"type":"mode","x":"` + pad + `"}` + "\n" +
				`{"type":"user","isSidechain":true,"agentId":"a1","sessionId":"s","message":{"role":"user","content":"look"},"uuid":"1"}`,
			"a1",
			[]string{"s"},
		},
		{"a session", "claude", `{"type":"user","isSidechain":false,"sessionId":"s","message":{"role":"user","content":"look"},"uuid":"1"}`, "", nil},
		{"no id", "claude", `{"type":"user","isSidechain":true,"agentId":"../a","sessionId":"s"}`, "", nil},
		{
			"codex", "codex", `{"type":"session_meta","payload":{"session_id":"s","id":"a1","parent_thread_id":"p","base_instructions":{"text":"` + pad + `"},` +
				`"source":{"subagent":{}},"thread_source":"subagent"}}` + "\n" +
				`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"look"}],` +
				`"internal_chat_message_metadata_passthrough":{"content_item_kinds":["user.text"],"content_item_metadata":[{"provenance":{"type":"user"}}]}}}`,
			"a1",
			[]string{"s", "p"},
		},
		{"a thread", "codex", `{"type":"session_meta","payload":{"session_id":"s","id":"s","source":"cli","thread_source":"user"}}`, "", nil},
		{"empty", "codex", "", "", nil},
	} {
		h := agent.ByName(c.agent)
		id, sessions := h.SubagentOf(strings.NewReader(c.records))
		if id != c.id || !slices.Equal(sessions, c.sessions) {
			t.Errorf("%s: %q of %q, want %q of %q", c.name, id, sessions, c.id, c.sessions)
		}
		if c.id == "" {
			continue
		}
		s, err := h.ReadSubagent(strings.NewReader(c.records))
		if err != nil || len(s.Turns) != 1 || s.Turns[0].Text != "look" || s.Turns[0].Asker != agent.Subagent {
			t.Errorf("%s: %+v, %v", c.name, s.Turns, err)
		}
		if main, err := h.Sessions.ReadSession(strings.NewReader(c.records), agent.Limits{}); c.agent == "claude" && (err != nil || len(main.Turns) > 0) {
			t.Errorf("%s: the session says %+v, %v", c.name, main.Turns, err)
		}
	}
}

// Sub-agents are looked for where their agent puts them.
func TestSubagentFiles(t *testing.T) {
	day := func(d int) time.Time { return time.Date(2026, 11, d, 23, 0, 0, 0, time.UTC) }
	for _, c := range []struct {
		agent, transcript, file string
		found                   bool
	}{
		{"claude", "/h/projects/-p/s.jsonl", "/h/projects/-p/s/subagents/agent-1.jsonl", true},
		{"claude", "/h/projects/-p/s.jsonl", "/h/projects/-p/agent-1.jsonl", true},
		{"claude", "/h/projects/-p/s.jsonl", "/h/projects/-p/t/subagents/agent-1.jsonl", false},
		{"codex", "/h/sessions/2026/11/20/rollout-a.jsonl", "/h/sessions/2026/11/20/rollout-b.jsonl", true},
		{"codex", "/h/sessions/2026/11/20/rollout-a.jsonl", "/h/sessions/2026/11/22/rollout-b.jsonl.zst", true},
		{"codex", "/h/sessions/2026/11/20/rollout-a.jsonl", "/h/sessions/2026/11/24/rollout-b.jsonl", false},
		{"codex", "/h/sessions/2026/11/20/rollout-a.jsonl", "/h/archived_sessions/rollout-2026-11-21T10-00-00-b.jsonl", true},
		{"codex", "/h/archived_sessions/rollout-2026-11-20T10-00-00-a.jsonl", "/h/sessions/2026/11/21/rollout-b.jsonl", true},
	} {
		found := slices.ContainsFunc(agent.ByName(c.agent).Subagents.Files(filepath.FromSlash(c.transcript), day(20), day(22)), func(p string) bool {
			ok, err := filepath.Match(p, filepath.FromSlash(c.file))
			return err == nil && ok
		})
		if found != c.found {
			t.Errorf("%s is looked for beside %s: %v", c.file, c.transcript, found)
		}
	}
}
