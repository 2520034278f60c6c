package cli

import (
	"context"
	"fmt"

	"anamnesis/internal/app"
	"anamnesis/internal/app/hooks"
	"anamnesis/internal/ingest"
	"anamnesis/internal/note"

	"github.com/spf13/cobra"
)

func newHandoff(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "handoff",
		Short: "Leave a note for the next session on this project",
		Long: `A handoff tells the next session on a project where the work stands, what is open and
what to do next. It is done when that session was asked something and has ended, when
you say so with "handoff done", or when it expires. Without a
subcommand it lists what waits.`,
		Example: `  anamnesis handoff leave --body 'the migration is written, the backfill is open'
  anamnesis handoff list`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.handoffs(cmd, "") },
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
			body, err := p.body(o)
			if err != nil {
				return err
			}
			o.Body = body
			if err := o.Titled("handoff leave"); err != nil {
				return err
			}
			return run(p, cmd, "handoff leave", app.OpenWalked, func(ctx context.Context, r *app.Rooms) (app.Written, error) {
				return p.reportWritten(hooks.LeaveHandoff(ctx, r, o.Draft, days))
			}, p.printWritten("handoff leave"))
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Title, "title", "", "one line: where the work stands")
	f.StringVar(&o.Body, "body", "", "what is open, what to do next, markdown")
	f.StringVar(&o.file, "file", "", "read the body from `FILE`; - is standard input")
	f.StringVar(&o.Project, "project", "", "project `KEY` (default: the one of this folder)")
	agentFlag(f, &o.Agent)
	f.IntVar(&days, "days", ingest.HandoffDays, "`DAYS` it waits")
	cmd.MarkFlagsMutuallyExclusive("body", "file")
	return cmd
}

func newHandoffList(p *program) *cobra.Command {
	var project string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List those that wait for the next session",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return p.handoffs(cmd, project) },
	}
	cmd.Flags().StringVar(&project, "project", "", "project `KEY` (default: the one of this folder)")
	return cmd
}

func (p *program) handoffs(cmd *cobra.Command, key string) error {
	return ask(p, cmd, "handoff", func(ctx context.Context, r *app.Rooms) (hooks.HandoffsAnswer, error) {
		return hooks.Handoffs(ctx, r, key)
	}, func(a hooks.HandoffsAnswer) {
		for _, n := range a.Handoffs {
			before := fmt.Sprintf("%s  %s  ", p.short(n.ID), dated(note.Stamp(n.CreatedAt)))
			p.printf("%s%s\n", before, p.rest(before, n.Title, 80))
		}
		if len(a.Handoffs) == 0 {
			p.note("nothing waits for the next session on %s", a.Project)
		}
	})
}

func newHandoffDone(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "done ID",
		Short: "Mark a handoff as picked up",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return run(p, cmd, "handoff", app.OpenWalked, func(ctx context.Context, r *app.Rooms) (hooks.HandoffDone, error) {
				return hooks.AcknowledgeHandoff(ctx, r, args[0])
			}, func(a hooks.HandoffDone) {
				if !a.Changed {
					p.printf("handoff: %s is done already\n", a.ID)
					return
				}
				p.printf("handoff: %s %q is done\n", a.ID, firstLine(a.Title, 60))
				p.undoLine("anamnesis archive undo " + string(a.ID))
			})
		},
	}
}
