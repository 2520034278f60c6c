package recall

import (
	"context"
	"fmt"

	"anamnesis/internal/index"
	"anamnesis/internal/text/smalltalk"
)

// A Gate is what the relevance gate saw and decided (R7).
type Gate struct {
	Open      bool    `json:"open"`
	Kind      string  `json:"kind"` // calibrated, prior, overlap, small talk
	Signal    float64 `json:"signal"`
	Threshold float64 `json:"threshold"`
	Reason    string  `json:"reason"`
}

// fixedGate is the kind of a gate with a share of words that was set.
const fixedGate = "overlap"

// smallTalk says whether a text asks nothing: it is an acknowledgement, a greeting, or
// tells an agent to go on. The gate is shut then, whatever words notes hold, and the
// question is no gap.
func (e *Engine) smallTalk(q Query, res *Result) bool {
	if !q.Gate || q.MinOverlap <= 0 && !e.opts.CalibratedGate || smalltalk.Subject(q.Text) {
		return false
	}
	res.Gate = &Gate{Kind: "small talk", Reason: "the text has no subject"}
	return true
}

// relevant says whether the hits are about the question at all. It is asked
// about the question as it was put, before any boost.
func (e *Engine) relevant(ctx context.Context, q Query, hits []*Hit, res *Result) bool {
	if !q.Gate || len(hits) == 0 {
		return true
	}
	if e.expands(q) {
		hits, res.weighed = e.withoutHyDE(ctx, q, res)
	}
	g := &Gate{}
	res.Gate = g
	if q.MinOverlap > 0 {
		g.Kind, g.Threshold = fixedGate, q.MinOverlap
		for _, h := range hits[:min(len(hits), gated)] {
			g.Signal = max(g.Signal, h.Coverage)
		}
		g.Open = g.Signal >= g.Threshold || len(res.Terms) == 0
		g.Reason = fmt.Sprintf("the best of the first %d holds %.0f %% of the question by weight, %.0f %% are due", gated, 100*g.Signal,
			100*g.Threshold)
		return g.Open
	}
	if !e.opts.CalibratedGate {
		res.Gate = nil
		return true
	}
	c := e.calibration(ctx, q)
	g.Kind, g.Threshold = c.kind(), c.Threshold
	if !e.expands(q) {
		e.readUnranked(ctx, q, hits, res)
	}
	g.Signal = toOpen.of(hits, res)
	g.Open = g.Signal >= g.Threshold
	g.Reason = fmt.Sprintf("relevance %.1f, of %.1f that are due (%s)", g.Signal, g.Threshold, c.describe())
	return g.Open
}

// withoutHyDE returns what the question finds without an invented answer (HyDE), read by
// the built-in reader, and its terms as the gate weighs them: a text that a model wrote must not decide
// whether there is an answer. That costs the arms and the reading once more, which is
// little beside the model.
func (e *Engine) withoutHyDE(ctx context.Context, q Query, res *Result) ([]*Hit, []index.Term) {
	q.asPut = true
	plain := &Result{Window: res.Window, Recent: res.Recent}
	lists, err := e.ask(ctx, q, plain)
	if err != nil {
		res.Failed = append(res.Failed, fmt.Sprintf("gate: %v", err))
		return nil, nil
	}
	hits := e.fuse(lists)
	hits = e.read(ctx, q, hits[:min(len(hits), reranked)], plain)
	return hits, plain.weighed
}

// readUnranked reads hits for the gate where the reranker was off.
func (e *Engine) readUnranked(ctx context.Context, q Query, hits []*Hit, res *Result) {
	if !e.opts.Rerank {
		e.read(ctx, q, hits[:min(len(hits), reranked)], res)
	}
}
