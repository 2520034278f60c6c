package agent_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"anamnesis/internal/agent"
)

// A session need not come from a file: other rooms make them by hand in tests.
func TestSessionByHand(t *testing.T) {
	s := agent.Session{Turns: []agent.Turn{
		{Role: agent.User, Text: "do it"},
		{Role: agent.Assistant, Text: "first", Tools: []agent.ToolUse{{Name: "Edit", Path: "/b"}, {Name: "Bash"}}},
		{Role: agent.Assistant, Tools: []agent.ToolUse{{Name: "Write", Path: "/a"}, {Name: "Edit", Path: "/b"}}},
	}}
	if got := s.FirstPrompt(); got != "do it" {
		t.Errorf("FirstPrompt = %q", got)
	}
	if got := lastOutcome(s.Dialogue()); got != "first" {
		t.Errorf("last outcome %q", got)
	}
	if diff := cmp.Diff([]string{"/b", "/a"}, s.FilesTouched()); diff != "" {
		t.Errorf("FilesTouched (-want +got):\n%s", diff)
	}
}

func TestSkippedBad(t *testing.T) {
	s := agent.Skipped{NotJSON: 1, NotObject: 2, Oversized: 4, Blank: 8, Other: 16}
	if got := s.Bad(); got != 7 {
		t.Errorf("Bad = %d, want 7", got)
	}
}

// lastOutcome is the last text of the assistant.
func lastOutcome(lines []agent.Line) string {
	for _, l := range slices.Backward(lines) {
		if l.Role == agent.Assistant && l.Text != "" {
			return l.Text
		}
	}
	return ""
}
