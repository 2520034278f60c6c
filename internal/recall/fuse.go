package recall

import (
	"fmt"
	"maps"
)

// rrfK damps the first ranks (Cormack, Clarke, Büttcher: Reciprocal Rank
// Fusion, SIGIR 2009; 60 is their value).
const rrfK = 60

// fuse makes one list of several, by weighted reciprocal ranks: scores of
// different arms cannot be compared. Before that each arm's floor takes out
// what the arm itself thinks little of (R12). It takes the hits of the lists over.
func (e *Engine) fuse(lists []list) []*Hit {
	fused := make(map[int64]*Hit)
	var hits []*Hit
	for _, l := range lists {
		floor, weight := e.opts.Floors[l.name], l.weight(e.opts)
		rank := 0
		for _, h := range l.hits {
			if h.Found[l.name].Norm < floor {
				continue
			}
			rank++
			into := fused[h.Row.Key]
			why := h.Found[l.name].Why
			if into == nil { // the first arm's hit becomes everybody's
				into = h
				into.score, into.Reasons = 0, into.Reasons[:0]
				fused[h.Row.Key] = into
				hits = append(hits, into)
			} else {
				into.merge(h)
			}
			into.add(fmt.Sprintf("%s rank %d: %s", l.name, rank, why), weight/float64(rrfK+rank))
		}
	}
	order(hits)
	if len(hits) > 0 && hits[0].score > 0 {
		best := hits[0].score
		for _, h := range hits {
			h.times("against the best", 1/best)
		}
	}
	for _, h := range hits {
		h.base = h.score
	}
	return hits
}

// merge adds what another arm found out about the same note.
func (h *Hit) merge(o *Hit) {
	h.Coverage, h.Cosine = max(h.Coverage, o.Coverage), max(h.Cosine, o.Cosine)
	maps.Copy(h.Found, o.Found)
	h.before = append(h.before, o.before...)
	known := make(map[int64]bool, len(h.passages))
	for i := range h.passages {
		known[h.passages[i].Passage] = true
	}
	for _, c := range o.passages {
		if !known[c.Passage] {
			h.passages = append(h.passages, c)
		}
	}
}
