package cli

import (
	"context"
	"fmt"

	"anamnesis/internal/agent"
	"anamnesis/internal/app"
	"anamnesis/internal/app/hooks"
	"anamnesis/internal/capture"
	"anamnesis/internal/cli/hook"
	"anamnesis/internal/ingest"
	"anamnesis/internal/note"

	"github.com/spf13/cobra"
)

func newCapture(p *program) *cobra.Command {
	var o hooks.CaptureOptions
	cmd := &cobra.Command{
		Use:   "capture --transcript FILE",
		Short: "Turn a session into a note",
		Long: `Read a session file of a coding agent and keep one note of it: what was asked,
which files were touched, how it ended. Sessions without content are skipped.
Capturing a session again updates its note.

As a SessionEnd or PreCompact hook it takes the file from the event, leaves the
work to a background run and prints nothing.`,
		Example: `  anamnesis capture --transcript session.jsonl`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			e := p.given()
			if o.Transcript == "" {
				o.Transcript = e.TranscriptPath
			}
			if o.Transcript == "" {
				return usage("capture: no session file; give one with --transcript FILE")
			}
			return run(p, cmd, "capture", now, func(ctx context.Context, r *app.Rooms) (captureAnswer, error) {
				c, err := hooks.CaptureNow(ctx, r, e, o)
				return newCaptureAnswer(c), err
			}, func(a captureAnswer) { p.printCaptured(a.captured, o.NoSync) })
		},
	}
	hook.CaptureFlags(cmd.Flags(), &o)
	return cmd
}

// captureAnswer is what capture prints.
type captureAnswer struct {
	Project string         `json:"project"`
	Source  string         `json:"source"`
	Result  string         `json:"result"`
	ID      note.ID        `json:"id,omitempty"`
	Path    string         `json:"path,omitempty"`
	Masked  bool           `json:"redacted"`
	Skipped agent.Skipped  `json:"skipped"`
	Sync    app.SyncResult `json:"sync"`

	// Also has what became of a session that moved to other projects, by project.
	Also []capturePart `json:"also,omitempty"`

	captured hooks.Captured
}

// capturePart is what became of a session in one of the projects to which it moved.
type capturePart struct {
	Project string  `json:"project"`
	Result  string  `json:"result"`
	ID      note.ID `json:"id,omitempty"`
}

// resultOf names what became of a session, and the note of it.
func resultOf(c *capture.Capture) (result string, id note.ID) {
	switch {
	case c.Trivial:
		return "trivial", ""
	case c.Declined:
		return "declined", ""
	case c.Outcome.Note != nil:
		id = c.Outcome.Note.ID
	}
	return c.Outcome.Result.String(), id
}

func newCaptureAnswer(c hooks.Captured) captureAnswer {
	a := captureAnswer{
		Project: c.Project, Source: c.Source, Masked: c.Outcome.Redacted, Path: c.Path, Skipped: c.Skipped, Sync: c.Sync, captured: c,
	}
	a.Result, a.ID = resultOf(&c.Capture)
	for i := range c.Also {
		result, id := resultOf(&c.Also[i])
		a.Also = append(a.Also, capturePart{c.Also[i].Project, result, id})
	}
	return a
}

func (p *program) printCaptured(c hooks.Captured, noSync bool) {
	p.printPart(&c.Capture)
	for i := range c.Also {
		p.printPart(&c.Also[i])
	}
	if c.Reflected > 0 {
		p.printf("capture: auto-reflected %s\n", plural(c.Reflected, "note"))
	}
	p.printf("capture: %s\n", syncLine(c.Sync, noSync))
	if c.Fallback != nil {
		p.errorf("capture: llm summary failed (%v); using heuristic\n", c.Fallback)
	}
	for _, f := range c.Failures {
		p.errorf("capture: %s\n", f)
	}
	if n := c.Skipped.Bad(); n > 0 {
		p.note("skipped %s of %s that could not be read", plural(n, "line"), c.File)
	}
	if c.Outcome.Redacted {
		p.note("secrets were masked before the note was written")
	}
}

func (p *program) printPart(c *capture.Capture) {
	where := fmt.Sprintf("(project=%s, source=%s)", c.Project, c.Source)
	switch {
	case c.Trivial:
		p.printf("capture: skipped trivial session %s\n", where)
	case c.Declined:
		p.printf("capture: skipped session, of which the model says that it is not worth a note %s\n", where)
	case c.Outcome.Result == ingest.Dropped:
		p.printf("capture: not kept: %s %s\n", c.Outcome.Why, where)
	case c.Outcome.Result == ingest.Unchanged:
		p.printf("capture: episodic note %s is up to date %s\n", c.Outcome.Note.ID, where)
	default:
		p.printf("capture: wrote episodic note %s %s\n", c.Outcome.Note.ID, where)
	}
}
