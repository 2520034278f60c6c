package recall

import (
	"cmp"
	"slices"
)

// rrfK damps the first ranks (Cormack, Clarke, Büttcher: Reciprocal Rank
// Fusion, SIGIR 2009; 60 is their value).
const rrfK = 60

// fuse makes one list of several, by weighted reciprocal ranks: scores of
// different arms cannot be compared. A single list needs no fusion and keeps
// its scores, which say more than ranks do.
func fuse(lists []list) []*Hit {
	if len(lists) == 1 {
		return lists[0].hits
	}
	fused := make(map[int64]*Hit)
	var order []*Hit
	for _, l := range lists {
		for rank, h := range l.hits {
			into := fused[h.Row.Key]
			if into == nil {
				into = &Hit{Row: h.Row, Start: h.Start, End: h.End}
				fused[h.Row.Key] = into
				order = append(order, into)
			}
			into.Coverage = max(into.Coverage, h.Coverage)
			into.add(l.name, l.weight/float64(rrfK+rank+1))
		}
	}
	slices.SortStableFunc(order, func(a, b *Hit) int {
		return cmp.Or(cmp.Compare(b.score, a.score), b.Row.Updated.Compare(a.Row.Updated), cmp.Compare(a.Row.ID, b.Row.ID))
	})
	return order
}
