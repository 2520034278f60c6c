package agenttest

import (
	"testing"

	"anamnesis/internal/agent"
)

// spans checks that the spans of a turn are ordered, disjoint and within its text, and those of a user.
func spans(t *testing.T, i int, turn agent.Turn) {
	t.Helper()
	if turn.Role != agent.User && turn.Spans != nil {
		t.Errorf("turn %d: the agent's words have authors", i)
	}
	at := 0
	for _, s := range turn.Spans {
		if s.From < at || s.To <= s.From || s.To > len(turn.Text) {
			t.Errorf("turn %d: span %v behind byte %d in a text of %d", i, s, at, len(turn.Text))
		}
		at = s.To
	}
}
