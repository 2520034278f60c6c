package cli

import (
	"context"
	"strings"

	"anamnesis/internal/app"
	"anamnesis/internal/app/hooks"

	"github.com/spf13/cobra"
)

// projectFlags are the flags of a question about sessions.
func projectFlags(cmd *cobra.Command, q *app.Question, limit *int, most int) {
	cmd.Flags().StringVar(&q.Project, "project", "", "of one project: its `KEY`, or . for the one of this folder (default: of this folder's)")
	cmd.Flags().BoolVar(&q.Global, "global", false, "of all projects")
	cmd.Flags().IntVar(limit, "limit", most, "how many at most")
}

func newFix(p *program) *cobra.Command {
	var q app.Question
	var limit int
	cmd := &cobra.Command{
		Use:   "fix {ERROR... | -}",
		Short: "Find how an error was fixed before",
		Long: `Find the exchanges of past sessions that met an error, those in which it stopped coming
first, with its cause and its remedy. Paths, numbers, times and versions in the error
do not matter. - reads it from standard input. Exit code 3 says that it is not known.`,
		Example: `  anamnesis fix "undefined: regexp"
  go test ./... 2>&1 | anamnesis fix -`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := p.question("fix", strings.Join(args, " "))
			if err != nil {
				return err
			}
			return run(p, cmd, "fix", now, func(ctx context.Context, r *app.Rooms) (hooks.FixAnswer, error) {
				return hooks.Fix(ctx, r, q, text, limit)
			}, p.printFixed)
		},
	}
	projectFlags(cmd, &q, &limit, 3)
	return cmd
}

func (p *program) printFixed(a hooks.FixAnswer) {
	for i := range a.Found {
		f := &a.Found[i]
		if i > 0 {
			p.printf("\n")
		}
		state := "not solved there"
		switch {
		case f.Solved && f.Exact:
			state = "solved"
		case f.Solved:
			state = "a similar one, solved"
		case !f.Exact:
			state = "similar, not solved there"
		}
		p.printf("%d. %s\n   %s  %s  %s  %s\n", i+1, state, f.ID, shortDay(f.At), f.Agent, firstLine(f.Title, 70))
		for _, part := range [][2]string{{"error", f.Error}, {"cause", f.Cause}, {"remedy", f.Remedy}} {
			if part[1] != "" {
				p.printf("   %-7s %s\n", part[0]+":", printable(part[1]))
			}
		}
		if !f.Solved {
			p.printf("   asked:  %s\n", printable(firstLine(f.Ask, 160)))
			p.printf("   said:   %s\n", printable(firstLine(strings.Join(strings.Fields(f.Reply), " "), 200)))
		}
	}
	if len(a.Found) == 0 {
		p.note("no session that is kept met this error; --global asks those of all projects")
	}
}

func newHow(p *program) *cobra.Command {
	var q app.Question
	var limit int
	cmd := &cobra.Command{
		Use:   "how TASK...",
		Short: "List the commands that were run for a task",
		Long: `List the commands that past sessions ran where they worked on a task: how often each
passed, and when last. What failed and never passed is marked as given up, and what
forces, skips a check or deletes is marked, too.`,
		Example: `  anamnesis how run the integration tests
  anamnesis how release`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := p.question("how", strings.Join(args, " "))
			if err != nil {
				return err
			}
			return run(p, cmd, "how", now, func(ctx context.Context, r *app.Rooms) (hooks.HowAnswer, error) {
				return hooks.How(ctx, r, q, text, limit)
			}, p.printHow)
		},
	}
	projectFlags(cmd, &q, &limit, 8)
	return cmd
}

func (p *program) printHow(a hooks.HowAnswer) {
	for i := range a.Ways {
		w := &a.Ways[i]
		p.printf("$ %s\n", printable(firstLine(w.Command, 160)))
		line := "passed " + plural(w.Passed, "time")
		if w.GivenUp {
			line = "failed " + plural(w.Failed, "time") + ", given up"
		} else if w.Failed > 0 {
			line += ", failed " + plainInt(w.Failed)
		}
		if !w.Last.IsZero() {
			line += ", last " + w.Last.Format("2006-01-02")
		}
		p.printf("  %s  (%s)\n", line, w.Exchange)
		if w.Risky != "" {
			p.printf("  careful: %s forces, skips a check or deletes\n", printable(firstLine(w.Risky, 60)))
		}
	}
	if len(a.Ways) == 0 {
		p.note("no session that is kept ran a command for this; --global asks those of all projects")
	}
}

