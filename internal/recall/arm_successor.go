package recall

import (
	"context"
	"fmt"
	"slices"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
)

const (
	maxSuccession  = 5  // how many times a note was replaced until we give up
	maxPredecessor = 10 // of the best notes by words, those that hold no more are looked at
)

// successor finds the notes that took the place of those that would answer but
// hold no more: what replaced an answer need not use its words. The hit keeps
// the passages of what it replaced, and is read as well as those are, so that it
// stands, before the gate too, where that note would stand.
func (e *Engine) successor(ctx context.Context, q Query, _ *Result, _ []list) ([]*Hit, error) {
	if some, err := e.index.Superseding(ctx); err != nil {
		return nil, err
	} else if !some {
		return nil, errIdle
	}
	f := e.filter(q)
	old := f
	old.Dead = true
	m, err := e.index.Ask(ctx, q.Text, old, e.opts.Candidates/4)
	if err != nil {
		return nil, err
	}
	s := newScorer(e.opts, m, nil, nil)
	found, err := e.fillRows(ctx, gather(m.Candidates, q.pool(), func(c *index.Candidate) float64 { return s.bm25(c) }))
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(h *Hit) bool { return h.Row.SupersededBy == "" })
	found = found[:min(len(found), maxPredecessor)]
	var hits []*Hit
	byKey := make(map[int64]*Hit)
	for _, was := range found {
		now, err := e.last(ctx, was.Row)
		if err != nil {
			return nil, err
		}
		if now.Key == was.Row.Key || now.Dead && !q.Dead { // in a circle nobody holds
			continue
		}
		if h := byKey[now.Key]; h != nil { // of two that it replaced the better one was first
			h.before = append(h.before, was.passages...)
			continue
		}
		h := &Hit{Row: now, before: was.passages}
		for i := range was.passages {
			h.Coverage = max(h.Coverage, s.countTerms(&was.passages[i]))
		}
		why := "took the place of " + string(was.Row.ID)
		h.add(why, was.score)
		h.Found = map[string]Found{"successor": {Score: was.score, Norm: h.Coverage, Why: why}}
		byKey[now.Key] = h
		hits = append(hits, h)
	}
	if err := e.firstPassages(ctx, hits, f); err != nil {
		return nil, err
	}
	hits = slices.DeleteFunc(hits, func(h *Hit) bool { return len(h.passages) == 0 }) // the filter holds them back
	for i, h := range hits {
		found := h.Found["successor"]
		found.Rank = i + 1
		h.Found["successor"] = found
	}
	return hits, nil
}

// last returns the note that is valid in the place of one, which is itself when
// nothing replaced it.
func (e *Engine) last(ctx context.Context, r index.Row) (index.Row, error) {
	for i := 0; i < maxSuccession && r.SupersededBy != ""; i++ {
		next, ok, err := e.index.Lookup(ctx, r.SupersededBy)
		if err != nil || !ok {
			return r, err
		}
		r = next
	}
	return r, nil
}

// replacements are the hits that took the place of others.
type replacements struct {
	by  map[*Hit]*Hit // the nearest one that is a hit too
	old []*Hit        // its keys, each before what replaced it
}

// replacements finds among hits those that others replaced, whether directly or by
// notes that are no hits.
func (e *Engine) replacements(ctx context.Context, q Query, hits []*Hit) replacements {
	c := replacements{by: make(map[*Hit]*Hit)}
	if !q.Dead {
		return c
	}
	byID := make(map[note.ID]*Hit, len(hits))
	for _, h := range hits {
		byID[h.Row.ID] = h
	}
	for _, h := range hits {
		r := h.Row
		for i := 0; i < maxSuccession && r.SupersededBy != "" && c.by[h] == nil; i++ {
			if now := byID[r.SupersededBy]; now != nil && now != h {
				c.by[h] = now
				break
			}
			next, ok, err := e.index.Lookup(ctx, r.SupersededBy)
			if err != nil || !ok {
				break // it stands where it stands
			}
			r = next
		}
	}
	done := make(map[*Hit]bool, len(c.by))
	for len(c.old) < len(c.by) {
		before := len(c.old)
		for _, h := range hits { // next are those that nobody waits for
			if c.by[h] != nil && !done[h] && !slices.ContainsFunc(hits, func(p *Hit) bool { return c.by[p] == h && !done[p] }) {
				done[h], c.old = true, append(c.old, h)
			}
		}
		if len(c.old) == before { // a circle: two indexes have spoken
			break
		}
	}
	return c
}

// behind is what a note that was replaced is worth against what replaced it.
const predecessorFactor = 1 - 1e-6

// levelScores gives what replaced a hit at least its score, and it a little less: both
// stand where the better one stood, the one that holds first.
func (c replacements) levelScores(hits []*Hit) []*Hit {
	if len(c.old) == 0 {
		return hits
	}
	for _, h := range c.old {
		if now := c.by[h]; now.score < h.score {
			now.add(fmt.Sprintf("took the place of %s", h.Row.ID), h.score-now.score)
		}
	}
	for _, h := range slices.Backward(c.old) {
		if now := c.by[h]; h.score > now.score*predecessorFactor {
			h.add(fmt.Sprintf("behind %s, which took its place", now.Row.ID), now.score*predecessorFactor-h.score)
		}
	}
	order(hits)
	return hits
}

// placeBehind puts what was replaced right behind what replaced it, where a later
// stage has put it before.
func (c replacements) placeBehind(hits []*Hit) []*Hit {
	for range c.old {
		moved := false
		for _, h := range c.old {
			at, now := slices.Index(hits, h), slices.Index(hits, c.by[h])
			if at < now {
				later := hits[now]
				copy(hits[at+1:now+1], hits[at:now])
				hits[at], moved = later, true
			}
		}
		if !moved {
			break
		}
	}
	return hits
}
