package recall

import (
	"math"
	"testing"
)

// No feature takes from a hit that has more of it, and each is worth something.
func TestFittedCurves(t *testing.T) {
	for i, name := range FeatureNames {
		var f features
		for _, many := range []float64{0, 0.4, 1} {
			f[fManyWords] = many
			before, first := math.Inf(-1), 0.0
			for x := -0.1; x <= 1.5; x += 0.01 {
				f[i] = x
				w := f.worth(i)
				if x < 0 && fittedCurves[i].knots != nil && fittedCurves[i].knots[0] >= 0 {
					first = max(first, math.Abs(w))
				}
				if w < before-1e-9 {
					t.Fatalf("%s is worth %v at %.2f, less than before it (%v)", name, w, x, before)
				}
				before = w
			}
			if first != 0 || before <= 0 {
				t.Errorf("%s is worth %v below its first knot and %v at its end", name, first, before)
			}
		}
	}
}

func TestCurve(t *testing.T) {
	c := curve{knots: []float64{1, 2, 4}, few: []float64{0, 10, 20}, many: []float64{0, 0, 100}}
	for _, v := range []struct{ x, many, want float64 }{
		{0, 0, 0},
		{1, 0, 0},
		{1.5, 0, 5},
		{2, 0, 10},
		{3, 0, 15},
		{4, 0, 20},
		{9, 0, 20},
		{3, 1, 50},
		{3, 0.5, 32.5},
		{9, 1, 100},
		{2, 1, 0},
	} {
		if got := c.of(v.x, v.many); math.Abs(got-v.want) > 1e-9 {
			t.Errorf("at %v, %v: %v, want %v", v.x, v.many, got, v.want)
		}
	}
	if got := (&curve{}).of(1, 1); got != 0 {
		t.Errorf("no curve: %v", got)
	}
}

// The shares of a hit are its sum.
func TestShares(t *testing.T) {
	h := &Hit{}
	for i := range fManyWords {
		h.features[i] = 0.3
	}
	h.features[fManyWords] = 0.5
	sum, last := 0.0, math.Inf(1)
	for _, s := range h.Shares() {
		if s.Worth > last || s.Value != 0.3 {
			t.Errorf("%+v after %v", s, last)
		}
		last = s.Worth
		sum += s.Worth
	}
	if want := h.features.sum(); math.Abs(sum-want) > 1e-9 || sum == 0 {
		t.Errorf("shares come to %v, the sum is %v", sum, want)
	}
	if got := (&Hit{}).Shares(); got != nil {
		t.Errorf("a hit that was not read: %v", got)
	}
}

func TestManyWords(t *testing.T) {
	for terms, want := range map[int]float64{0: 0, 1: 0, 3: 0, 6: 0.5, 12: 1, 500: 1} {
		if got := ManyWords(terms); math.Abs(got-want) > 1e-9 {
			t.Errorf("%d terms: %v, want %v", terms, got, want)
		}
	}
}
