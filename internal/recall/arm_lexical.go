package recall

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"anamnesis/internal/index"
)

// lexical finds notes that share words with the question and ranks them by
// BM25F. A note is as good as its best passage.
func (e *Engine) lexical(ctx context.Context, q Query, res *Result, _ []list) ([]*Hit, error) {
	most := e.opts.Candidates
	if q.reading {
		most /= 2
	}
	m, err := e.index.Ask(ctx, q.Text, e.filter(q), most)
	if err != nil {
		return nil, err
	}
	res.Terms, res.Searched, res.statistics = m.Terms, m.Statistics.Notes, m.Statistics
	s := newScorer(e.opts, m, nil, nil)
	hits := gather(m.Candidates, q.pool(), func(c *index.Candidate) float64 { return s.bm25(c) })
	if hits, err = e.fillRows(ctx, hits); err != nil {
		return nil, err
	}
	best := 0.0
	for _, h := range hits {
		best = max(best, h.score)
	}
	for i, h := range hits {
		score := h.score
		var words []string
		for j := range h.passages {
			if c := s.countTerms(&h.passages[j]); c >= h.Coverage {
				h.Coverage, words = c, s.matched()
			}
		}
		h.score = 0
		why := fmt.Sprint(words)
		h.add("words "+why, score)
		h.Found = map[string]Found{"lexical": {Rank: i + 1, Score: score, Norm: h.Coverage * score / best, Why: why}}
	}
	return hits, nil
}

// topByScore returns the n hits with the highest scores and those that equal the
// last of them, in no order that means anything.
func topByScore(hits []*Hit, n int) []*Hit {
	return hits[:leading(hits, n, func(h *Hit) float64 { return h.score })]
}

// leading sorts all by score, the highest first, when there are more than n,
// and returns how many lead: n, and those that equal the last of them.
func leading[T any](all []T, n int, score func(T) float64) int {
	if len(all) <= n {
		return len(all)
	}
	slices.SortFunc(all, func(a, b T) int { return cmp.Compare(score(b), score(a)) })
	for n < len(all) && score(all[n]) == score(all[n-1]) {
		n++
	}
	return n
}

// fillRows fills in the rows of hits and puts them in order.
func (e *Engine) fillRows(ctx context.Context, hits []*Hit) ([]*Hit, error) {
	keys := make([]int64, len(hits))
	byKey := make(map[int64]*Hit, len(hits))
	for i, h := range hits {
		keys[i], byKey[h.Row.Key] = h.Row.Key, h
	}
	rows, err := e.index.Rows(ctx, keys)
	if err != nil {
		return nil, err
	}
	hits = hits[:0]
	for _, r := range rows {
		h := byKey[r.Key]
		h.Row = r
		hits = append(hits, h)
	}
	order(hits)
	return hits, nil
}

// order sorts hits, the best first; of equals the newest.
func order(hits []*Hit) {
	slices.SortStableFunc(hits, func(a, b *Hit) int {
		return cmp.Or(cmp.Compare(b.score, a.score), b.Row.Updated.Compare(a.Row.Updated), cmp.Compare(a.Row.ID, b.Row.ID))
	})
}
