package hooks

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"anamnesis/internal/agent"
	"anamnesis/internal/app"
	"anamnesis/internal/connect"
	"anamnesis/internal/learn"
)

// Bounds of what a nudge looks at, in bytes.
const (
	maxNudged = 8 << 10   // typed: more is no correction
	nudgeTail = 128 << 10 // of the transcript
)

// nudge returns the block in which the agent is asked to keep the words with which its user stopped it, "" for a prompt
// before which they did not: they refused a call with a reason, interrupted the agent, or went back. It asks at most
// learn.MaxNudges times a session and never twice for one sentence, and takes no lock.
func nudge(h app.Host, e agent.Event) (string, error) {
	c := h.Config
	switch {
	case !c.Capture.Learn, !c.Capture.Nudge, e.SessionID == "", e.SubagentID != "":
		return "", nil
	}
	typed := strings.Join(e.Typed(), "\n\n")
	if len(typed) > maxNudged {
		return "", nil
	}
	s := recent(e, nudgeTail)
	if s == nil || s.Headless {
		return "", nil
	}
	sentence := learn.Stopping(s, typed)
	if sentence == "" {
		return "", nil
	}
	return ask(h, e, sentence)
}

// ask returns the block that asks for a sentence, and notes that it was asked for.
func ask(h app.Host, e agent.Event, sentence string) (string, error) {
	s, err := app.OpenStore(h)
	if err != nil || s.ReadOnly() {
		return "", err
	}
	if why, err := Quiet((&app.Rooms{Config: h.Config, Store: s, Host: h}), e.SessionID, e.Dir); err != nil || why != "" {
		return "", err
	}
	shown := s.Spool().ShownLog(e.SessionID, "")
	st, err := shown.State()
	hash := learn.NudgeHash(sentence)
	if err != nil || len(st.Nudges) >= learn.MaxNudges || slices.Contains(st.Nudges, hash) {
		return "", err
	}
	if err := shown.Nudge(hash); err != nil {
		return "", fmt.Errorf("note that the agent is asked: %w", err)
	}
	tool := "memory_write"
	if a := agent.ByName(e.Harness); a != nil {
		tool = connect.Of(a).ToolName(h.Config.UserHome, h.Config.AgentHomes()[a.Name], tool)
	}
	return agent.InjectStart + "\n" + learn.Nudge(sentence, tool) + "\n" + agent.InjectEnd + "\n", nil
}

// recent reads the end of the transcript of an event, nil for none that can be read at once.
func recent(e agent.Event, tail int64) *agent.Session {
	if filepath.Ext(e.TranscriptPath) != ".jsonl" {
		return nil
	}
	h, f, size := openTranscript(e)
	if f == nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	from := max(0, size-tail)
	data, err := io.ReadAll(io.NewSectionReader(f, from, tail))
	if err != nil {
		return nil
	}
	records := string(data)
	if from > 0 { // the first line is a part of one
		_, records, _ = strings.Cut(records, "\n")
	}
	s, err := h.Sessions.ReadSession(strings.NewReader(records), agent.Limits{})
	if err != nil {
		return nil
	}
	return s
}
