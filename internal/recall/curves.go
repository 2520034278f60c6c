package recall

import (
	"cmp"
	"math"
	"slices"
)

// A curve says what a feature is worth in the order of hits, for questions of few and
// of many words. It is straight between knots, flat outside of them, and never falls:
// a hit cannot lose by holding more of the question. lab/rankfit made them, see
// fitted_curves.go.
type curve struct {
	knots     []float64 // ascending; the first is worth nothing
	few, many []float64 // what each knot is worth, in logits
}

// of returns what x is worth; many is what the question's length says, 0 to 1.
func (c *curve) of(x, many float64) float64 {
	last := len(c.knots) - 1
	if last < 0 || x <= c.knots[0] {
		return 0
	}
	i, part := last, 0.0
	for j := 1; j <= last; j++ {
		if x < c.knots[j] {
			i, part = j-1, (x-c.knots[j-1])/(c.knots[j]-c.knots[j-1])
			break
		}
	}
	few, much := c.few[i], c.many[i]
	if part > 0 {
		few += part * (c.few[i+1] - few)
		much += part * (c.many[i+1] - much)
	}
	return few + many*(much-few)
}

// UnfittedWeights are the weights of the features that are no part of the curves: no set of
// pairs shows a graph, dates, or notes that were written together. Those of the others are 0.
var UnfittedWeights = features{fGraph: 4, fTime: 1, fNeighbours: 2.2}

// worth returns what a feature adds to the sum by which hits are ordered.
func (f *features) worth(feature int) float64 {
	if w := UnfittedWeights[feature]; w != 0 {
		return w * f[feature]
	}
	return fittedCurves[feature].of(f[feature], f[fManyWords])
}

// sum is what hits are ordered by: the worth of all features.
func (f *features) sum() (sum float64) {
	for i := range fManyWords {
		sum += f.worth(i)
	}
	return sum
}

// A question of fewWords counts as short, one of lotsOfWords as long; between them the
// logarithm decides. Both were chosen, not fitted.
const (
	fewWords    = 3
	lotsOfWords = 12
)

// ManyWords returns how long a question of so many terms counts, 0 to 1.
func ManyWords(terms int) float64 {
	long := math.Log(float64(max(1, terms))/fewWords) / math.Log(float64(lotsOfWords)/fewWords)
	return max(0, min(1, long))
}

// A Share is what a feature added to the sum by which a hit was ordered.
type Share struct {
	Feature string  `json:"feature"`
	Value   float64 `json:"value"` // of the feature
	Worth   float64 `json:"worth"` // in logits; all of a hit's together are its sum
}

// Shares returns what the built-in reranker saw in a hit, the greatest worth first,
// without what was worth nothing; nil for a hit that it has not read.
func (h *Hit) Shares() []Share {
	if h.features == (features{}) {
		return nil
	}
	var all []Share
	for i, name := range FeatureNames {
		if w := h.features.worth(i); w != 0 {
			all = append(all, Share{name, h.features[i], w})
		}
	}
	slices.SortStableFunc(all, func(a, b Share) int { return cmp.Compare(b.Worth, a.Worth) })
	return all
}
