package recall

import (
	"context"
	"math"
	"slices"

	"anamnesis/internal/index"
)

// Notes that a session wrote in the same second belong together: the turns of one
// conversation, the learnings of one session. The one that answers often does
// not repeat the words that the one before it asked with, so a note gains by
// having a good neighbour, and the neighbours of the best hits are read even
// when no arm found them, unless the query names the arms to ask and this is none.
const (
	neighbourSource = "company"
	neighbourSeeds  = 20 // of the best hits the neighbours are looked up
)

// findNeighbours looks up the neighbours of the best hits, gives every hit its
// feature, and returns the neighbours that were not among the hits.
func (e *Engine) findNeighbours(ctx context.Context, q Query, hits []*Hit, r *reader) ([]*Hit, error) {
	byKey := make(map[int64]*Hit, len(hits))
	best := math.Inf(-1)
	for _, h := range hits {
		byKey[h.Row.Key] = h
		best = max(best, h.features.relevance())
	}
	head := byRelevance(hits)
	head = head[:min(len(head), neighbourSeeds)]
	keys := make([]int64, len(head))
	for i, h := range head {
		keys[i] = h.Row.Key
	}
	f := e.filter(q)
	pairs, err := e.index.Neighbours(ctx, keys, f)
	if err != nil || len(pairs) == 0 {
		return nil, err
	}
	var missing []int64
	for _, p := range pairs {
		if byKey[p.With] == nil && (len(q.Arms) == 0 || slices.Contains(q.Arms, neighbourSource)) {
			byKey[p.With] = &Hit{Row: index.Row{Key: p.With}, Found: map[string]Found{}}
			missing = append(missing, p.With)
		}
		if h := byKey[p.With]; h != nil && len(h.Found) == 0 {
			if of := byKey[p.Of]; h.neighbourOf == nil || of.features.relevance() > h.neighbourOf.features.relevance() {
				h.neighbourOf = of
			}
		}
	}
	added, err := e.readNeighbours(ctx, missing, f, byKey, r)
	if err != nil {
		return nil, err
	}
	worth := make(map[int64]float64, len(byKey))
	for k, h := range byKey {
		worth[k] = math.Exp(min(0, h.features.relevance()-best) / neighbourScale)
	}
	for _, p := range pairs {
		for _, d := range [][2]int64{{p.Of, p.With}, {p.With, p.Of}} {
			if h := byKey[d[0]]; h != nil {
				h.features[fNeighbours] = max(h.features[fNeighbours], worth[d[1]])
			}
		}
	}
	return added, nil
}

// readNeighbours makes hits of notes that no arm found, and reads them.
func (e *Engine) readNeighbours(ctx context.Context, keys []int64, f index.Filter, byKey map[int64]*Hit, r *reader) ([]*Hit, error) {
	rows, err := e.index.Rows(ctx, keys)
	if err != nil {
		return nil, err
	}
	var added []*Hit
	for _, row := range rows {
		h := byKey[row.Key]
		h.Row = row
		added = append(added, h)
	}
	if err := e.firstPassages(ctx, added, f); err != nil {
		return nil, err
	}
	for _, h := range added {
		r.read(h)
	}
	return added, nil
}

// addNeighbours writes into the hits that no arm found beside which note they stand.
// It comes after the gate, which does not count them; with a gate, one that has
// neither a word nor the meaning of the question is dropped.
func (e *Engine) addNeighbours(q Query, hits []*Hit) []*Hit {
	kept := hits[:0]
	rank := 0
	for _, h := range hits {
		if h.neighbourOf == nil {
			kept = append(kept, h)
			continue
		}
		if q.Gate && h.Coverage == 0 && h.Cosine < leastCosine {
			continue
		}
		rank++
		why := "written beside " + string(h.neighbourOf.Row.ID)
		h.Found[neighbourSource] = Found{Rank: rank, Score: h.features[fNeighbours], Norm: h.features[fNeighbours], Why: why}
		h.add(neighbourSource+": "+why, 0)
		kept = append(kept, h)
	}
	return kept
}

// neighbourScale is by how much of the sum of features a neighbour may be behind
// the best to count e^-1.
const neighbourScale = 1.0
