package cli

import (
	"fmt"
	"strings"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/app/diagnose"

	"github.com/spf13/cobra"
)

// What a status line reads of the agent that asks for it, and for how long it waits: a
// prompt of a shell may leave a pipe open and say nothing.
const (
	maxLineEvent  = 64 << 10
	lineEventWait = 50 * time.Millisecond
)

// statusLine prints one short line for the status bar of an agent or a prompt.
// It is asked for every few seconds, and an agent that shows what it prints never
// sees an error of ours.
func (p *program) statusLine(cmd *cobra.Command) error {
	session := ""
	if !terminal(p.stdin) { // an agent says which session it shows
		e, _ := agent.ReadEvent(agent.Default(), p.stdin, maxLineEvent, lineEventWait)
		session = e.SessionID
	}
	g, err := diagnose.TakeGlance(cmd.Context(), p.host(), session)
	switch {
	case err != nil:
		p.printf("anamnesis: %s\n", firstLine(err.Error(), 60))
		return nil
	case g.Empty:
		p.printf("anamnesis: no notes yet\n")
		return nil
	}
	parts := []string{plural(g.Notes, "note")}
	if g.Here > 0 {
		parts[0] += fmt.Sprintf(" (%d here)", g.Here)
	}
	if g.Shown > 0 {
		parts = append(parts, plainInt(g.Shown)+" shown")
	}
	if g.Quiet {
		parts = append(parts, "quiet")
	}
	if g.Synced != nil {
		parts = append(parts, syncedAgo(*g.Synced, time.Now()))
	}
	if g.Conflicts > 0 {
		parts = append(parts, plural(g.Conflicts, "conflict"))
	}
	if g.Held > 0 {
		parts = append(parts, plural(g.Held, "draft"))
	}
	if g.Waiting > 0 {
		parts = append(parts, plainInt(g.Waiting)+" to capture")
	}
	if g.Rules != nil {
		parts = append(parts, "redact.toml cannot be read")
	}
	p.printf("anamnesis: %s\n", strings.Join(parts, " · "))
	return nil
}

func syncedAgo(s diagnose.SyncGlance, now time.Time) string {
	at, err := time.Parse(time.RFC3339, s.At)
	switch {
	case s.State != "":
		return "sync " + s.State
	case err != nil:
		return "never synced"
	case s.Offline:
		return "offline, synced " + ago(at, now)
	}
	return "synced " + ago(at, now)
}
