package cli

import (
	"context"
	"strings"

	"anamnesis/internal/app"
	"anamnesis/internal/app/curate"

	"github.com/spf13/cobra"
)

func newGaps(p *program) *cobra.Command {
	var o curate.GapOptions
	cmd := &cobra.Command{
		Use:   "gaps",
		Short: "List questions that no note answers",
		Long: `List what was asked and is not answered, the most wanted first. Each question
is asked again with the gate, so that a note that was written since closes it.
A search that finds nothing, or that the gate holds back, leaves a gap.`,
		Example: `  anamnesis review gaps
  anamnesis review gaps --min-sessions 1 --global
  anamnesis review gaps close "certificate proxy rotate"`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.gaps(cmd, o) },
	}
	list := &cobra.Command{
		Use: "list", Short: "List questions that no note answers", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.gaps(cmd, o) },
	}
	for _, c := range []*cobra.Command{cmd, list} {
		f := c.Flags()
		f.BoolVar(&o.Global, "global", false, "of all projects (default: of this folder's project)")
		f.IntVar(&o.MinSessions, "min-sessions", 2, "asked in at least that many sessions")
		f.IntVar(&o.Limit, "limit", 20, "gaps at most; 0 means all")
		f.BoolVar(&o.Weak, "weak", false, "questions that were hardly answered, too")
		f.BoolVar(&o.Resolved, "resolved", false, "those that a note answers by now, too")
	}
	cmd.AddCommand(list, newGapsClose(p))
	return cmd
}

func (p *program) gaps(cmd *cobra.Command, o curate.GapOptions) error {
	return ask(p, cmd, "gaps", func(ctx context.Context, r *app.Rooms) (curate.GapsAnswer, error) {
		return curate.Gaps(ctx, r, o)
	}, func(a curate.GapsAnswer) { p.printGaps(a, o.Global) })
}

func (p *program) printGaps(a curate.GapsAnswer, global bool) {
	for _, g := range a.Gaps {
		state := ""
		if g.Weak {
			state = "  hardly answered"
		}
		if g.ResolvedBy != "" {
			state = "  answered by " + string(g.ResolvedBy)
		}
		p.printf("%s, %s, last %s: %s%s\n   words: %s\n",
			plural(g.Sessions, "session"), plural(g.Asks, "time"), date(g.Last), firstLine(g.Query, 120), state, printable(curate.GapWords(g)))
	}
	if len(a.Gaps) == 0 {
		more := ""
		if a.MinSessions > 1 {
			more = "; --min-sessions 1 lists what was asked once"
		}
		p.note("no unanswered questions in %s or more%s", plural(a.MinSessions, "session"), more)
	}
	if !global && a.Everywhere > len(a.Gaps) {
		p.note("of all projects there are %d; --global lists them", a.Everywhere)
	}
}

func newGapsClose(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "close WORDS...",
		Short: "Take a gap out of the list, until somebody asks again",
		Long: `Take a gap out of the list, until somebody asks for it again. WORDS are the
question, or what gaps prints below it.

Exit code 3 says that no open gap is like that.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return run(p, cmd, "gaps close", now, func(ctx context.Context, r *app.Rooms) (curate.ClosedGap, error) {
				return curate.CloseGap(ctx, r, strings.Join(args, " "))
			}, func(g curate.ClosedGap) { p.printf("gaps: closed %q\n", firstLine(g.Query, 120)) })
		},
	}
}
