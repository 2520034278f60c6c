package cli

import (
	"context"
	"errors"
	"strings"

	"anamnesis/internal/app"
	"anamnesis/internal/recall"

	"github.com/spf13/cobra"
)

type gapOptions struct {
	askOptions
	sessions, limit int
	weak, resolved  bool
}

func newGaps(p *program) *cobra.Command {
	var o gapOptions
	cmd := &cobra.Command{
		Use:   "gaps",
		Short: "List questions that no note answers",
		Long: `List what was asked and is not answered, the most wanted first. Each question
is asked again with the gate, so that a note that was written since closes it.
A search that finds nothing, or that the gate holds back, leaves a gap.`,
		Example: `  anamnesis gaps
  anamnesis gaps --min-sessions 1 --global
  anamnesis gaps close "certificate proxy rotate"`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.gaps(cmd.Context(), o) },
	}
	list := &cobra.Command{
		Use: "list", Short: "List questions that no note answers", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.gaps(cmd.Context(), o) },
	}
	for _, c := range []*cobra.Command{cmd, list} {
		f := c.Flags()
		f.BoolVar(&o.global, "global", false, "of all projects (default: of this folder's project)")
		f.IntVar(&o.sessions, "min-sessions", 2, "asked in at least that many sessions")
		f.IntVar(&o.limit, "limit", 20, "gaps at most; 0 means all")
		f.BoolVar(&o.weak, "weak", false, "questions that were hardly answered, too")
		f.BoolVar(&o.resolved, "resolved", false, "those that a note answers by now, too")
	}
	cmd.AddCommand(list, newGapsClose(p))
	return cmd
}

func (p *program) gaps(ctx context.Context, o gapOptions) error {
	if o.sessions < 1 || o.limit < 0 {
		return usage("gaps: --min-sessions is at least 1, --limit at least 0")
	}
	m, err := p.openWalked(ctx)
	if err != nil {
		return err
	}
	defer m.close()
	q, _, err := o.query(ctx, m, "")
	if err != nil {
		return err
	}
	gaps, err := m.Engine.Gaps(ctx, recall.GapOptions{MinSessions: o.sessions, Limit: o.limit, Weak: o.weak, Resolved: o.resolved, Ask: q})
	if err != nil {
		return err
	}
	if p.json {
		return p.emit(struct {
			header
			MinSessions int          `json:"min_sessions"`
			Total       int          `json:"total_gaps"`
			Gaps        []recall.Gap `json:"repeat_gaps"`
		}{head("gaps"), o.sessions, len(gaps), append([]recall.Gap{}, gaps...)})
	}
	for _, g := range gaps {
		state := ""
		if g.Weak {
			state = "  hardly answered"
		}
		if g.ResolvedBy != "" {
			state = "  answered by " + string(g.ResolvedBy)
		}
		p.printf("%s, %s, last %s: %s%s\n   words: %s\n", plural(g.Sessions, "session"), plural(g.Asks, "time"), date(g.Last), firstLine(g.Query, 120), state, printable(g.Terms))
	}
	if len(gaps) == 0 {
		p.note("no gaps that were asked for in %s", plural(o.sessions, "session"))
	}
	return nil
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
			m, err := p.open(cmd.Context(), 0)
			if err != nil {
				return err
			}
			defer m.close()
			words := strings.Join(args, " ")
			g, err := m.Engine.CloseGap(cmd.Context(), words)
			if errors.Is(err, recall.ErrNoGap) {
				return &app.Error{Kind: app.NotFound, Err: err}
			}
			if err != nil {
				return err
			}
			if p.json {
				return p.emit(struct {
					header
					Query string `json:"query"`
					Words string `json:"normalized"`
				}{head("gaps close"), g.Query, g.Terms})
			}
			p.printf("gaps: closed %q\n", firstLine(g.Query, 120))
			return nil
		},
	}
}
