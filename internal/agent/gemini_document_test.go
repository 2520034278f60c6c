package agent_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"anamnesis/internal/agent"
)

// TestGeminiDocument holds that a chat of an old version, which is one document, is read message by message.
func TestGeminiDocument(t *testing.T) {
	const message = `{"id": "%", "timestamp": "2026-01-20T10:00:00Z", "type": "user", "content": "Round the VAT per line."}`
	for _, tt := range []struct{ name, document, tell string }{
		{
			"several lines",
			"{\n  \"sessionId\": \"s1\",\n  \"projectHash\": \"x\",\n  \"startTime\": \"2026-01-20T09:59:00Z\",\n  \"messages\": [\n    " + message + `,
    {"id": "2", "timestamp": "2026-01-20T10:01:00Z", "type": "gemini", "content": "I look.", "toolCalls": [
      {"id": "c", "name": "run_shell_command", "args": {"command": "go test"}, "status": "success",
       "result": [{"functionResponse": {"response": {"output": "ok"}}}]}]}
  ]
}
`,
			" on \nuser: Round the VAT per line.\nassistant: I look.\nBash  {\"command\":\"go test\"} failed=false: ok\n",
		},
		{"one line", `{"sessionId":"s1","startTime":"2026-01-20T09:59:00Z","messages":[` + message + `]}`, " on \nuser: Round the VAT per line.\n"},
		{"no messages", `{"sessionId":"s1","startTime":"2026-01-20T09:59:00Z"}`, " on \n"},
		{"a torn one", `{"sessionId":"s1","startTime":"2026-01-20T09:59:00Z","messages":[` + message, ""},
		{"a list", `[]`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "session-2026-01-20T10-00-s1.json")
			if err := os.WriteFile(file, []byte(tt.document), 0o600); err != nil {
				t.Fatal(err)
			}
			f, err := os.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			source := agent.ByName("gemini").Sessions
			records, err := source.Open(f, "")
			if tt.tell == "" {
				if err == nil || !strings.Contains(err.Error(), "no whole document") {
					t.Errorf("%v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			s, err := source.ReadSession(records, agent.Limits{})
			if err != nil || s.ID != "s1" || tell(s) != tt.tell || s.Skipped.Bad() > 0 {
				t.Errorf("%v: %s %q, %+v", err, s.ID, tell(s), s.Skipped)
			}
		})
	}
}
