package recall

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"anamnesis/internal/index"
)

// reranked is how many hits are read together with the question. What stands
// behind them keeps its order.
const reranked = 100

// readAtPrompts is how many are read for one part of a prompt: the notes of a dozen are
// judged further, and an agent waits.
const readAtPrompts = 40

// rerank reads the best hits together with the question and orders them by
// what that says (R2): the built-in reader, or a model that was configured.
// A model that fails, or takes too long, leaves the order of the built-in one.
func (e *Engine) rerank(ctx context.Context, q Query, hits []*Hit, res *Result) []*Hit {
	if !e.opts.Rerank || len(hits) == 0 {
		return hits
	}
	most := reranked
	if q.reading {
		most = readAtPrompts
	}
	head, rest := hits[:min(len(hits), most)], hits[min(len(hits), most):]
	head = e.read(ctx, q, head, res)
	e.scoreHits(ctx, q, head, res)
	res.Reranker = "built-in"
	if m := e.asker(); m != nil {
		if err := e.askReranker(ctx, m, q, res, head); err != nil {
			res.Failed = append(res.Failed, fmt.Sprintf("reranker %s: %v; the built-in one was used", m.Name(), err))
		} else {
			res.Reranker = m.Name()
		}
	}
	least := head[len(head)-1].score
	for _, h := range rest {
		h.replaceScore("not read", least*h.score*1e-3)
	}
	hits = slices.Concat(head, rest)
	for _, h := range hits {
		h.base = h.score
	}
	return hits
}

// scoreHits gives hits the score of their features. The best one's says
// how sure we are that it answers: one half stands where questions begin that
// are none of this store's business, so that scores of two questions, and of
// two stores, can be compared. The others stand behind it as far as their
// features do.
func (e *Engine) scoreHits(ctx context.Context, q Query, hits []*Hit, res *Result) {
	c := e.calibration(ctx, q)
	best := math.Inf(-1)
	for _, h := range hits {
		best = max(best, h.features.sum())
	}
	top := (toScore.of(hits, res) - c.Middle) / SignalScale
	for _, h := range hits {
		logit := top + (h.features.sum()-best)/sumScale
		h.replaceScore("read with the question", sigmoid(max(-maxLogit, min(maxLogit, logit))))
	}
	order(hits)
}

// SignalScale is how many units of the signal of a best hit are one logit of its score.
const SignalScale = 3.5

const (
	maxLogit = 8
	sumScale = 1.5
)

// read fills in the features of hits, and adds the notes that were written in
// the same second as the best of them.
func (e *Engine) read(ctx context.Context, q Query, hits []*Hit, res *Result) []*Hit {
	if len(res.Terms) == 0 { // the lexical arm was not asked
		if m, err := e.index.Ask(ctx, q.Text, e.filter(q), 1); err == nil {
			res.Terms = m.Terms
		}
	}
	m := index.Matches{Terms: res.Terms, Statistics: res.statistics}
	if m.Statistics.Passages == 0 {
		st, err := e.index.Statistics(ctx)
		if err != nil {
			res.Failed = append(res.Failed, fmt.Sprintf("rerank: %v", err))
			return hits
		}
		m.Statistics = st
	}
	res.weighed = e.weigh(m.Terms, m.Statistics.Passages)
	model, question, err := e.question(ctx, q, res, q.Text)
	if err != nil && !errors.Is(err, index.ErrNoModel) {
		res.Failed = append(res.Failed, fmt.Sprintf("rerank: %v", err))
	}
	table, _ := e.tables.Get().(*tokenTable)
	if table == nil {
		table = newTokenTable()
	}
	defer func() {
		table.clear()
		e.tables.Put(table)
	}()
	r := newReader(newScorer(e.opts, m, e.models.Words, table), q.Text, question, index.VectorModel(model))
	for _, h := range hits {
		r.read(h)
	}
	r.addProximity(hits)
	r.addCoverage(hits)
	r.addWording(hits)
	feedback(hits)
	added, err := e.findNeighbours(ctx, q, hits, r)
	if err != nil {
		res.Failed = append(res.Failed, fmt.Sprintf("rerank: %v", err))
	}
	return append(hits, added...)
}

// feedbackHits is how many of the best hits say what a good hit looks like.
const feedbackHits = 4

// feedback compares hits with the mean of the best (Rocchio: Relevance
// Feedback in Information Retrieval, 1971, here on vectors and without asking
// anybody): what an answer is about is shown better by answers than by questions.
func feedback(hits []*Hit) {
	best := byRelevance(hits)
	var mean []float32
	for rank, h := range best[:min(len(best), feedbackHits)] {
		for d, x := range h.vector.Values() {
			if len(mean) <= d {
				mean = append(mean, 0)
			}
			mean[d] += float32(x) * h.vector.Scale() / float32(rank+1)
		}
	}
	sum := 0.0
	for _, x := range mean {
		sum += float64(x) * float64(x)
	}
	if sum == 0 {
		return
	}
	for d := range mean {
		mean[d] /= float32(math.Sqrt(sum))
	}
	for _, h := range hits {
		h.features[fFeedback] = max(0, h.vector.Cosine(mean))
	}
}

// byRelevance returns hits by their relevance, the greatest first.
func byRelevance(hits []*Hit) []*Hit {
	sums := make(map[*Hit]float64, len(hits))
	for _, h := range hits {
		sums[h] = h.features.relevance()
	}
	sorted := slices.Clone(hits)
	slices.SortStableFunc(sorted, func(a, b *Hit) int { return cmp.Compare(sums[b], sums[a]) })
	return sorted
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
