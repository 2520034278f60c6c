package hooks

import (
	"fmt"
	"slices"
	"strings"

	"anamnesis/internal/agent"
	"anamnesis/internal/app"
	"anamnesis/internal/learn"
	"anamnesis/internal/text/smalltalk"
)

// maxNudged is how many bytes that were typed are looked at: more lays nothing down.
const maxNudged = 8 << 10

// nudge returns the block in which the agent is asked to keep what the user just said, "" for a
// prompt that lays nothing down as far as its form shows. It asks at most learn.MaxNudges times a
// session and never twice for one sentence, and takes no lock.
func nudge(h app.Host, e agent.Event) (string, error) {
	c := h.Config
	switch {
	case !c.Capture.Learn, !c.Capture.Nudge, e.SessionID == "", e.SubagentID != "":
		return "", nil
	}
	typed := strings.Join(e.Typed(), "\n\n")
	if len(typed) > maxNudged || smalltalk.Of(typed) != smalltalk.None {
		return "", nil
	}
	s, err := app.OpenStore(h)
	if err != nil || s.ReadOnly() {
		return "", err
	}
	if why, err := Quiet((&app.Rooms{Config: c, Store: s, Host: h}), e.SessionID, e.Dir); err != nil || why != "" {
		return "", err
	}
	shown := s.Spool().ShownLog(e.SessionID, "")
	st, err := shown.State()
	if err != nil || len(st.Nudges) >= learn.MaxNudges {
		return "", err
	}
	candidate, ok := learn.Nominate(typed, st.Prompts == 0)
	hash := learn.NudgeHash(candidate.Quote.Words)
	if !ok || slices.Contains(st.Nudges, hash) {
		return "", nil
	}
	if err := shown.Nudge(hash); err != nil {
		return "", fmt.Errorf("note that the agent is asked: %w", err)
	}
	return agent.InjectStart + "\n" + learn.Nudge + "\n" + agent.InjectEnd + "\n", nil
}
