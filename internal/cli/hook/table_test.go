package hook

import (
	"testing"
	"time"

	"anamnesis/internal/agent"
)

// Claude Code ends the hook of a plugin 1.5 s after it started at a session's end, and Codex any after three, whatever their time
// limits say.
func TestSessionEndIsShort(t *testing.T) {
	for _, event := range []agent.EventKind{agent.SessionEnd, agent.PreCompact} {
		r, ok := find(event)
		if !ok || r.wait > 1200*time.Millisecond || r.say != nil {
			t.Errorf("%s: %+v", event, r)
		}
	}
}
