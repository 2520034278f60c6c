package recall

import (
	"context"
	"fmt"
	"math"
)

// A Gate is what the relevance gate saw and decided (R7).
type Gate struct {
	Open      bool    `json:"open"`
	Kind      string  `json:"kind"` // calibrated, prior, overlap
	Signal    float64 `json:"signal"`
	Threshold float64 `json:"threshold"`
	Reason    string  `json:"reason"`
}

// gated is how many of the best hits the gate looks at.
const gated = 5

// The signal of the gate: what the reranker thinks of the best hit, how near
// the nearest of the best is in meaning, and how much of the question is
// covered in absolute terms, because three rare words say more than one. The
// last two are what the reranker, which compares hits of one question, need
// not know.
const (
	signalCosine = 10.0
	signalRaw    = 0.4
)

// signal is the relevance of hits to a question, in units of the reranker's
// sum. What it means depends on the store: see Calibrate.
func signal(hits []*Hit, res *Result) float64 {
	if len(hits) == 0 {
		return 0
	}
	best, cosine := math.Inf(-1), 0.0
	var top *Hit
	for _, h := range hits[:min(len(hits), gated)] {
		if s := h.features.sum(); s > best {
			best, top = s, h
		}
		cosine = max(cosine, h.Cosine)
	}
	weight := 0.0
	for _, t := range res.Terms {
		weight += t.Weight
	}
	return best + signalCosine*cosine + signalRaw*weight*top.features[fFlat]
}

// relevant says whether the hits are about the question at all. It is asked
// about the question as it was put, before any boost.
func (e *Engine) relevant(ctx context.Context, q Query, hits []*Hit, res *Result) bool {
	if !q.Gate || len(hits) == 0 || stubbed("R7") {
		return true
	}
	g := &Gate{}
	res.Gate = g
	if q.MinOverlap > 0 {
		g.Kind, g.Threshold = "overlap", q.MinOverlap
		for _, h := range hits[:min(len(hits), gated)] {
			g.Signal = max(g.Signal, h.Coverage)
		}
		g.Open = g.Signal >= g.Threshold || len(res.Terms) == 0
		g.Reason = fmt.Sprintf("the best of the first %d holds %.0f %% of the question by weight, %.0f %% are due", gated, 100*g.Signal, 100*g.Threshold)
		return g.Open
	}
	if !e.opts.CalibratedGate {
		res.Gate = nil
		return true
	}
	c := e.calibration(ctx, q)
	g.Kind, g.Threshold = c.kind(), c.Threshold
	g.Signal = e.signal(ctx, q, hits, res)
	g.Open = g.Signal >= g.Threshold
	g.Reason = fmt.Sprintf("relevance %.1f, of %.1f that are due (%s)", g.Signal, g.Threshold, c.describe())
	return g.Open
}

// signal is the signal of the hits. Where the reranker was off, they are read
// for it now.
func (e *Engine) signal(ctx context.Context, q Query, hits []*Hit, res *Result) float64 {
	if !e.opts.Rerank {
		e.read(ctx, q, hits[:min(len(hits), reranked)], res)
	}
	return signal(hits, res)
}
