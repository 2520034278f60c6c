package agent_test

import (
	"bytes"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"anamnesis/internal/agent"
	"anamnesis/internal/agent/agenttest"
)

// TestOpencodeRevert holds which messages a revert in OpenCode takes back. The store is that of version 1.18.
func TestOpencodeRevert(t *testing.T) {
	statements, err := os.ReadFile("testdata/opencode/sessions.sql")
	if err != nil {
		t.Fatal(err)
	}
	const set = "\nALTER TABLE session ADD COLUMN revert text;\nUPDATE session SET revert = "
	const first, second = "Round the VAT per line, order 48213 is off by a cent.", "No, never round half down."
	for _, tt := range []struct {
		name, revert     string
		held, back, last string
		files            int
	}{
		{"none", "", first + "|" + second, "", "VAT is rounded per line now, half up.", 1},
		{"taken back again", set + "NULL;", first + "|" + second, "", "VAT is rounded per line now, half up.", 1},
		{"to the second prompt", set + `'{"messageID":"msg_004","snapshot":"abc","diff":""}';`, first, second, "I look first.", 1},
		{"to an answer", set + `'{"messageID":"msg_003"}';`, first, second, "I look first.", 0},
		{"to the first prompt", set + `'{"messageID":"msg_001"}';`, "", first + "|" + second, "", 0},
		{"to a part", set + `'{"messageID":"msg_002","partID":"prt_0022"}';`, first, second, "I look first.", 0},
		{"to a part that is gone", set + `'{"messageID":"msg_002","partID":"prt_0020a"}';`, first, second, "", 0},
		{"to a message that is gone", set + `'{"messageID":"msg_003a"}';`, first, second, "I look first.", 1},
		{"to the end", set + `'{"messageID":"msg_9"}';`, first + "|" + second, "", "VAT is rounded per line now, half up.", 1},
		{"to what is no place", set + `'{"messageID":7}';`, first + "|" + second, "", "VAT is rounded per line now, half up.", 1},
		{"what is no JSON", set + `'msg_001';`, first + "|" + second, "", "VAT is rounded per line now, half up.", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			source := agent.ByName("opencode").Sessions
			data := records(t, source, append(bytes.Clone(statements), tt.revert...))
			s, err := source.ReadSession(bytes.NewReader(data), agent.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			held, back := prompts(s.All())
			if in, _ := prompts(s.Turns); held != tt.held || back != tt.back || in != tt.held {
				t.Errorf("in force %q (%q), taken back %q; want %q, %q", held, in, back, tt.held, tt.back)
			}
			if lastOutcome(s.Dialogue()) != tt.last || len(s.FilesTouched()) != tt.files {
				t.Errorf("outcome %q, files %v; want %q, %d", lastOutcome(s.Dialogue()), s.FilesTouched(), tt.last, tt.files)
			}
			peeked, err := source.Peek(bytes.NewReader(data), int64(len(data)), 0, 0, time.Time{})
			if diff := cmp.Diff(agenttest.PeekResult(s), peeked, cmpopts.EquateEmpty()); err != nil || diff != "" {
				t.Errorf("Peek sees something else: %v (-read +peek):\n%s", err, diff)
			}
			tail, err := source.Peek(bytes.NewReader(data), int64(len(data)), 0, 60, time.Time{})
			if err != nil || tt.back != "" && len(tail.Dialogue) > 0 {
				t.Errorf("the end alone: %v, %v", err, tail.Dialogue)
			}
		})
	}
}
