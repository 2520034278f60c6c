package agent_test

import (
	"testing"

	"anamnesis/internal/agent"
)

func TestOfClient(t *testing.T) {
	for client, want := range map[string]string{
		"claude-code": "claude", "codex-mcp-client": "codex", "gemini-cli-mcp-client-anamnesis": "gemini", "github-copilot-developer": "copilot",
		"opencode": "opencode", "qwen-code-mcp-client": "qwen", "sample": "", "claudette": "", "": "",
	} {
		got := ""
		if h := agent.OfClient(client); h != nil {
			got = h.Name
		}
		if got != want {
			t.Errorf("%q is %q, want %q", client, got, want)
		}
	}
}
