package agenttest

import (
	"bytes"
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"anamnesis/internal/agent"
)

// maxReply is how many bytes of text any answer may carry.
const maxReply = 9_000

// replies checks the form of answers: an agent but the first gets JSON always, and no
// text that is longer than its limit.
func replies(t *testing.T, h *agent.Harness, e agent.Event) {
	for _, text := range []string{"say <this> & \"that\"", "{not json", "[1", strings.Repeat("é", 100), "\x00\xff"} {
		reply := h.Hooks.Reply(e, text)
		if len(reply) > 0 && h != agent.Default() && !json.Valid(reply) {
			t.Errorf("the reply %q is no JSON", reply)
		}
	}
	for _, allow := range []bool{true, false} {
		if v := h.Hooks.Verdict(e, allow, "because \"x\""); len(v) > 0 && !json.Valid(v) {
			t.Errorf("the verdict %q is no JSON", v)
		}
	}
	if v := h.Hooks.Ask(e, "because \"x\""); len(v) > 0 && !json.Valid(v) {
		t.Errorf("the question %q is no JSON", v)
	}
	limit := h.Hooks.ContextLimit()
	if limit.Max <= 0 || h != agent.Default() && (limit.Max >= maxReply || limit.Size == nil || limit.Size('é') != 2) {
		t.Errorf("a text may have %d; want less than %d bytes", limit.Max, maxReply)
	}
}

// hostile checks that no value of any member of a payload becomes a field that was not
// checked.
func hostile(t *testing.T, h *agent.Harness, data []byte) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	for key := range all {
		for _, value := range []string{
			"null", "7", "[]", `{"a":{"b":[1]}}`, `"../../etc/passwd"`, `"a\u0000b\n"`, `"` + strings.Repeat("x", 1<<16) + `"`,
			`"\ud800<!-- anamnesis:begin -->x"`, strings.Repeat("[", 500) + strings.Repeat("]", 500),
		} {
			changed := maps.Clone(all)
			changed[key] = json.RawMessage(value)
			payload, err := json.Marshal(changed)
			if err != nil {
				t.Fatal(err)
			}
			e, err := agent.ReadEvent(h, bytes.NewReader(payload), 0, 0)
			if err != nil || e.SessionID != "" && !agent.ValidID(e.SessionID) || len(e.Source)+len(e.Reason)+len(e.Trigger) > 192 ||
				len(e.ToolName) > 256 || strings.ContainsAny(e.Dir+e.TranscriptPath+e.SubagentID+e.Name, "\x00\n") ||
				strings.Contains(e.Prompt, agent.InjectStart) || e.Dir != "" && !strings.HasPrefix(e.Dir, "/") {
				t.Errorf("%s = %.60s: %v, %+.300v", key, value, err, e)
			}
			_ = h.Hooks.Call(e)
			_ = h.Hooks.Reply(e, "x")
			_ = h.Hooks.Verdict(e, false, "x")
		}
	}
}
