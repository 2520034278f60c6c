package cli

import (
	"context"
	"strings"

	"anamnesis/internal/app"

	"github.com/spf13/cobra"
)

// unreadAnswer lists sessions with what is unread in them.
type unreadAnswer struct {
	Applied  bool                `json:"applied"`
	Sessions []app.UnreadSession `json:"sessions"`
}

func newSessionsUnread(p *program) *cobra.Command {
	var key string
	cmd := &cobra.Command{
		Use:   "unread",
		Short: "List what you typed and no reader has decided on",
		Long: `List what you typed in sessions and no reader has decided on. The next agent that
starts in the project is shown it, and keeps what holds beyond its task. After three
sessions without an answer, or thirty days, a session waits for you: ask an agent to
read it (/anamnesis:learn), keep what matters with ` + "`anamnesis add`" + `, and close it with
` + "`anamnesis sessions unread done`" + `. Nothing here is synced or searched.`,
		Example: `  anamnesis sessions unread --project .
  anamnesis sessions unread done 4f2a90c1 --apply`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return run(p, cmd, "sessions unread", now, func(_ context.Context, r *app.Rooms) (a unreadAnswer, err error) {
				a.Sessions, err = app.UnreadSessions(r, key)
				return a, err
			}, p.printUnread)
		},
	}
	cmd.Flags().StringVar(&key, "project", "", "of one project: its `KEY`, or . for the one of this folder")
	cmd.AddCommand(newSessionsUnreadDone(p))
	return cmd
}

func newSessionsUnreadDone(p *program) *cobra.Command {
	var apply bool
	cmd := &cobra.Command{
		Use:   "done [ID...]",
		Short: "Close sessions that you have read",
		Long: `Close sessions that you have read, by the beginnings of their ids; without an id those
that wait for you. Their words are deleted here, and no agent is shown them any more. Without
--apply it only lists them; it cannot be undone.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return run(p, cmd, "sessions unread done", now, func(_ context.Context, r *app.Rooms) (a unreadAnswer, err error) {
				a.Applied = apply
				a.Sessions, err = app.DropUnread(r, args, apply)
				return a, err
			}, func(a unreadAnswer) {
				if a.Applied {
					p.printf("sessions unread done: closed %s\n", plural(len(a.Sessions), "session"))
					return
				}
				p.printUnread(a)
				p.printf("sessions unread done: %s%s\n", plural(len(a.Sessions), "session"), dryRun(len(a.Sessions)))
			})
		},
	}
	cmd.Flags().BoolVar(&apply, "apply", false, "close them")
	return cmd
}

// Bounds of what is printed of a session.
const (
	unreadLines = 8
	unreadChars = 100
)

func (p *program) printUnread(a unreadAnswer) {
	for i := range a.Sessions {
		s := &a.Sessions[i]
		waits := ""
		if s.Waits {
			waits = "  waits for you"
		}
		p.printf("%s  %s  %-8s  %s  %s%s\n", s.ID, s.Ended.Local().Format("2006-01-02"), s.Agent, firstLine(s.Project, 32),
			plural(len(s.Turns), "message"), waits)
		for _, text := range s.Turns[:min(unreadLines, len(s.Turns))] {
			p.printf("  > %s\n", firstLine(strings.Join(strings.Fields(text), " "), unreadChars))
		}
		if more := len(s.Turns) - unreadLines; more > 0 {
			p.printf("  … and %d more\n", more)
		}
	}
}
