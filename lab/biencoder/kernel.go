//go:build !(goexperiment.simd && amd64)

package main

import "math"

const vectorised = false

func dot(a, b []float32) float32 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float32
	for len(a) >= 4 && len(b) >= 4 {
		s0 += a[0] * b[0]
		s1 += a[1] * b[1]
		s2 += a[2] * b[2]
		s3 += a[3] * b[3]
		a, b = a[4:], b[4:]
	}
	return (s0 + s1) + (s2 + s3)
}

// dots returns the products of a with four vectors that stand one after the other.
func dots(a, b []float32) (p [4]float32) {
	for k := range p {
		p[k] = dot(a, b[k*len(a):][:len(a)])
	}
	return p
}

func add(to, from []float32) {
	to = to[:len(from)]
	for i, e := range from {
		to[i] += e
	}
}

func addTimes(to, from []float32, x float32) {
	to = to[:len(from)]
	for i, e := range from {
		to[i] += x * e
	}
}

// adagrad moves a row against its gradient.
func adagrad(row, squares, gradient []float32, rate float32) {
	for d, g := range gradient {
		squares[d] += g * g
		row[d] -= rate * g / (float32(math.Sqrt(float64(squares[d]))) + tiny)
	}
}
