package main

import (
	"slices"
)

// A model is a curve for each feature that can be fitted, for short questions and for
// long ones. What is fitted are the steps from knot to knot; they never fall.
type model struct {
	knots [][]float64 // of each feature, ascending; nil for one without a curve
	first []int       // where the steps of a feature begin: those of short questions, then those of long ones
	steps []float64
}

// newModel places the knots where the values of the features are, and gives the curves
// the shape of the weights that they replace.
func newModel(sets []*set, knots int) *model {
	start := startWeights()
	m := &model{knots: make([][]float64, len(start)), first: make([]int, len(start))}
	for f, w := range start {
		m.first[f] = len(m.steps)
		if w == 0 {
			continue
		}
		m.knots[f] = place(sample(sets, f), knots)
		for range 2 {
			for j := 1; j < len(m.knots[f]); j++ {
				m.steps = append(m.steps, w*(m.knots[f][j]-m.knots[f][j-1]))
			}
		}
	}
	return m
}

// sample returns values of a feature, more of them from the first places.
func sample(sets []*set, feature int) []float64 {
	var values []float64
	for _, s := range sets {
		for i := 0; i < len(s.questions); i += 3 {
			of := s.questions[i].features
			for c := range of {
				if c < 10 || c%7 == 0 {
					values = append(values, of[c][feature])
				}
			}
		}
	}
	slices.Sort(values)
	return values
}

// place returns knots that cut sorted values into parts of one size. The last is near
// the end, so that a few far values do not stretch it.
func place(sorted []float64, knots int) []float64 {
	if len(sorted) == 0 {
		return nil
	}
	const apart, nearEnd = 1e-3, 0.995
	last := len(sorted) - 1
	at := []float64{sorted[0]}
	for j := 1; j < knots; j++ {
		v := sorted[last*j/(knots-1)]
		if j == knots-1 {
			v = sorted[int(float64(last)*nearEnd)]
		}
		if v > at[len(at)-1]+apart {
			at = append(at, v)
		}
	}
	return at
}

// each calls do with the steps that a hit has climbed, and how much of them.
func (m *model) each(q *judged, features []float64, do func(step int, much float64)) {
	for f, knots := range m.knots {
		n := len(knots) - 1
		for j := range max(0, n) {
			much := (features[f] - knots[j]) / (knots[j+1] - knots[j])
			if much <= 0 {
				break
			}
			much = min(1, much)
			do(m.first[f]+j, much*(1-q.many))
			do(m.first[f]+n+j, much*q.many)
		}
	}
}

// scores returns what the hits of a question come to.
func (m *model) scores(q *judged) []float64 {
	all := make([]float64, len(q.features))
	for i, features := range q.features {
		all[i] = unfittedWorth(features)
		m.each(q, features, func(step int, much float64) { all[i] += m.steps[step] * much })
	}
	return all
}

// heights are the curve of a feature for short or for long questions: the sums of its steps.
func (m *model) heights(feature int, long bool) []float64 {
	n := len(m.knots[feature]) - 1
	from := m.first[feature]
	if long {
		from += n
	}
	all, sum := []float64{0}, 0.0
	for _, step := range m.steps[from : from+n] {
		sum += step
		all = append(all, sum)
	}
	return all
}
