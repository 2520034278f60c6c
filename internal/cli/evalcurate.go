package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"anamnesis/internal/app"
	"anamnesis/internal/app/curate"
	"anamnesis/internal/eval"

	"github.com/spf13/cobra"
)

func newEvalCurate(p *program) *cobra.Command {
	var o curate.CaseOptions
	var confirm, reject []string
	cmd := &cobra.Command{
		Use:   "curate",
		Short: "Confirm or reject proposed questions",
		Long: `Show each candidate with the notes it should find, and ask: y confirms it, n rejects it
for good, e puts it in other words, s leaves it for later, q ends. Without a terminal it
lists them; --confirm and --reject decide by the question's words.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.evalCurate(cmd, o.File, confirm, reject) },
	}
	caseFlags(cmd, &o, false)
	cmd.Flags().StringArrayVar(&confirm, "confirm", nil, "confirm the candidate with this `QUESTION` (may be repeated)")
	cmd.Flags().StringArrayVar(&reject, "reject", nil, "reject the candidate with this `QUESTION` (may be repeated)")
	return cmd
}

func (p *program) evalCurate(cmd *cobra.Command, file string, confirm, reject []string) error {
	r, err := app.OpenWalked(cmd.Context(), p.host())
	if err != nil {
		return err
	}
	defer r.Close()
	a, err := curate.EvalCandidates(cmd.Context(), r, file)
	if err != nil {
		return err
	}
	decisions, err := a.Decide(confirm, reject)
	if err != nil {
		return err
	}
	if len(decisions) == 0 && terminal(p.stdin) && !p.json {
		decisions = p.askCases(a.Candidates)
	}
	if len(decisions) == 0 {
		return render(p, "eval", a, nil, p.printCandidates)
	}
	done, err := eval.Curate(a.File, decisions)
	return render(p, "eval", done, err, func(done eval.Curated) {
		left := len(a.Candidates) - done.Confirmed - done.Rejected - done.Edited
		p.printf("eval curate: %d confirmed, %d rejected, %d edited, %d left\n", done.Confirmed, done.Rejected, done.Edited, left)
	})
}

func (p *program) printCandidates(a curate.CandidatesAnswer) {
	for _, c := range a.Candidates {
		p.printf("%s\n", firstLine(c.Query, 200))
		for i, id := range c.RelevantIDs {
			title := ""
			if i < len(c.NoteTitles) {
				title = c.NoteTitles[i]
			}
			p.printf("  %s  %s\n", id, firstLine(title, 80))
		}
	}
	if len(a.Candidates) == 0 {
		p.note("no candidate waits; `anamnesis eval build` proposes some")
	}
}

// askCases asks a person about each candidate.
func (p *program) askCases(cases []eval.Case) (decisions []eval.Decision) {
	in := bufio.NewReader(p.stdin)
	for i, c := range cases {
		p.errorf("\n%d of %d: %s\n", i+1, len(cases), paint(p.colours(p.stderr), bold, firstLine(c.Query, 200)))
		for k, id := range c.RelevantIDs {
			if k < len(c.NoteTitles) {
				p.errorf("  finds %s  %s\n", id, firstLine(c.NoteTitles[k], 80))
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