func newBlame(p *program) *cobra.Command {
	var q app.Question
	var limit int
	cmd := &cobra.Command{
		Use:   "blame PATH[:LINE]",
		Short: "List the sessions that edited a file",
		Long: `List the exchanges that edited a file, newest first: what was asked, and the commit that
the session made of it where that is known. With a line, the exchange that made the
commit of that line stands first.`,
		Example: `  anamnesis blame internal/queue/worker.go
  anamnesis blame internal/queue/worker.go:120`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return run(p, cmd, "blame", now, func(ctx context.Context, r *app.Rooms) (hooks.BlameAnswer, error) {
				return hooks.Blame(ctx, r, q, args[0], limit)
			}, p.printBlame)
		},
	}
	projectFlags(cmd, &q, &limit, 10)
	return cmd
}

func (p *program) printBlame(a hooks.BlameAnswer) {
	if a.Commit != "" {
		p.printf("line %d is of commit %s\n", a.Line, a.Commit[:12])
	}
	for i := range a.Touched {
		t := &a.Touched[i]
		commits := ""
		if len(t.Commits) > 0 {
			commits = "  commit " + firstLine(strings.Join(t.Commits, ", "), 60)
		}
		if t.Line {
			commits += "  (this line)"
		}
		p.printf("%s  %s  %s%s\n  %s\n", t.ID, shortDay(t.At), t.Agent, commits, printable(firstLine(t.Ask, 120)))
	}
	if len(a.Touched) == 0 {
		p.note("no session that is kept edited %s", a.File)
	}
}

func newResume(p *program) *cobra.Command {
	o := app.SessionsOptions{Project: "."}
	var execute bool
	cmd := &cobra.Command{
		Use:   "resume",
		Short: "List the last sessions here, and the command that continues each",
		Long: `List the last sessions of this folder's project over all agents, each with the command of
its client that goes on with it. --exec runs the command of the newest one, or of the
newest one of --agent.`,
		Example: `  anamnesis resume`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if execute {
				return p.resume(cmd, o)
			}
			return run(p, cmd, "resume", now, func(ctx context.Context, r *app.Rooms) (hooks.ResumeAnswer, error) {
				return hooks.Resume(ctx, r, o)
			}, p.printResume)
		},
	}
	sessionFlags(cmd, &o, ".")
	cmd.Flags().IntVar(&o.Limit, "limit", 5, "sessions at most")
	cmd.Flags().BoolVar(&execute, "exec", false, "run the command of the newest one")
	return cmd
}

func (p *program) printResume(a hooks.ResumeAnswer) {
	for i := range a.Sessions {
		s := &a.Sessions[i]
		branch := ""
		if s.Branch != "" {
			branch = "  on " + firstLine(s.Branch, 40)
		}
		p.printf("%s  %s  %s%s\n", shortDay(s.Ended), s.Agent, firstLine(s.Title, 80), branch)
		if s.Gone {
			p.printf("  %s no longer has it; what is kept: anamnesis sessions show %s\n", s.Agent, s.Key)
		}
		if len(s.Command) > 0 {
			p.printf("  %s\n", printable(strings.Join(s.Command, " ")))
		}
	}
}

// resume runs the client's command that goes on with the newest session.
func (p *program) resume(cmd *cobra.Command, o app.SessionsOptions) error {
	r, err := app.OpenFiles(p.host())
	if err != nil {
		return err
	}
	defer r.Close()
	o.Limit = 1
	a, err := hooks.Resume(cmd.Context(), r, o)
	if err != nil {
		return err
	}
	client, err := hooks.ResumeCommand(cmd.Context(), &a.Sessions[0])
	if err != nil {
		return err
	}
	p.note("%s", strings.Join(a.Sessions[0].Command, " "))
	client.Stdin, client.Stdout, client.Stderr = p.stdin, p.stdout, p.stderr
	return client.Run()
}
