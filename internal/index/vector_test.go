package index

import (
	"math/rand/v2"
	"testing"
)

// Cosines says of each vector what Vector.Cosine says, bit by bit, however many there
// are and of whatever length.
func TestCosines(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	random := func(n int) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = rng.Float32() - 0.5
		}
		return v
	}
	unit := random(256)
	for n := range 14 {
		for wrong := -1; wrong < n; wrong++ {
			vectors := make([]Vector, n)
			for i := range vectors {
				vectors[i] = Quantize(random(256))
			}
			if wrong >= 0 { // none, and one of another model
				vectors[wrong] = []Vector{nil, Quantize(random(64))}[wrong%2]
			}
			for _, u := range [][]float32{unit, nil} {
				got := make([]float64, n)
				Cosines(vectors, u, got)
				for i, v := range vectors {
					if want := v.Cosine(u); got[i] != want || i != wrong && u != nil && want == 0 {
						t.Fatalf("vector %d of %d is %v, want %v", i, n, got[i], want)
					}
				}
			}
		}
	}
}
