package transformer_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"anamnesis/internal/embed/transformer"
)

// numbers makes a table of random ones.
func numbers(random *rand.Rand, n int) []float32 {
	all := make([]float32, n)
	for i := range all {
		all[i] = float32(random.NormFloat64())
	}
	return all
}

// The product is that of the definition, for sizes that are no multiple of anything.
func TestProduct(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		k, rows, columns := 1+random.IntN(70), 1+random.IntN(20), 1+random.IntN(70)
		fast, plain := transformer.Product(numbers(random, (rows+3)&^3*k), numbers(random, columns*k), k, rows, columns)
		for i := range rows * columns {
			if math.Abs(float64(fast[i]-plain[i])) > 1e-4 {
				t.Fatalf("%d × %d × %d: number %d is %v, want %v", rows, k, columns, i, fast[i], plain[i])
			}
		}
	}
}

// The assembly says what Go says.
func FuzzTile(f *testing.F) {
	f.Add(uint64(1), uint8(1))
	f.Add(uint64(2), uint8(48))
	f.Fuzz(func(t *testing.T, seed uint64, steps uint8) {
		k := 8 * (1 + int(steps))
		random := rand.New(rand.NewPCG(seed, 3))
		fast, plain, ok := transformer.Tile(numbers(random, 4*k), numbers(random, 2*k), k)
		if !ok {
			t.Skip("there is no assembly for this processor")
		}
		for i := range fast {
			if math.Abs(float64(fast[i]-plain[i])) > 1e-3 {
				t.Errorf("sum %d of %d is %v, in Go %v", i, k, fast[i], plain[i])
			}
		}
	})
}

func TestCurves(t *testing.T) {
	for x := -100.0; x <= 0; x += 0.01 {
		got, want := float64(transformer.ExpDown(float32(x))), math.Exp(float64(float32(x)))
		if math.Abs(got-want) > 3e-7*want && want > 1e-37 || got < 0 {
			t.Fatalf("the exponential of %v is %v, want %v", x, got, want)
		}
	}
	for x := -12.0; x <= 12; x += 0.01 {
		got, want := float64(transformer.Normal(float32(x))), (1+math.Erf(float64(float32(x))/math.Sqrt2))/2
		if math.Abs(got-want) > 3e-7 {
			t.Fatalf("the normal distribution below %v is %v, want %v", x, got, want)
		}
	}
	nan := float32(math.NaN())
	if got := transformer.ExpDown(nan); !math.IsNaN(float64(got)) {
		t.Errorf("the exponential of no number is %v", got)
	}
}
