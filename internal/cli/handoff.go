package cli

import (
	"context"

	"anamnesis/internal/app"
	"anamnesis/internal/index"
	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/store/project"

	"github.com/spf13/cobra"
)

func newHandoff(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "handoff",
		Short: "Leave a note for the next session on this project",
		Long: `A handoff is told to the next session on a project, before everything else: where
the work stands, what is open, what to do next. It is done when that session was
asked something and has ended, when somebody says so, or after its days. Without a
subcommand it lists what waits.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.handoffs(cmd.Context(), "") },
	}
	cmd.AddCommand(newHandoffLeave(p), newHandoffList(p), newHandoffDone(p))
	return cmd
}

func newHandoffLeave(p *program) *cobra.Command {
	var o addOptions
	var days int
	cmd := &cobra.Command{
		Use:   "leave --title TITLE [--body TEXT | --file FILE | < TEXT]",
		Short: "Leave one",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.bodyGiven = cmd.Flags().Changed("body")
			if days < 1 || days > ingest.MaxHandoffDays {
				return usage("handoff leave: --days %d: it waits for 1 to %d days", days, ingest.MaxHandoffDays)
			}
			return p.leaveHandoff(cmd.Context(), o, days)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.title, "title", "", "one line: where the work stands")
	f.StringVar(&o.body, "body", "", "what is open, what to do next, markdown")
	f.StringVar(&o.file, "file", "", "read the body from `FILE`; - is standard input")
	f.StringVar(&o.project, "project", "", "project `KEY` (default: the one of this folder)")
	f.StringVar(&o.source, "source", note.Human, "who leaves it: human, or agent (its secrets are masked)")
	f.IntVar(&days, "days", ingest.HandoffDays, "`DAYS` it waits")
	cmd.MarkFlagsMutuallyExclusive("body", "file")
	return cmd
}

func (p *program) leaveHandoff(ctx context.Context, o addOptions, days int) error {
	body, err := p.body(o)
	if err != nil {
		return err
	}
	if body, err = o.titled("handoff leave", body); err != nil {
		return err
	}
	if o.source != note.Human && o.source != note.Agent {
		return usage("handoff leave: --source %q: use human or agent", o.source)
	}
	m, err := p.openWalked(ctx)
	if err != nil {
		return err
	}
	defer m.close()
	if err := m.MayRedact(); err != nil && o.source != note.Human {
		return err
	}
	project := p.project(m.Store, o.project).Key
	if project == note.Global {
		return usage("handoff leave: it is for one project; name it with --project KEY")
	}
	out, err := m.Ingester.LeaveHandoff(ctx, ingest.Handoff{Project: project, Title: o.title, Body: body, Source: o.source, Days: days})
	if err != nil {
		return err
	}
	return p.printOutcome(m, "handoff leave", out)
}

func newHandoffList(p *program) *cobra.Command {
	var project string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List those that wait for the next session",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return p.handoffs(cmd.Context(), project) },
	}
	cmd.Flags().StringVar(&project, "project", "", "project `KEY` (default: the one of this folder)")
	return cmd
}

func (p *program) handoffs(ctx context.Context, key string) error {
	m, err := p.openWalked(ctx)
	if err != nil {
		return err
	}
	defer m.close()
	id := p.project(m.Store, key)
	rows, err := m.Ingester.Handoffs(ctx, project.Names(m.Store, id))
	if err != nil {
		return err
	}
	list := []app.NoteHead{}
	for i, c := range m.Index.Contents(ctx, rows) {
		if c.Err != nil {
			p.note("left out: %v", c.Err)
			continue
		}
		n := c.Note
		list = append(list, app.HeadOf(n))
		p.say("%s  %s  %s\n", rows[i].ID, dated(n.CreatedAt), firstLine(n.Title, 80))
	}
	if p.json {
		return p.emit(struct {
			header
			Project  string         `json:"project"`
			Handoffs []app.NoteHead `json:"handoffs"`
		}{head("handoff"), id.Key, list})
	}
	if len(list) == 0 {
		p.note("nothing waits for the next session on %s", id.Key)
	}
	return nil
}

func newHandoffDone(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "done ID",
		Short: "Say that one was taken over",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			m, err := p.openWalked(cmd.Context())
			if err != nil {
				return err
			}
			defer m.close()
			row, err := app.Resolve(cmd.Context(), m.Rooms, args[0])
			if err != nil {
				return err
			}
			return p.handoffDone(cmd.Context(), m, row)
		},
	}
}

func (p *program) handoffDone(ctx context.Context, m *memory, row index.Row) error {
	if row.Kind != note.Handoff {
		return usage("handoff done %s: it is no handoff; `anamnesis handoff` lists them", row.ID)
	}
	out, err := m.Ingester.AcknowledgeHandoff(ctx, row.ID, "")
	if err != nil {
		return err
	}
	if p.json {
		return p.emit(struct {
			header
			ID      note.ID `json:"id"`
			Changed bool    `json:"changed"`
		}{head("handoff"), row.ID, out.Result == ingest.Updated})
	}
	if out.Result != ingest.Updated {
		p.printf("handoff: %s is done already\n", row.ID)
		return nil
	}
	p.printf("handoff: %s %q is done\n", row.ID, firstLine(row.Title, 60))
	p.undoLine("anamnesis unarchive " + string(row.ID))
	return nil
}
