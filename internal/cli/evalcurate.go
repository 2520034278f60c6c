package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"anamnesis/internal/app"
	"anamnesis/internal/eval"

	"github.com/spf13/cobra"
)

func newEvalCurate(p *program) *cobra.Command {
	var o ownOptions
	var confirm, reject []string
	cmd := &cobra.Command{
		Use:   "curate",
		Short: "Confirm or reject proposed questions",
		Long: `Show each candidate with the notes it should find, and ask: y confirms it, n rejects it
for good, e puts it in other words, s leaves it for later, q ends. Without a terminal it
lists them; --confirm and --reject decide by the question's words.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.evalCurate(cmd.Context(), o, confirm, reject) },
	}
	o.addFlags(cmd, false)
	cmd.Flags().StringArrayVar(&confirm, "confirm", nil, "confirm the candidate with this `QUESTION` (may be repeated)")
	cmd.Flags().StringArrayVar(&reject, "reject", nil, "reject the candidate with this `QUESTION` (may be repeated)")
	return cmd
}

func (p *program) evalCurate(ctx context.Context, o ownOptions, confirm, reject []string) error {
	m, err := p.openWalked(ctx)
	if err != nil {
		return err
	}
	defer m.close()
	file := m.evalSet(o.set)
	cases, warnings, err := eval.Candidates(file, eval.Titles(ctx, m.Index))
	if err != nil {
		return missing("eval curate", file, err)
	}
	for _, w := range warnings {
		p.note("eval curate: warning: %s", w)
	}
	var decisions []eval.Decision
	for _, d := range []struct {
		queries []string
		verdict eval.Verdict
	}{{confirm, eval.Confirm}, {reject, eval.Reject}} {
		for _, q := range d.queries {
			if !slices.ContainsFunc(cases, func(c eval.Case) bool { return c.Query == q }) {
				return &app.Error{Kind: app.NotFound, Err: fmt.Errorf("eval curate: there is no candidate %q in %s", q, file)}
			}
			decisions = append(decisions, eval.Decision{Query: q, Verdict: d.verdict})
		}
	}
	if len(decisions) == 0 && terminal(p.stdin) && !p.json {
		decisions = p.askCases(cases)
	}
	if len(decisions) == 0 {
		return p.listCases(cases)
	}
	done, err := eval.Curate(file, decisions)
	if err != nil {
		return err
	}
	if p.json {
		return p.emit(struct {
			header
			eval.Curated
		}{head("eval"), done})
	}
	p.printf("eval curate: %d confirmed, %d rejected, %d edited, %d left\n", done.Confirmed, done.Rejected, done.Edited, len(cases)-done.Confirmed-done.Rejected-done.Edited)
	return nil
}

func (p *program) listCases(cases []eval.Case) error {
	if p.json {
		return p.emit(struct {
			header
			Candidates []eval.Case `json:"candidates"`
		}{head("eval"), append([]eval.Case{}, cases...)})
	}
	for _, c := range cases {
		p.printf("%s\n", firstLine(c.Query, 200))
		for i, id := range c.RelevantIDs {
			title := ""
			if i < len(c.NoteTitles) {
				title = c.NoteTitles[i]
			}
			p.printf("  %s  %s\n", id, firstLine(title, 80))
		}
	}
	if len(cases) == 0 {
		p.note("no candidate waits; `anamnesis eval build` proposes some")
	}
	return nil
}

// askCases asks a person about each candidate.
func (p *program) askCases(cases []eval.Case) (decisions []eval.Decision) {
	in := bufio.NewReader(p.stdin)
	for i, c := range cases {
		fmt.Fprintf(p.stderr, "\n%d of %d: %s\n", i+1, len(cases), paint(p.colours(p.stderr), bold, firstLine(c.Query, 200)))
		for k, id := range c.RelevantIDs {
			if k < len(c.NoteTitles) {
				fmt.Fprintf(p.stderr, "  finds %s  %s\n", id, firstLine(c.NoteTitles[k], 80))
			}
		}
		fmt.Fprint(p.stderr, "right? [y]es [n]o [e]dit [s]kip [q]uit ")
		line, err := in.ReadString('\n')
		d := eval.Decision{Query: c.Query, Verdict: eval.Skip}
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "y", "yes":
			d.Verdict = eval.Confirm
		case "n", "no":
			d.Verdict = eval.Reject
		case "e", "edit":
			fmt.Fprint(p.stderr, "the question: ")
			if text, _ := in.ReadString('\n'); strings.TrimSpace(text) != "" {
				d.Verdict, d.Edited = eval.Edit, strings.TrimSpace(text)
			}
		case "q", "quit":
			return decisions
		}
		decisions = append(decisions, d)
		if errors.Is(err, io.EOF) {
			return decisions
		}
	}
	return decisions
}
