package recall

import "testing"

func TestNext(t *testing.T) {
	for _, c := range []struct {
		what   string
		scores []float64 // of the hits that are left; that of the best is 1
		alike  []float64
		want   int
	}{
		{"nothing is alike", []float64{0.9, 0.8}, []float64{0, 0}, 0},
		{"the next is as good, and says something of its own", []float64{0.9, 0.85}, []float64{0.5, 0}, 1},
		{"the next is clearly worse", []float64{0.9, 0.75}, []float64{0.5, 0}, 0},
		{"the first is as good as a copy", []float64{0.9, 0.75}, []float64{0.7, 0}, 1},
		{"behind a copy stands one that is clearly better", []float64{0.9, 0.88, 0.6}, []float64{1, 0.5, 0}, 1},
		{"what is different is hardly relevant", []float64{0.9, 0.3}, []float64{1, 0}, 0},
	} {
		var left []*Hit
		for _, s := range c.scores {
			left = append(left, &Hit{score: s})
		}
		if got := next(left, c.alike, 1, 0.7); got != c.want {
			t.Errorf("%s: number %d comes next, want %d", c.what, got, c.want)
		}
	}
}
