package cli

import (
	"anamnesis/internal/app"
	"anamnesis/internal/eval"
	"anamnesis/internal/recall"

	"github.com/spf13/cobra"
)

type ablateOptions struct {
	evalOptions
	qrels string
}

func newEvalAblate(p *program) *cobra.Command {
	var o ablateOptions
	cmd := &cobra.Command{
		Use:   "ablate --corpus C.jsonl --queries Q.jsonl [--qrels R.tsv]",
		Short: "Ask the questions of a set with each arm and feature off in turn",
		Long: `Make a store of a corpus once, and ask all questions: as the settings are, then
with each arm and each feature of retrieval switched off. With --qrels, lines of
query, document and relevance, it prints how well each does, and how it differs
from the first question by question: the difference of recall@5, on how many
questions it does better and worse, and the p of the sign test. Without, it
prints on how many questions the answer differs.`,
		Example: `  anamnesis eval ablate --corpus corpus.jsonl --queries queries.jsonl --qrels qrels.tsv`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, err := app.EvalAblate(cmd.Context(), p.host(), o.SetOptions, o.qrels)
			return render(p, "eval ablate", a, err, p.printAblation)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Corpus, "corpus", "", "file of notes, one JSON object a line")
	f.StringVar(&o.Queries, "queries", "", "file of questions, one JSON object a line")
	f.StringVar(&o.qrels, "qrels", "", "file of query, document and relevance between tabs")
	f.IntVar(&o.K, "k", 10, "notes per question, up to 100")
	return cmd
}

func (p *program) printAblation(a app.AblationAnswer) {
	p.printf("%-32s %7s %8s  %6s %6s %6s %8s %6s  %s\n", "", "differs", "p50 ms", "hit@1", "hit@5", "hit@8", "recall@5", "MRR",
		"recall@5 against the first")
	for _, r := range a.Rows {
		p.printf("%-32s %7d %8.2f", r.Name, r.Differs, r.MS)
		if s := r.Score; s != nil {
			p.printf("  %6.4f %6.4f %6.4f %8.4f %6.4f  %+.4f (%d better, %d worse, p %.3f)", s.Hit1, s.Hit5, s.Hit8, s.Recall5, s.MRR,
				r.Recall5.Difference, r.Recall5.Better, r.Recall5.Worse, r.Recall5.P)
		}
		p.printf("\n")
	}
}

func newEvalGate(p *program) *cobra.Command {
	var o evalOptions
	var strangers string
	cmd := &cobra.Command{
		Use:   "gate --corpus C.jsonl --queries Q.jsonl --strangers S.jsonl",
		Short: "Measure what the gate holds back",
		Long: `Make a store of a corpus, ask its own questions and strangers that none of the
notes answers, both with the gate, and print how many of the first are kept and
how many of the second are answered, with 95 % intervals.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.evalGate(cmd, o, strangers) },
	}
	f := cmd.Flags()
	f.StringVar(&o.Corpus, "corpus", "", "file of notes, one JSON object a line")
	f.StringVar(&o.Queries, "queries", "", "file of questions that the notes answer")
	f.StringVar(&strangers, "strangers", "", "file of questions that they do not")
	f.IntVar(&o.K, "k", recall.DefaultK, "notes per question, up to 100")
	return cmd
}

func (p *program) evalGate(cmd *cobra.Command, o evalOptions, strangers string) error {
	if strangers == "" {
		return usage("eval gate: --corpus, --queries and --strangers are needed")
	}
	g, err := app.EvalGate(cmd.Context(), p.host(), o.SetOptions, strangers)
	return render(p, "eval gate", g, err, func(g eval.Gate) {
		low, high := eval.Interval(g.Kept, g.Own)
		p.printf("own questions kept:  %.4f  [%.4f, %.4f] of %d\n", g.Kept, low, high, g.Own)
		low, high = eval.Interval(g.Answered, g.Strangers)
		p.printf("strangers answered:  %.4f  [%.4f, %.4f] of %d\n", g.Answered, low, high, g.Strangers)
	})
}
