package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/config"
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
		RunE:    func(cmd *cobra.Command, _ []string) error { return p.evalAblate(cmd.Context(), o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.corpus, "corpus", "", "file of notes, one JSON object a line")
	f.StringVar(&o.queries, "queries", "", "file of questions, one JSON object a line")
	f.StringVar(&o.qrels, "qrels", "", "file of query, document and relevance between tabs")
	f.IntVar(&o.k, "k", 10, "notes per question, up to 100")
	return cmd
}

type ablationJSON struct {
	Name    string        `json:"name"`
	Set     []string      `json:"set"`
	Arms    []string      `json:"arms,omitempty"`
	Differs int           `json:"differs"` // questions with another answer
	MS      float64       `json:"p50_ms"`
	Score   *eval.Score   `json:"score,omitempty"`
	Recall5 *eval.Pairing `json:"recall@5,omitempty"`
	MRR     *eval.Pairing `json:"mrr,omitempty"`
}

func (p *program) evalAblate(ctx context.Context, o ablateOptions) error {
	r, err := o.read("eval ablate")
	if err != nil {
		return err
	}
	var judged eval.Judgements
	if o.qrels != "" {
		if judged, err = eval.ReadJudgements(o.qrels); err != nil {
			return err
		}
	}
	variants := ablations()
	bar := p.progress("asking")
	done := 0
	r.Progress = func(int, int) { done++; bar.Step(done, len(variants)*len(r.Queries)) }
	runs, err := r.Runs(ctx, p.sandbox, variants)
	bar.Done()
	if err != nil {
		return err
	}
	shipped := judged.Scores(runs[0], r.Queries)
	var rows []ablationJSON
	for i, run := range runs {
		row := ablationJSON{Name: variants[i].Name, Set: append([]string{}, variants[i].Set...), Arms: variants[i].Arms, Differs: differ(runs[0], run), MS: median(run.Latency)}
		if judged != nil {
			each := judged.Scores(run, r.Queries)
			mean := eval.Mean(each)
			recall5 := eval.Pair(shipped, each, func(s eval.Score) float64 { return s.Recall5 })
			mrr := eval.Pair(shipped, each, func(s eval.Score) float64 { return s.MRR })
			row.Score, row.Recall5, row.MRR = &mean, &recall5, &mrr
		}
		rows = append(rows, row)
	}
	return p.printAblation(len(r.Queries), rows)
}

// read reads the files of a set.
func (o *evalOptions) read(command string) (r eval.Retrieval, err error) {
	switch {
	case o.corpus == "" || o.queries == "":
		return r, usage("%s: --corpus and --queries are needed", command)
	case o.k < 1 || o.k > recall.MaxK:
		return r, usage("%s: --k %d is not from 1 to %d", command, o.k, recall.MaxK)
	}
	r.K = o.k
	if r.Corpus, err = eval.ReadCorpus(o.corpus); err != nil {
		return r, err
	}
	r.Queries, err = eval.ReadQuestions(o.queries)
	return r, err
}

// ablations lists the ways of asking: as it is, without each arm, and without
// each feature of recall that has a switch.
func ablations() []eval.Variant {
	all := []eval.Variant{{Name: "as set"}}
	for _, arm := range recall.Arms() {
		rest := slices.DeleteFunc(recall.Sources(), func(a string) bool { return a == arm })
		all = append(all, eval.Variant{Name: "without arm " + arm, Arms: rest})
	}
	for _, f := range config.Features() {
		if !strings.HasPrefix(f.Home, "recall/") {
			continue
		}
		var off []string
		for _, s := range f.Settings {
			switch {
			case s.Default == "true":
				off = append(off, s.Key+"=false")
			case strings.HasPrefix(s.Key, "recall.boost."):
				off = append(off, s.Key+"=0")
			}
		}
		if len(off) > 0 {
			all = append(all, eval.Variant{Name: "without " + f.ID + " " + f.Name, Set: off})
		}
	}
	return append(all, eval.Variant{
		Name: "words alone", Arms: []string{"lexical"}, Set: []string{"recall.rerank.on=false", "recall.mmr.on=false", "recall.boost.recency=0", "recall.boost.confidence=0"},
	})
}

// differ app.Counts the questions whose first five documents are not the same.
func differ(a, b *eval.Run) (n int) {
	head := func(r *eval.Run) map[string]string {
		got := make(map[string]string)
		for _, f := range r.Found {
			if f.Rank <= 5 {
				got[f.Query] += f.Document + "\n"
			}
		}
		return got
	}
	x, y := head(a), head(b)
	for q, docs := range x {
		if y[q] != docs {
			n++
		}
	}
	for q := range y {
		if _, ok := x[q]; !ok {
			n++
		}
	}
	return n
}

func median(all []time.Duration) float64 {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(all))
	return float64(sorted[len(sorted)/2].Microseconds()) / 1000
}

func (p *program) printAblation(questions int, rows []ablationJSON) error {
	if p.json {
		return p.emit(struct {
			header
			Questions int            `json:"questions"`
			Rows      []ablationJSON `json:"results"`
		}{head("eval ablate"), questions, rows})
	}
	p.printf("%-32s %7s %8s  %6s %6s %6s %8s %6s  %s\n", "", "differs", "p50 ms", "hit@1", "hit@5", "hit@8", "recall@5", "MRR", "recall@5 against the first")
	for _, r := range rows {
		p.printf("%-32s %7d %8.2f", r.Name, r.Differs, r.MS)
		if s := r.Score; s != nil {
			p.printf("  %6.4f %6.4f %6.4f %8.4f %6.4f  %+.4f (%d better, %d worse, p %.3f)", s.Hit1, s.Hit5, s.Hit8, s.Recall5, s.MRR,
				r.Recall5.Difference, r.Recall5.Better, r.Recall5.Worse, r.Recall5.P)
		}
		p.printf("\n")
	}
	return nil
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
		RunE: func(cmd *cobra.Command, _ []string) error { return p.evalGate(cmd.Context(), o, strangers) },
	}
	f := cmd.Flags()
	f.StringVar(&o.corpus, "corpus", "", "file of notes, one JSON object a line")
	f.StringVar(&o.queries, "queries", "", "file of questions that the notes answer")
	f.StringVar(&strangers, "strangers", "", "file of questions that they do not")
	f.IntVar(&o.k, "k", recall.DefaultK, "notes per question, up to 100")
	return cmd
}

func (p *program) evalGate(ctx context.Context, o evalOptions, strangers string) error {
	if strangers == "" {
		return usage("eval gate: --corpus, --queries and --strangers are needed")
	}
	r, err := o.read("eval gate")
	if err != nil {
		return err
	}
	others, err := eval.ReadQuestions(strangers)
	if err != nil {
		return err
	}
	bar := p.progress("asking")
	done := 0
	r.Progress = func(int, int) { done++; bar.Step(done, len(r.Queries)+len(others)) }
	g, err := r.MeasureGate(ctx, p.sandbox, others)
	bar.Done()
	if err != nil {
		return err
	}
	if p.json {
		return p.emit(struct {
			header
			eval.Gate
		}{head("eval gate"), g})
	}
	low, high := eval.Interval(g.Kept, g.Own)
	p.printf("own questions kept:  %.4f  [%.4f, %.4f] of %d\n", g.Kept, low, high, g.Own)
	low, high = eval.Interval(g.Answered, g.Strangers)
	p.printf("strangers answered:  %.4f  [%.4f, %.4f] of %d\n", g.Answered, low, high, g.Strangers)
	return nil
}
