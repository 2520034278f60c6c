package main

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

const (
	batch         = 256
	deep          = 30 // places behind which the order of two hits is not looked at
	smoothestStep = 0.01
)

// fit finds the curves for sets.
func fit(sets []*set, s settings) *model {
	m := newModel(sets, s.knots)
	start := slices.Clone(m.steps)
	type weighed struct {
		*judged
		weight float64
	}
	var all []weighed
	for _, set := range sets {
		for i := range set.questions {
			all = append(all, weighed{&set.questions[i], set.weight})
		}
	}
	random := rand.New(rand.NewPCG(s.seed, 1))
	descent := newAdam(m.steps)
	gradient := descent.gradient
	for epoch := range s.epochs {
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		rate := s.rate * (1 - float64(epoch)/float64(s.epochs))
		for part := range slices.Chunk(all, batch) {
			clear(gradient)
			for _, q := range part {
				m.slope(q.judged, q.weight/float64(len(part)), gradient)
			}
			for i := range gradient {
				gradient[i] += s.hold * (m.steps[i] - start[i])
			}
			m.bend(s.smooth, gradient)
			descent.step(rate)
			for i, x := range m.steps {
				m.steps[i] = max(0, x)
			}
		}
	}
	return m
}

// slope adds the gradient of the loss of one question: each relevant hit against each
// other one, logistic, times what their change of places would change of nDCG@10.
func (m *model) slope(q *judged, weight float64, gradient []float64) {
	if !slices.Contains(q.relevant, true) {
		return
	}
	scores := m.scores(q)
	place := places(scores)
	best := ideal(q.all)
	pull := make([]float64, len(scores))
	for i := range scores {
		for j := range scores {
			if !q.relevant[i] || q.relevant[j] || min(place[i], place[j]) > deep {
				continue
			}
			p := math.Abs(gain(place[i])-gain(place[j])) / best / (1 + math.Exp(scores[i]-scores[j]))
			pull[i] -= p
			pull[j] += p
		}
	}
	for i, p := range pull {
		if p != 0 {
			m.each(q, q.features[i], func(step int, much float64) { gradient[step] += weight * p * much })
		}
	}
}

// bend adds the gradient that keeps neighbouring pieces of a curve alike.
func (m *model) bend(much float64, gradient []float64) {
	for f, knots := range m.knots {
		n := len(knots) - 1
		for part := range 2 {
			for j := range max(0, n-1) {
				at := m.first[f] + part*n + j
				a, b := knots[j+1]-knots[j], knots[j+2]-knots[j+1]
				d := much * smoothestStep * (m.steps[at]/a - m.steps[at+1]/b)
				gradient[at] += d * a
				gradient[at+1] -= d * b
			}
		}
	}
}

// gain is what a relevant hit at a place is worth, from 0.
func gain(place int) float64 { return 1 / math.Log2(float64(place+2)) }

// ideal is the greatest DCG@10 of a question with so many relevant documents.
func ideal(relevant int) (sum float64) {
	for place := range min(10, relevant) {
		sum += gain(place)
	}
	return sum
}

// places returns the place of each hit by its score. Of equal ones the first is before.
func places(scores []float64) []int {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	place := make([]int, len(scores))
	for p, i := range order {
		place[i] = p
	}
	return place
}
