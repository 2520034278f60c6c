package recall

import (
	"context"
	"slices"
	"strings"

	"anamnesis/internal/index"
)

// othersShare is the part of the working set that notes of others may have, one in
// this many, when there are more of one's own than fit.
const othersShare = 4

// ownFirst selects notes as Select does, those of this machine before those that others
// share. A quarter of the places is left to others, so that a long memory of one's own
// does not hide them.
func (e *Engine) ownFirst(ctx context.Context, f index.Filter, k int) ([]index.Row, error) {
	rows, err := e.index.Select(ctx, f, k)
	others := slices.DeleteFunc(slices.Clone(rows), func(r index.Row) bool { return r.Origin == e.index.Origin() })
	if err != nil || len(others) == 0 {
		return rows, err
	}
	f.Own = true
	own, err := e.index.Select(ctx, f, k)
	if err != nil {
		return nil, err
	}
	// What somebody else says in the same words needs no place beside one's own.
	others = slices.DeleteFunc(others, func(o index.Row) bool {
		return slices.ContainsFunc(own, func(r index.Row) bool { return strings.EqualFold(r.Title, o.Title) })
	})
	left := min(len(others), max(k/othersShare, k-len(own)))
	return slices.Concat(own[:min(len(own), k-left)], others[:left]), nil
}

// alikeShare is from which share of the words of the shorter passage on two notes count
// as notes on one subject. Two that say the same of it in other words share less, and
// then both are shown.
const alikeShare = 0.5

// ownBefore puts a note that another person shares behind one's own on the same
// subject: where they differ, one's own holds here.
func (e *Engine) ownBefore(hits []*Hit) []*Hit {
	moved := false
	for _, h := range hits {
		if h.Row.Origin == e.index.Origin() {
			continue
		}
		for _, own := range hits {
			if own.Row.Origin == e.index.Origin() && own.score < h.score && sameSubject(h, own) {
				h.add("behind "+string(own.Row.ID)+", which is your own", own.score*predecessorFactor-h.score)
				moved = true
			}
		}
	}
	if moved {
		order(hits)
	}
	return hits
}

// sameSubject reports whether the best passages of two hits share half of their words.
func sameSubject(a, b *Hit) bool {
	if len(a.passages) == 0 || len(b.passages) == 0 {
		return false
	}
	words := func(c *index.Candidate) map[uint32]bool {
		set := make(map[uint32]bool)
		for _, field := range []index.Field{index.Title, index.Body} {
			for _, t := range c.Tokens[field] {
				set[t] = true
			}
		}
		return set
	}
	of, with := words(&a.passages[0]), words(&b.passages[0])
	shared := 0
	for t := range of {
		if with[t] {
			shared++
		}
	}
	return shared > 0 && float64(shared) >= alikeShare*float64(min(len(of), len(with)))
}
