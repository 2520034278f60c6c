package cli

import (
	"fmt"
	"strings"
	"time"

	"anamnesis/internal/app"

	"github.com/spf13/cobra"
)

// statusLine prints one short line for the status bar of an agent or a prompt.
// It is asked for every few seconds, and an agent that shows what it prints never
// sees an error of ours.
func (p *program) statusLine(cmd *cobra.Command) error {
	g, err := app.TakeGlance(cmd.Context(), p.host())
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
	if g.Synced != nil {
		parts = append(parts, syncedAgo(*g.Synced, time.Now()))
	}
	if g.Conflicts > 0 {
		parts = append(parts, plural(g.Conflicts, "conflict"))
	}
	if g.Held > 0 {
		parts = append(parts, plainInt(g.Held)+" held")
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

func syncedAgo(s app.SyncGlance, now time.Time) string {
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
