package cli

import (
	"context"
	"strings"

	"anamnesis/internal/app"

	"github.com/spf13/cobra"
)

func newSessions(p *program) *cobra.Command {
	var o app.SessionsOptions
	cmd := &cobra.Command{
		Use:   "sessions",
		Short: "List what is kept of sessions, word for word",
		Long: `Sessions are kept on this machine, redacted and shortened, and never synced: for each
exchange what you asked, what was run and edited, the error lines, and what the agent
said at the end. ` + "`anamnesis search`" + ` finds exchanges under
the notes. Without a subcommand it lists the sessions, newest first.`,
		Example: `  anamnesis sessions --project . --since 7d
  anamnesis sessions show 4f2a90c1d3.7
  anamnesis sessions forget --text "acme corp" --apply
  anamnesis sessions keep 4f2a90c1d3.7`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return run(p, cmd, "sessions", now, func(ctx context.Context, r *app.Rooms) (app.SessionsAnswer, error) {
				return app.Sessions(ctx, r, o)
			}, p.printSessions)
		},
	}
	sessionFlags(cmd, &o, "")
	cmd.Flags().IntVar(&o.Limit, "limit", 20, "sessions at most; 0 means all")
	cmd.AddCommand(newSessionsShow(p), newSessionsForget(p), newSessionsKeep(p), newSessionsUnread(p))
	return cmd
}

// sessionFlags are the flags that choose sessions.
func sessionFlags(cmd *cobra.Command, o *app.SessionsOptions, project string) {
	cmd.Flags().StringVar(&o.Project, "project", project, "of one project: its `KEY`, or . for the one of this folder")
	cmd.Flags().StringVar(&o.Agent, "agent", "", "of one agent, by `NAME`")
	cmd.Flags().StringVar(&o.Since, "since", "", "that ended since `TIME`: 2026-03-31, 30d (default: all)")
}

func (p *program) printSessions(a app.SessionsAnswer) {
	for i := range a.Sessions {
		s := &a.Sessions[i]
		p.printf("%s  %s  %-8s  %s  %s  %s\n", s.Key, shortDay(s.Ended), s.Agent, firstLine(s.Project, 32), plural(s.Exchanges, "exchange"),
			firstLine(s.Title, 80))
	}
	p.note("%s kept, %s in all", plural(a.Count, "session"), size(a.Bytes))
}

// shortDay is the day of a time in RFC 3339.
func shortDay(at string) string {
	day, _, _ := strings.Cut(at, "T")
	if day == "" {
		return "          "
	}
	return day
}

func newSessionsShow(p *program) *cobra.Command {
	var tokens int
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Print an exchange with its neighbours, or a session",
		Long: `Print an exchange, such as 4f2a90c1d3.7, with the one before and the one behind it, or a
whole session by its key or by the id that its client gave it. Lines that begin with >
are what the user typed, with | what was pasted, with $ a command, with ~ a file that
was edited.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if tokens < 0 {
				return usage("sessions show: --max-tokens %d: give 0 for no end, or a number", tokens)
			}
			return run(p, cmd, "sessions show", now, func(ctx context.Context, r *app.Rooms) (app.ExchangeAnswer, error) {
				return app.ShowExchange(ctx, r, args[0], tokens)
			}, p.printExchange)
		},
	}
	cmd.Flags().IntVar(&tokens, "max-tokens", app.DefaultShown, "tokens of all that is printed, estimated; 0 means no end")
	return cmd
}

func (p *program) printExchange(a app.ExchangeAnswer) {
	s := &a.Session
	p.printf("%s  %s, %s, %s\n", firstLine(s.Title, 80), s.Agent, firstLine(s.Project, 60), shortDay(s.Started))
	if a.Before > 0 {
		p.printf("… %s before\n", plural(a.Before, "exchange"))
	}
	for i := range a.Exchanges {
		e := &a.Exchanges[i]
		p.printf("\n%s  %s\n", e.ID, e.At)
		for line := range strings.Lines(e.Text) {
			p.printf("%s\n", printable(strings.TrimRight(line, "\n")))
		}
	}
	if a.After > 0 {
		p.printf("\n… %s behind\n", plural(a.After, "exchange"))
	}
}

func newSessionsForget(p *program) *cobra.Command {
	var o app.ForgetSessionsOptions
	cmd := &cobra.Command{
		Use:   "forget [ID...]",
		Short: "Erase exchanges of sessions for good",
		Long: `Erase what is kept of sessions: exchanges and sessions by their ids, exchanges that hold
a text, those of a project, or of a time. What is given holds together. A later capture
or import of the same session does not bring them back. The client's own transcript
stays. Without --apply it only lists what would be erased; it cannot be undone.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.IDs = args
			return run(p, cmd, "sessions forget", now, func(ctx context.Context, r *app.Rooms) (app.ForgetSessionsAnswer, error) {
				return app.ForgetSessions(ctx, r, o)
			}, p.printForgottenSessions)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Text, "text", "", "exchanges that hold `TEXT`, whatever its case")
	f.StringVar(&o.Project, "project", "", "of one project: its `KEY`, or . for the one of this folder")
	f.StringVar(&o.Since, "since", "", "exchanges since `TIME`: 2026-03-31, 2h")
	f.StringVar(&o.Until, "until", "", "exchanges until `TIME`")
	f.BoolVar(&o.Apply, "apply", false, "do it")
	return cmd
}

func (p *program) printForgottenSessions(a app.ForgetSessionsAnswer) {
	for i := range a.Exchanges {
		e := &a.Exchanges[i]
		p.printf("%s  %s  %s\n", e.ID, shortDay(e.At), firstLine(e.Ask, 90))
	}
	what := plural(len(a.Exchanges), "exchange") + " of " + plural(a.Sessions, "session")
	if a.Unread > 0 {
		what += " and " + plural(a.Unread, "unread message")
	}
	if a.Applied {
		p.printf("sessions forget: erased %s\n", what)
		p.printf("If it was in a note: git, bundles and exports that you handed out, and the transcripts of your agents still hold it.\n")
		return
	}
	p.printf("sessions forget: %s%s\n", what, dryRun(len(a.Exchanges)+a.Unread))
}

func newSessionsKeep(p *program) *cobra.Command {
	var title string
	cmd := &cobra.Command{
		Use:   "keep ID",
		Short: "Make a note of an exchange, which travels as notes do",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return run(p, cmd, "sessions keep", app.OpenWalked, func(ctx context.Context, r *app.Rooms) (app.Written, error) {
				return p.reportWritten(app.KeepExchange(ctx, r, args[0], title))
			}, p.printWritten("sessions keep"))
		},
	}
	cmd.Flags().StringVar(&title, "title", "", "title of the note (default: what the exchange was about)")
	return cmd
}
