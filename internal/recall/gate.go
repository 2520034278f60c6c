package recall

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"anamnesis/internal/index"
	"anamnesis/internal/smalltalk"
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

// gated is how many of the best hits the gate looks at.
const gated = 5

// gateWeights make one number of the features of the best hit and of absolute
// terms, which the reranker, comparing hits of one question, does not need.
type gateWeights struct {
	features     features // of the best hit
	cosine       float64  // how near the nearest of the best is in meaning
	meanCosine   float64  // and how near they all are
	present      float64  // how much of the question the best contains in absolute terms: three rare words say more than one
	share        float64  // and as a share of all of it
	rarity       float64  // what a word of the question weighs, on average
	unknownShare float64  // against it: the share of the question's words, by weight, that no note knows
	unknown      float64  // what such a word weighs, against its rarity, among the words that are due
}

// Two sets of weights: whether there is an answer at all, and how certain the answer
// is. A question most of whose words occur in no note is about something else, and
// the gate counts that against it. Among questions that could be meant for this
// store such a word is as often a typing error or a synonym, and the score gives it
// little weight (docs/retrieval.md).
//
// The second was fitted to questions put to their own notes and to other notes near to
// them, by logistic regression with a constant for each store, and rounded. It was given
// the deviation of the one before it, and nearly its mean, so that Middle keeps its sense.
var (
	toOpen  = gateWeights{features: relevanceWeights, cosine: 8, present: 0.1, unknownShare: 3, unknown: 0.5}
	toScore = gateWeights{
		features: features{
			fWords: 1.5, fBody: 2.7, fNote: 1.55, fSoft: 4.85, fCoverage: 0.3, fWording: 4.9, fCosine: 1.6, fGraph: 4, fTime: 1,
		},
		cosine: 4.2, meanCosine: 4.4, present: 0.2, share: 3, rarity: 0.47, unknown: 0.25,
	}
)

// of is the relevance of hits to a question, in units of the reranker's sum.
// Its scale depends on the store: see Calibrate. A neighbour that no arm found is no
// answer.
func (w gateWeights) of(hits []*Hit, res *Result) float64 {
	found := make([]*Hit, 0, len(hits))
	for _, h := range hits {
		if len(h.Found) > 0 {
			found = append(found, h)
		}
	}
	if len(found) == 0 {
		return 0
	}
	slices.SortStableFunc(found, func(a, b *Hit) int {
		return cmp.Compare(b.features.relevance(), a.features.relevance())
	})
	top, cosine, mean := found[0], 0.0, 0.0
	for _, h := range found[:min(len(found), gated)] {
		cosine = max(cosine, h.Cosine)
		mean += h.Cosine / gated
	}
	all, unknown, present := 0.0, 0.0, 0.0
	for i, t := range res.weighed {
		all += t.Weight
		if t.Frequency == 0 {
			unknown += t.Weight
		}
		if i < len(top.hasWord) && top.hasWord[i] {
			present += t.Weight
		}
	}
	f := top.features
	unknownShare := 0.0
	if due := all - unknown + w.unknown*unknown; due > 0 {
		unknownShare = unknown / all
		for _, i := range shares {
			f[i] *= all / due
		}
	}
	sum := w.cosine*cosine + w.meanCosine*mean + w.present*present - w.unknownShare*unknownShare
	if all > 0 {
		sum += w.share*present/all + w.rarity*all/float64(len(res.weighed))
	}
	for i, x := range w.features {
		sum += x * f[i]
	}
	return sum
}

// smallTalk says whether a text asks nothing: it is an acknowledgement, a greeting, or
// tells an agent to go on. The gate is shut then, whatever words notes hold, and the
// question is no gap.
func (e *Engine) smallTalk(q Query, res *Result) bool {
	if !q.Gate || q.MinOverlap <= 0 && !e.opts.CalibratedGate || smalltalk.Subject(q.Text) {
		return false
	}
	res.Gate = &Gate{Kind: "small talk", Reason: "the text has no subject of its own"}
	return true
}

// relevant says whether the hits are about the question at all. It is asked
// about the question as it was put, before any boost.
func (e *Engine) relevant(ctx context.Context, q Query, hits []*Hit, res *Result) bool {
	if !q.Gate || len(hits) == 0 {
		return true
	}
	if e.expands(q) {
		hits, res.weighed = e.askAsPut(ctx, q, res)
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

// askAsPut returns what the question finds without an invented answer (HyDE), read by
// the built-in reader, and its terms as the gate weighs them: a text that a model wrote must not decide
// whether there is an answer. That costs the arms and the reading once more, which is
// little beside the model.
func (e *Engine) askAsPut(ctx context.Context, q Query, res *Result) ([]*Hit, []index.Term) {
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
