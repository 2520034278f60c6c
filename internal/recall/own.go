package recall

import "anamnesis/internal/index"

// alikeShare is from which share of the words of the shorter passage on two notes count
// as notes on one subject. Two that say the same of it in other words share less, and
// then both are shown.
const alikeShare = 0.5

// rankOwnFirst puts a note that another person shares behind one's own on the same
// subject: where they differ, one's own holds here.
func (e *Engine) rankOwnFirst(hits []*Hit) []*Hit {
	moved := false
	for _, h := range hits {
		if !e.index.Theirs(&h.Row) {
			continue
		}
		for _, own := range hits {
			if !e.index.Theirs(&own.Row) && own.score < h.score && sameSubject(h, own) {
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
