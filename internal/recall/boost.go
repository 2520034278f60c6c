package recall

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// A boost nudges a hit by something other than relevance. Its factor is
// 1 + alpha·(norm − 0.5), so that a norm of one half is neutral and no signal
// can do more than alpha says (R8).
type boost struct {
	id    string // feature
	name  string
	alpha func(*Tuning) *float64
	norm  func(*Hit, Query, boostInput) float64 // 0 to 1
}

// boostInput is what boosts use besides the hit.
type boostInput struct {
	now    time.Time
	recent bool // the question asks for what is so now

	counters map[note.ID]store.Tally // of the hits
}

// fewVerdicts is how many sessions count as having shown nothing yet, besides those that
// showed whether a note helped: one session proves little.
const fewVerdicts = 4

// boosts lists the boosts, in the order in which explanations show them.
var boosts = []boost{
	{"S3", "confidence", func(t *Tuning) *float64 { return &t.ConfidenceAlpha }, func(h *Hit, _ Query, _ boostInput) float64 {
		return clamp01((h.Row.Confidence - 0.3) / 0.6)
	}},
	{"R8", "recency", func(t *Tuning) *float64 { return &t.RecencyAlpha }, func(h *Hit, _ Query, c boostInput) float64 {
		return recency(h.Row.Effective(), c.now)
	}},
	{"R8", "tags", func(t *Tuning) *float64 { return &t.TagAlpha }, func(h *Hit, q Query, _ boostInput) float64 {
		return shared(q.Boost, h.Row.Tags)
	}},
	{"S4", "proof", func(t *Tuning) *float64 { return &t.ProofAlpha }, func(h *Hit, _ Query, _ boostInput) float64 {
		if h.Row.Proofs < 1 {
			return 0.5
		}
		return clamp01(0.5 + math.Log(float64(h.Row.Proofs))/10)
	}},
	{"A4", "follow-up", func(t *Tuning) *float64 { return &t.FollowUpAlpha }, func(h *Hit, _ Query, c boostInput) float64 {
		t := c.counters[h.Row.ID]
		return clamp01(0.5 + float64(t.Used-t.Unused-2*t.Opposed)/float64(2*(max(0, t.Used)+max(0, t.Unused)+2*t.Opposed+fewVerdicts)))
	}},
	{"R16", "project", func(t *Tuning) *float64 { return &t.ProjectAlpha }, func(h *Hit, q Query, _ boostInput) float64 {
		if q.Project != "" && q.Project == h.Row.Project {
			return 1
		}
		return 0.5
	}},
	{"SG3", "speculative", func(t *Tuning) *float64 { return &t.SpeculativeAlpha }, func(h *Hit, _ Query, _ boostInput) float64 {
		if h.Row.Speculative {
			return 0
		}
		return 0.5
	}},
}

// Boosts lists the names of the boosts, those of one feature when one is given.
func Boosts(feature string) (names []string) {
	for _, b := range boosts {
		if feature == "" || feature == b.id {
			names = append(names, b.name)
		}
	}
	return names
}

// Boost gives the boosts that are named their alphas of Tuned, and all others none.
func (t *Tuning) Boost(names []string) {
	tuned := Tuned()
	for _, b := range boosts {
		*b.alpha(t) = 0
		if slices.Contains(names, b.name) {
			*b.alpha(t) = *b.alpha(&tuned)
		}
	}
}

// Boosting lists the names of the boosts that count.
func (t *Tuning) Boosting() []string {
	return slices.DeleteFunc(Boosts(""), func(name string) bool {
		at := slices.IndexFunc(boosts, func(b boost) bool { return b.name == name })
		return *boosts[at].alpha(t) == 0
	})
}

// All boosts together change a score by no more than these factors.
const (
	leastBoost = 0.6
	mostBoost  = 1.6
)

// boost applies the boosts. They break ties; they cannot make an answer of
// something else, and they never open the gate, which was asked before.
func (e *Engine) boost(ctx context.Context, q Query, hits []*Hit, res *Result) []*Hit {
	c := boostInput{now: e.store.Now(), recent: res.Recent}
	if e.opts.FollowUpAlpha > 0 && len(hits) > 1 && !q.reading { // where evidence decides, the order does not matter
		ids := make([]note.ID, len(hits))
		for i, h := range hits {
			ids[i] = h.Row.ID
		}
		var err error
		if c.counters, err = e.index.Counters(ctx, ids); err != nil {
			res.Failed = append(res.Failed, fmt.Sprintf("counters: %v; it does not count whether notes were used", err))
		}
	}
	for _, h := range hits {
		product := 1.0
		for _, b := range boosts {
			alpha := min(max(*b.alpha(&e.opts.Tuning), 0), 2)
			if b.name == "recency" && c.recent {
				alpha = min(2*alpha, 2)
			}
			if alpha == 0 {
				continue
			}
			factor := 1 + alpha*(b.norm(h, q, c)-0.5)
			factor = min(max(product*factor, leastBoost), mostBoost) / product
			product *= factor
			h.times(b.name, factor)
		}
	}
	order(hits)
	return hits
}

func clamp01(x float64) float64 {
	if math.IsNaN(x) {
		return 0.5
	}
	return min(max(x, 0), 1)
}

// recency is 1 for a note of now, less by the day, 0.1 after a year, and 0.5
// for one without a date.
func recency(t, now time.Time) float64 {
	if t.IsZero() {
		return 0.5
	}
	return max(0.1, min(1, 1-now.Sub(t).Hours()/24/365))
}

// shared is the share of the tags asked for that a note has, 0.5 when none were asked for.
func shared(asked, has []string) float64 {
	if len(asked) == 0 {
		return 0.5
	}
	n := 0
	for _, a := range asked {
		for _, t := range has {
			if strings.EqualFold(a, t) {
				n++
				break
			}
		}
	}
	return float64(n) / float64(len(asked))
}
