package recall

import (
	"context"
	"fmt"
	"math"

	"anamnesis/internal/index"
)

// maxWindow bounds how many notes of a window are looked at, the newest first.
const maxWindow = 2000

// temporal finds the notes of the time that the question speaks of, those that
// share words with the rest of the question first, then those nearest to the
// middle of the window (R5).
func (e *Engine) temporal(ctx context.Context, q Query, res *Result, _ []list) ([]*Hit, error) {
	w := res.Window
	f := e.filter(q)
	f.From, f.To = w.From, w.To
	rows, err := e.index.Select(ctx, f, maxWindow)
	if err != nil {
		return nil, err
	}
	m, err := e.index.Ask(ctx, w.Rest, f, e.opts.Candidates)
	if err != nil {
		return nil, err
	}
	s := newScorer(e.opts, m, nil, nil)
	covered := make(map[int64]float64, len(m.Candidates))
	for i := range m.Candidates {
		c := &m.Candidates[i]
		covered[c.Key] = max(covered[c.Key], s.countTerms(c))
	}
	middle := w.From.Add(w.To.Sub(w.From) / 2)
	half := w.To.Sub(w.From).Seconds() / 2
	hits := make([]*Hit, 0, len(rows))
	for _, r := range rows {
		proximity := 1.0
		if half > 0 {
			proximity = 1 - min(1, math.Abs(r.Effective().Sub(middle).Seconds())/half)
		}
		h := &Hit{Row: r, Coverage: covered[r.Key]}
		norm := (h.Coverage + proximity) / 2
		h.add(fmt.Sprintf("in %s", w.Phrase), h.Coverage+proximity/1000)
		h.Found = map[string]Found{"temporal": {Score: h.score, Norm: norm, Why: w.Phrase}}
		hits = append(hits, h)
	}
	order(hits)
	hits = hits[:min(len(hits), q.pool())]
	for i, h := range hits {
		found := h.Found["temporal"]
		found.Rank = i + 1
		h.Found["temporal"] = found
	}
	return hits, e.firstPassages(ctx, hits, f)
}

// Who says when, and says it clearly, wants something of that time among what is read
// first, whatever words it uses.
const (
	timedPlace = 3
	clearTime  = 0.8
)

// keepTime puts the best hit of the time that a question clearly speaks of at
// timedPlace, when none stands there or before.
func (e *Engine) keepTime(hits []*Hit, res *Result) []*Hit {
	if res.Window == nil || res.Window.Confidence < clearTime || len(hits) <= timedPlace {
		return hits
	}
	at, rank := -1, 0
	for i, h := range hits {
		f, timed := h.Found["temporal"]
		switch {
		case timed && i < timedPlace:
			return hits
		case timed && (at < 0 || f.Rank < rank):
			at, rank = i, f.Rank
		}
	}
	if at < 0 {
		return hits
	}
	h := hits[at]
	place := hits[timedPlace-1].score
	h.add("of the time asked about: "+res.Window.Phrase, place-h.score)
	h.score = place // exactly: a last digit less, and diversify may put the other before it
	copy(hits[timedPlace:at+1], hits[timedPlace-1:at])
	hits[timedPlace-1] = h
	return hits
}

// firstPassages gives hits without a passage the first one of their note, so
// that the reranker can read it.
func (e *Engine) firstPassages(ctx context.Context, hits []*Hit, f index.Filter) error {
	var keys []int64
	byKey := make(map[int64]*Hit)
	for _, h := range hits {
		if len(h.passages) == 0 {
			keys, byKey[h.Row.Key] = append(keys, h.Row.Key), h
		}
	}
	got, err := e.index.First(ctx, keys, f)
	if err != nil {
		return err
	}
	for _, c := range got {
		h := byKey[c.Key]
		h.passages, h.Start, h.End = append(h.passages, c), c.Start, c.End
	}
	return nil
}
