package agent_test

import (
	"strings"
	"testing"

	"anamnesis/internal/agent"

	"github.com/google/go-cmp/cmp"
)

func TestClaudeCall(t *testing.T) {
	hooks := agent.ByName("claude").Hooks
	for _, c := range []struct {
		tool, input string
		want        agent.Call
	}{
		{"Edit", `{"file_path":"/p/a.go","old_string":"x := 1","new_string":"y"}`, agent.Call{Files: []string{"/p/a.go"}}},
		{"MultiEdit", `{"file_path":"a","edits":[{"old_string":"b"},7,{"new_string":"c"}]}`, agent.Call{Files: []string{"a"}}},
		{"Write", `{"file_path":"/p/a.go","content":"long"}`, agent.Call{Files: []string{"/p/a.go"}}},
		{"NotebookEdit", `{"notebook_path":"/p/a.ipynb","new_source":"z"}`, agent.Call{Files: []string{"/p/a.ipynb"}}},
		{"Bash", `{"command":"git\u0000 push","description":"rm"}`, agent.Call{Command: "git push"}},
		{"Agent", `{"prompt":" look ","subagent_type":"x"}`, agent.Call{Task: "look", TaskType: "x"}},
		{"Task", `{"prompt":"` + agent.InjectStart + `told` + agent.InjectEnd + `look","subagent_type":"a\nb"}`, agent.Call{Task: "look"}},
		{"Read", `{"file_path":"/p/a.go"}`, agent.Call{}},
		{"mcp__x__y", `{"command":"git push"}`, agent.Call{}},
		{"Bash", `{"command":["git"]}`, agent.Call{}},
		{"Bash", `{"command":{"command":"git push"}}`, agent.Call{}},
		{"Bash", `"git push"`, agent.Call{}},
		{"Bash", `{"command":"git push"`, agent.Call{Command: "git push"}},
		{"Edit", `{"file_path":7,"edits":"x","old_string":null}`, agent.Call{}},
		{"Edit", strings.Repeat(`{"edits":[`, 2000), agent.Call{}},
		{"", `{"command":"x"}`, agent.Call{}},
		{"Bash", ``, agent.Call{}},
	} {
		if d := cmp.Diff(c.want, hooks.Call(agent.Event{ToolName: c.tool, ToolInput: []byte(c.input)})); d != "" {
			t.Errorf("%s %.80s (-want +got):\n%s", c.tool, c.input, d)
		}
	}
	long := `{"command":"` + strings.Repeat("x", 10<<20) + `"}`
	if c := hooks.Call(agent.Event{ToolName: "Bash", ToolInput: []byte(long)}); len(c.Command) != 10<<20 {
		t.Errorf("%d bytes of a long command", len(c.Command))
	}
}
