package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"anamnesis/internal/app"
	"anamnesis/internal/layout"

	"github.com/spf13/cobra"
)

func newEval(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "eval",
		Short: "Measure how well notes are found",
		Long: `Measure how well notes are found: in your own store with questions of yours (build,
curate, run, experiment, history), and on data sets in throw-away stores (retrieval,
ablate, gate, prompts). docs/eval.md is the guide.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usage("eval: specify a subcommand: %s", subcommands(cmd))
		},
	}
	cmd.AddCommand(
		newEvalBuild(p), newEvalCurate(p), newEvalRun(p), newEvalExperiment(p), newEvalHistory(p),
		newEvalRetrieval(p), newEvalAblate(p), newEvalGate(p), newEvalPrompts(p), newEvalLearning(p), newEvalSessions(p),
	)
	return cmd
}

type evalOptions struct {
	app.SetOptions
	out string
}

func newEvalRetrieval(p *program) *cobra.Command {
	var o evalOptions
	cmd := &cobra.Command{
		Use:   "retrieval --corpus C.jsonl --queries Q.jsonl --out RUN.tsv",
		Short: "Ask the questions of a set and write what was found",
		Long: `Make a store of a corpus, ask each question once, as a search does, and write
what came back: query, document, rank and score between tabs, and the time each
question took as a comment.

A line of the corpus is a note: id, title, text; of meta, project or group is
its project, date its time, speaker goes into the text, status and supersedes
are what they are. Of a query, text and meta.group are read; with a group only
its notes are searched.`,
		Example: `  anamnesis eval retrieval --corpus corpus.jsonl --queries queries.jsonl --out run.tsv
  anamnesis eval retrieval --gate --set recall.mmr.on=false --corpus c.jsonl --queries q.jsonl --out -`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.evalRetrieval(cmd.Context(), o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.Corpus, "corpus", "", "file of notes, one JSON object a line")
	f.StringVar(&o.Queries, "queries", "", "file of questions, one JSON object a line")
	f.StringVar(&o.out, "out", "", "file to write; - is standard output")
	f.IntVar(&o.K, "k", 50, "notes per question, up to 100")
	f.BoolVar(&o.Gate, "gate", false, "let the gate hold back questions that the notes do not answer")
	return cmd
}

func (p *program) evalRetrieval(ctx context.Context, o evalOptions) error {
	if o.out == "" {
		return usage("eval retrieval: --corpus, --queries and --out are needed")
	}
	r, run, err := app.EvalRetrieval(ctx, p.host(), o.SetOptions)
	if err != nil {
		return err
	}
	if o.out == "-" {
		return run.Write(p.stdout, r.Queries)
	}
	f, err := os.CreateTemp(filepath.Dir(o.out), layout.TempPrefix+"*")
	if err != nil {
		return fmt.Errorf("write %s: %w", o.out, err)
	}
	defer func() { _ = os.Remove(f.Name()) }()
	if err := errors.Join(run.Write(f, r.Queries), f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", o.out, err)
	}
	if err := os.Rename(f.Name(), o.out); err != nil {
		return fmt.Errorf("write %s: %w", o.out, err)
	}
	p.note("%s asked of %s, %d held back; %s", plural(len(r.Queries), "question"), plural(len(r.Corpus), "note"), run.Gated, o.out)
	return nil
}

// subcommands lists the names of a command's subcommands.
func subcommands(cmd *cobra.Command) string {
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() && c.Name() != "help" {
			names = append(names, c.Name())
		}
	}
	return strings.Join(names, " | ")
}
