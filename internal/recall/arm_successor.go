package recall

import (
	"context"
	"fmt"

	"anamnesis/internal/note"
)

// maxSuccession bounds how many times a note was replaced until we give up.
const maxSuccession = 5

// successor finds, for a question about what is so now, the notes that took the
// place of those that answer it but hold no more. What replaced an answer need
// not use its words.
func (e *Engine) successor(ctx context.Context, q Query, res *Result, _ []list) ([]*Hit, error) {
	f := e.filter(q)
	old := f
	old.Dead = true
	m, err := e.index.Ask(ctx, q.Text, old, e.opts.Candidates/4)
	if err != nil {
		return nil, err
	}
	s := newScorer(e.opts, m, nil, nil)
	covered := make(map[int64]float64)
	var keys []int64
	for i := range m.Candidates {
		c := &m.Candidates[i]
		if _, ok := covered[c.Key]; !ok {
			keys = append(keys, c.Key)
		}
		covered[c.Key] = max(covered[c.Key], s.tally(c))
	}
	rows, err := e.index.Rows(ctx, keys)
	if err != nil {
		return nil, err
	}
	var hits []*Hit
	seen := make(map[note.ID]bool)
	for _, r := range rows {
		now := r
		for i := 0; i < maxSuccession && now.SupersededBy != ""; i++ {
			next, ok, err := e.index.Lookup(ctx, now.SupersededBy)
			if err != nil {
				return nil, err
			}
			if !ok {
				break
			}
			now = next
		}
		if now.Key == r.Key || now.Dead || seen[now.ID] {
			continue
		}
		seen[now.ID] = true
		h := &Hit{Row: now, Coverage: covered[r.Key]}
		h.add("took the place of "+string(r.ID), h.Coverage)
		h.Found = map[string]Found{"successor": {Score: h.score, Norm: h.Coverage, Why: fmt.Sprintf("took the place of %s", r.ID)}}
		hits = append(hits, h)
	}
	order(hits)
	if err := e.firstPassages(ctx, hits, f); err != nil {
		return nil, err
	}
	kept := hits[:0]
	for _, h := range hits {
		if len(h.passages) > 0 { // the filter lets it through
			found := h.Found["successor"]
			found.Rank = len(kept) + 1
			h.Found["successor"] = found
			kept = append(kept, h)
		}
	}
	return kept, nil
}
