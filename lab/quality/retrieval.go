package quality

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"time"

	"anamnesis/internal/note"
	"anamnesis/internal/recall"
)

// Retrieval says what a retrieval run measures.
type Retrieval struct {
	Corpus   []Document
	Queries  []Question
	K        int
	Gate     bool     // a question that the gate holds back writes no line
	Arms     []string // ask only these; none means all
	Set      []string // settings, as key=value
	Progress func(done, total int)
}

// A Found is one line of a run.
type Found struct {
	Query, Document string
	Rank            int
	Score           float64
}

// A Run is what a retrieval gave.
type Run struct {
	Found   []Found
	Latency []time.Duration // of each query, in their order
	Gated   int             // questions that the gate held back
	Failed  []string
}

// Run asks each query once, as a search does, in a store that holds nothing
// but the corpus, and returns what came back under the corpus's ids.
func (r Retrieval) Run(ctx context.Context, open Opener) (*Run, error) {
	runs, err := r.Runs(ctx, open, []Variant{{Name: "ask", Arms: r.Arms}})
	if err != nil {
		return nil, err
	}
	return runs[0], nil
}

func (r Retrieval) ask(ctx context.Context, box *Sandbox, names map[note.ID]string) (*Run, error) {
	run := new(Run)
	for i, q := range r.Queries {
		query := recall.Query{Text: q.Text, K: r.K, Gate: r.Gate, Arms: r.Arms, NoCache: true, Synthetic: true}
		if q.Meta.Group != "" {
			query.Projects = []string{q.Meta.Group}
		}
		began := time.Now()
		res, err := box.Engine.Recall(ctx, query)
		if err != nil {
			return nil, fmt.Errorf("ask %s: %w", q.ID, err)
		}
		run.Latency = append(run.Latency, time.Since(began))
		if res.Gate != nil && !res.Gate.Open {
			run.Gated++
		}
		run.Failed = append(run.Failed, res.Failed...)
		for at, h := range res.Hits {
			run.Found = append(run.Found, Found{q.ID, names[h.Row.ID], at + 1, h.Score()})
		}
		if r.Progress != nil {
			r.Progress(i+1, len(r.Queries))
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return run, nil
}

// Write writes a run as lines of query, document, rank and score, between
// tabs, with the time of each query as a comment.
func (run *Run) Write(w io.Writer, queries []Question) error {
	b := bufio.NewWriter(w)
	at := 0
	for i, q := range queries {
		fmt.Fprintf(b, "# latency_ms %s %.3f\n", q.ID, float64(run.Latency[i].Microseconds())/1000)
		for ; at < len(run.Found) && run.Found[at].Query == q.ID; at++ {
			f := run.Found[at]
			fmt.Fprintf(b, "%s\t%s\t%d\t%.6f\n", f.Query, f.Document, f.Rank, f.Score)
		}
	}
	return b.Flush()
}
