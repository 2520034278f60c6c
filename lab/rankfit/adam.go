package main

import "math"

// Adam (Kingma, Ba: Adam, 2015) moves values against a gradient.
type adam struct {
	at, gradient []float64
	mean, square []float64
	n            float64
}

const beta1, beta2 = 0.9, 0.999

func newAdam(at []float64) *adam {
	n := len(at)
	return &adam{at: at, gradient: make([]float64, n), mean: make([]float64, n), square: make([]float64, n)}
}

// step moves the values by what is in the gradient.
func (a *adam) step(rate float64) {
	a.n++
	for i, g := range a.gradient {
		a.mean[i] = beta1*a.mean[i] + (1-beta1)*g
		a.square[i] = beta2*a.square[i] + (1-beta2)*g*g
		a.at[i] -= rate * (a.mean[i] / (1 - math.Pow(beta1, a.n))) / (math.Sqrt(a.square[i]/(1-math.Pow(beta2, a.n))) + 1e-8)
	}
}
