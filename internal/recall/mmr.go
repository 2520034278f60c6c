package recall

import "anamnesis/internal/index"

const (
	mmrWindow = 20   // hits that are chosen among, at least
	mmrLeast  = 0.45 // share of the best hit's score below which nothing is moved up
	mmrNear   = 0.95 // cosine from which two hits say the same, more or less
	mmrAlike  = 0.8  // cosine below which words are not compared
	mmrCopy   = 0.5  // share of runs of words from which they do
	shingle   = 4    // words in a row that two copies share
)

// diversify fills the places one after the other with the hit that is most
// relevant and least like those that have one (R3; Carbonell, Goldstein: The
// Use of MMR, SIGIR 1998). The best hit keeps its place, and a hit that is
// hardly relevant is not moved up for being different.
func (e *Engine) diversify(q Query, hits []*Hit) []*Hit {
	if !e.opts.MMR || q.NoMMR || len(hits) < 3 || hits[0].score <= 0 {
		return hits
	}
	window := min(len(hits), max(mmrWindow, 2*q.K))
	left := append([]*Hit(nil), hits[:window]...)
	prints := make(map[*Hit]map[uint64]bool, window)
	best := left[0]
	chosen := []*Hit{best}
	left = left[1:]
	like := make(map[*Hit]float64, window) // the nearest of the chosen
	for len(left) > 0 && len(chosen) < q.K {
		last := chosen[len(chosen)-1]
		at, top := -1, 0.0
		for i, h := range left {
			like[h] = max(like[h], similarity(h, last, prints))
			rel := h.score / best.score
			if rel < mmrLeast && at >= 0 {
				continue
			}
			if value := e.opts.MMRLambda*rel - (1-e.opts.MMRLambda)*like[h]; at < 0 || value > top {
				at, top = i, value
			}
		}
		h := left[at]
		if at > 0 {
			h.Reasons = append(h.Reasons, Reason{"moved up: the ones before it say what was said", 0})
		}
		chosen = append(chosen, h)
		left = append(left[:at], left[at+1:]...)
	}
	chosen = append(chosen, left...)
	return append(chosen, hits[window:]...)
}

// similarity is how much the content of two hits is the same, 0 to 1: by their vectors, and by
// the runs of words they share.
func similarity(a, b *Hit, prints map[*Hit]map[uint64]bool) float64 {
	cosine := a.vector.Similarity(b.vector)
	if a.vector != nil && b.vector != nil && cosine < mmrAlike {
		return 0
	}
	like := max(0, (cosine-mmrNear)/(1-mmrNear)) // notes about one subject are alike, and no copies
	x, y := printed(a, prints), printed(b, prints)
	if len(x) > 0 && len(y) > 0 {
		both := 0
		for s := range x {
			if y[s] {
				both++
			}
		}
		share := float64(both) / float64(len(x)+len(y)-both)
		like = max(like, (share-mmrCopy)/(1-mmrCopy))
	}
	return like
}

// printed returns the shingles of a hit, made when they are first asked for.
func printed(h *Hit, prints map[*Hit]map[uint64]bool) map[uint64]bool {
	got, ok := prints[h]
	if !ok {
		got = shingles(h)
		prints[h] = got
	}
	return got
}

// shingles are the runs of words in the passage of a hit that was read.
func shingles(h *Hit) map[uint64]bool {
	for i := range h.passages {
		c := &h.passages[i]
		if c.Start != h.Start || c.End != h.End {
			continue
		}
		words := append(append([]uint32(nil), c.Tokens[index.Title]...), c.Tokens[index.Body]...)
		got := make(map[uint64]bool, len(words))
		for i := 0; i+shingle <= len(words); i++ {
			h := uint64(14695981039346656037)
			for _, w := range words[i : i+shingle] {
				h = (h ^ uint64(w)) * 1099511628211
			}
			got[h] = true
		}
		return got
	}
	return nil
}
