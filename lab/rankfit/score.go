package main

import (
	"math"
	"sync"

	"anamnesis/internal/recall"
)

// A set that was judged by people counts in the fit of the score as this many sources,
// times its weight.
const sourcesPerSet = 8

// What the fit of the score takes: Adam, all trials at once.
const (
	scoreSteps = 1500
	scoreRate  = 0.03
	scoreHold  = 1e-4 // of standardised weights, squared
)

// scoreAll returns the weights of the score, and those without each part, as fitAll.
func scoreAll(sets []*set, groups int) [][]float64 {
	all := make([][]float64, 1+folds+groups)
	var wg sync.WaitGroup
	for i := range all {
		wg.Go(func() {
			var some []*set
			for _, set := range sets {
				if !set.held && set.left != i {
					some = append(some, set)
				}
			}
			all[i] = fitScore(some)
		})
	}
	wg.Wait()
	return all
}

// A point is a trial that the weights are fitted to.
type point struct {
	seen   []float64
	own    float64 // 1 or 0
	store  int
	weight float64
}

// points returns the trials of sets. Every store counts the same, or as its set does,
// and half of that are its own questions.
func points(sets []*set) (all []point, stores int) {
	for _, s := range sets {
		at, count := make(map[string]int), make(map[string][2]float64)
		for _, t := range s.trials {
			if _, ok := at[t.store]; !ok {
				at[t.store] = stores
				stores++
			}
			if t.seen != nil {
				n := count[t.store]
				n[kind(t)]++
				count[t.store] = n
			}
		}
		weight := 1.0
		if s.people {
			weight = sourcesPerSet * s.weight / float64(len(at))
		}
		for _, t := range s.trials {
			if t.seen != nil {
				all = append(all, point{t.seen, float64(kind(t)), at[t.store], weight / count[t.store][kind(t)]})
			}
		}
	}
	return all, stores
}

func kind(t trial) int {
	if t.own {
		return 1
	}
	return 0
}

// fitScore finds the weights that tell own questions from those of strangers, by
// logistic regression with a constant for each store. In units of the score's signal.
// An input never counts against an answer, but for words that no note knows.
func fitScore(sets []*set) []float64 {
	all, stores := points(sets)
	inputs := len(inputNames)
	mean, deviation, total := make([]float64, inputs), make([]float64, inputs), 0.0
	for _, x := range all {
		total += x.weight
		for i, v := range x.seen {
			mean[i] += x.weight * v
		}
	}
	for i := range mean {
		mean[i] /= total
	}
	for _, x := range all {
		for i, v := range x.seen {
			deviation[i] += x.weight / total * (v - mean[i]) * (v - mean[i])
		}
	}
	signs := inputSigns()
	for i := range deviation {
		if deviation[i] = math.Sqrt(deviation[i]); signs[i] == 0 || deviation[i] < 1e-9 {
			deviation[i] = math.Inf(1)
		}
	}
	p := newAdam(make([]float64, inputs+stores))
	w, constant := p.at[:inputs], p.at[inputs:]
	for step := range scoreSteps {
		clear(p.gradient)
		for i := range w {
			p.gradient[i] = scoreHold * w[i]
		}
		for _, x := range all {
			z := constant[x.store]
			for i, v := range x.seen {
				z += w[i] * (v - mean[i]) / deviation[i]
			}
			e := (1/(1+math.Exp(-z)) - x.own) * x.weight / total
			p.gradient[inputs+x.store] += e
			for i, v := range x.seen {
				p.gradient[i] += e * (v - mean[i]) / deviation[i]
			}
		}
		p.step(scoreRate * (1 - float64(step)/scoreSteps))
		for i := range w {
			if signs[i]*w[i] < 0 {
				w[i] = 0
			}
		}
	}
	weights := make([]float64, inputs)
	for i := range w {
		weights[i] = recall.SignalScale * w[i] / deviation[i]
	}
	return weights
}
