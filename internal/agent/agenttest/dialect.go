package agenttest

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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

// servers checks that our server gets into a file once and out again.
func servers(t *testing.T, f agent.ServerFile, old []byte) {
	env := agent.Env{MachineID: "ada's \"laptop\"", Home: `/opt/my notes\x`}
	once, err := f.AddServer(old, "anamnesis", env, []string{"/opt/my tools/anamnesis"})
	if err != nil {
		t.Fatalf("AddServer: %v", err)
	}
	twice, err := f.AddServer(once, "anamnesis", env, []string{"/opt/my tools/anamnesis"})
	if diff := cmp.Diff(string(once), string(twice)); err != nil || diff != "" {
		t.Errorf("second AddServer: %v (-once +twice)\n%s", err, diff)
	}
	all, err := f.Servers(once)
	i := slices.IndexFunc(all, func(s agent.Server) bool { return s.Name == "anamnesis" })
	if err != nil || i < 0 || all[i].Command != "/opt/my tools/anamnesis" || !slices.Equal(all[i].Args, []string{"serve"}) {
		t.Errorf("Servers: %v, %+v\n%s", err, all, once)
	}
	moved, err := f.AddServer(once, "anamnesis", agent.Env{}, []string{"/new/anamnesis"})
	if err != nil || bytes.Contains(moved, []byte("my tools")) {
		t.Errorf("AddServer of a moved program: %v\n%s", err, moved)
	}
	if len(old) == 0 {
		return
	}
	for _, with := range [][]byte{once, moved} {
		back, err := f.RemoveServer(with, "anamnesis")
		if diff := cmp.Diff(string(old), string(back)); err != nil || diff != "" {
			t.Errorf("RemoveServer: %v (-before +after)\n%s\nwith:\n%s", err, diff, with)
		}
	}
	if same, err := f.RemoveServer(old, "anamnesis"); err != nil || !bytes.Equal(same, old) {
		t.Errorf("RemoveServer of nothing: %v\n%s", err, same)
	}
}
