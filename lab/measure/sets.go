package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"anamnesis/internal/app"
	"anamnesis/internal/recall"
	"anamnesis/internal/store/layout"
	"anamnesis/lab/quality"
)

// setFlags are the flags of a set of questions.
func setFlags(f *flag.FlagSet, k int) *quality.SetOptions {
	o := new(quality.SetOptions)
	f.StringVar(&o.Corpus, "corpus", "", "`file` of notes, one JSON object a line")
	f.StringVar(&o.Queries, "queries", "", "`file` of questions, one JSON object a line")
	f.IntVar(&o.K, "k", k, "notes per question, up to 100")
	return o
}

// retrieval writes what was found for each question of a set.
func retrieval(f *flag.FlagSet) action {
	o := setFlags(f, 50)
	out := f.String("out", "", "`file` to write; - is standard output")
	f.BoolVar(&o.Gate, "gate", false, "let the gate hold back questions that the notes do not answer")
	return func(ctx context.Context, h app.Host, _ []string) (any, func(io.Writer), error) {
		if *out == "" {
			return nil, nil, app.Errorf(app.Usage, "retrieval: -corpus, -queries and -out are needed")
		}
		r, run, err := quality.RunSet(ctx, h, *o)
		if err != nil {
			return nil, nil, err
		}
		if *out == "-" {
			return run, func(w io.Writer) { _ = run.Write(w, r.Queries) }, nil
		}
		if err := writeRun(run, r.Queries, *out); err != nil {
			return nil, nil, fmt.Errorf("write %s: %w", *out, err)
		}
		h.Notify(fmt.Sprintf("%s asked of %s, %d held back; %s",
			app.Plural(len(r.Queries), "question"), app.Plural(len(r.Corpus), "note"), run.Gated, *out))
		return nil, nil, nil
	}
}

// writeRun writes a run at once or not at all.
func writeRun(run *quality.Run, queries []quality.Question, name string) error {
	f, err := os.CreateTemp(filepath.Dir(name), layout.TempPrefix+"*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	if err := errors.Join(run.Write(f, queries), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

// ablate asks the questions of a set with each arm and feature off in turn.
func ablate(f *flag.FlagSet) action {
	o := setFlags(f, 10)
	qrels := f.String("qrels", "", "`file` of query, document and relevance between tabs")
	return func(ctx context.Context, h app.Host, _ []string) (any, func(io.Writer), error) {
		a, err := quality.RunAblation(ctx, h, *o, *qrels)
		return a, func(w io.Writer) {
			fmt.Fprintf(w, "%-32s %7s %8s  %6s %6s %6s %8s %6s  %s\n", "", "differs", "p50 ms", "hit@1", "hit@5", "hit@8", "recall@5", "MRR",
				"recall@5 against the first")
			for _, r := range a.Rows {
				fmt.Fprintf(w, "%-32s %7d %8.2f", r.Name, r.Differs, r.MS)
				if s := r.Score; s != nil {
					fmt.Fprintf(w, "  %6.4f %6.4f %6.4f %8.4f %6.4f  %+.4f (%d better, %d worse, p %.3f)",
						s.Hit1, s.Hit5, s.Hit8, s.Recall5, s.MRR, r.Recall5.Difference, r.Recall5.Better, r.Recall5.Worse, r.Recall5.P)
				}
				fmt.Fprintln(w)
			}
		}, err
	}
}

// gate measures what the gate holds back.
func gate(f *flag.FlagSet) action {
	o := setFlags(f, recall.DefaultK)
	strangers := f.String("strangers", "", "`file` of questions that the notes do not answer")
	return func(ctx context.Context, h app.Host, _ []string) (any, func(io.Writer), error) {
		if *strangers == "" {
			return nil, nil, app.Errorf(app.Usage, "gate: -corpus, -queries and -strangers are needed")
		}
		g, err := quality.RunGate(ctx, h, *o, *strangers)
		return g, func(w io.Writer) {
			low, high := quality.Interval(g.Kept, g.Own)
			fmt.Fprintf(w, "own questions kept:  %.4f  [%.4f, %.4f] of %d\n", g.Kept, low, high, g.Own)
			low, high = quality.Interval(g.Answered, g.Strangers)
			fmt.Fprintf(w, "strangers answered:  %.4f  [%.4f, %.4f] of %d\n", g.Answered, low, high, g.Strangers)
		}, err
	}
}
