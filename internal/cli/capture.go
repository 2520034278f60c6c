package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/capture"
	"anamnesis/internal/ingest"
	"anamnesis/internal/note"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// fillTime is what a session start may spend on an index that is empty.
const fillTime = time.Second

type captureOptions struct {
	transcript, project, source string
	noSync                      bool
}

func (o *captureOptions) addFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.transcript, "transcript", "", "session `FILE` (default: the one the event names)")
	fs.StringVar(&o.project, "project", "", "project `KEY` (default: the one of the session's folder)")
	fs.StringVar(&o.source, "source", note.SessionEnd, "`TAG` that says what triggered the capture")
	fs.BoolVar(&o.noSync, "no-sync", false, "commit here, do not sync")
}

// captureHook leaves the work to a background run and is gone.
func (p *program) captureHook(h agent.Harness, e agent.Event, o captureOptions) error {
	if e.TranscriptPath == "" {
		return errors.New("the event names no transcript")
	}
	s, err := p.openStore()
	if err != nil {
		return err
	}
	project := o.project
	if project != "" {
		project = s.Canonical(project)
	}
	if _, err := capture.New(s, nil, nil, p.cfg.Capture).Notice(h, e, o.source, project, !o.noSync); err != nil {
		return err
	}
	return p.detach("drain")
}

func newCapture(p *program) *cobra.Command {
	var o captureOptions
	cmd := &cobra.Command{
		Use:   "capture --transcript FILE",
		Short: "Turn a session into a note",
		Long: `Read a session file of a coding agent and keep one note of it: what was asked,
which files were touched, how it ended. Sessions without content are skipped.
Capturing a session again updates its note.

As a SessionEnd or PreCompact hook it takes the file from the event, leaves the
work to a background run and prints nothing.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			e := agent.Event{}
			if p.event != nil {
				e = *p.event
			}
			if o.transcript == "" {
				o.transcript = e.TranscriptPath
			}
			if o.transcript == "" {
				return usage("capture: no session file; give one with --transcript FILE")
			}
			return p.capture(cmd.Context(), e, o)
		},
	}
	o.addFlags(cmd.Flags())
	return cmd
}

// capture captures a session in the foreground.
func (p *program) capture(ctx context.Context, e agent.Event, o captureOptions) error {
	m, err := p.open(ctx, 0)
	if err != nil {
		return err
	}
	defer m.close()
	if err := m.mayRedact(); err != nil {
		return err
	}
	m.summarize()
	file, err := filepath.Abs(o.transcript)
	if err != nil {
		return err
	}
	dir := e.Dir
	if dir == "" {
		dir, _ = os.Getwd()
	}
	c, err := m.recorder.Capture(ctx, capture.Request{
		Harness: agent.Claude{}, Transcript: file, Session: e.SessionID, Dir: dir, Project: o.project, Source: o.source,
	})
	if err != nil {
		return err
	}
	reflected, failures := 0, []string(nil)
	if !o.noSync {
		reflected, failures = m.autoReflect(ctx, []string{c.Project})
	}
	rep, err := p.settle(ctx, m, exchange{remote: !o.noSync})
	if err != nil {
		return err
	}
	if p.json {
		return p.emit(captureJSON(m, c, rep))
	}
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
	if reflected > 0 {
		p.printf("capture: auto-reflected %d note(s)\n", reflected)
	}
	p.printf("capture: %s\n", rep.line(o.noSync))
	if c.Fallback != nil {
		fmt.Fprintf(p.stderr, "capture: llm summary failed (%v); using heuristic\n", c.Fallback)
	}
	for _, f := range failures {
		fmt.Fprintf(p.stderr, "capture: %s\n", f)
	}
	if n := c.Skipped.Bad(); n > 0 {
		p.note("skipped %s of %s that could not be read", plural(n, "line"), file)
	}
	if c.Outcome.Redacted {
		p.note("secrets were masked before the note was written")
	}
	return nil
}

func captureJSON(m *memory, c capture.Capture, rep settled) any {
	v := struct {
		header
		Project string        `json:"project"`
		Source  string        `json:"source"`
		Result  string        `json:"result"`
		ID      note.ID       `json:"id,omitempty"`
		Path    string        `json:"path,omitempty"`
		Masked  bool          `json:"redacted"`
		Skipped agent.Skipped `json:"skipped"`
		Sync    settled       `json:"sync"`
	}{header: head("capture"), Project: c.Project, Source: c.Source, Result: "trivial", Skipped: c.Skipped, Sync: rep}
	if c.Declined {
		v.Result = "declined"
	} else if !c.Trivial {
		v.Result, v.Masked = c.Outcome.Result.String(), c.Outcome.Redacted
		if c.Outcome.Ref.Path != "" {
			v.Path = m.store.Path(c.Outcome.Ref.Path)
		}
		if c.Outcome.Note != nil {
			v.ID = c.Outcome.Note.ID
		}
	}
	return v
}
