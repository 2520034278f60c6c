package flat

import (
	"cmp"
	"math"
	"slices"
)

// A Scored passage waits to be chosen.
type Scored struct {
	Passage int64
	Score   float64
}

// Best returns the n best of all passages, the best first, and of equals that with
// the least key. It sorts no more than it must: what is worse than the n best so far
// is passed over.
func Best(all []Scored, n int) []int64 {
	order := func(a, b Scored) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Passage, b.Passage))
	}
	kept := make([]Scored, 0, min(2*n, len(all)))
	worst := math.Inf(-1) // of the n best so far
	for _, s := range all {
		if s.Score < worst {
			continue
		}
		if kept = append(kept, s); len(kept) == 2*n {
			slices.SortFunc(kept, order)
			kept = kept[:n]
			worst = kept[n-1].Score
		}
	}
	slices.SortFunc(kept, order)
	keys := make([]int64, min(n, len(kept)))
	for i := range keys {
		keys[i] = kept[i].Passage
	}
	return keys
}
