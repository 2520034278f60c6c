package embed

import (
	"math"
	"math/rand/v2"
	"testing"
)

// A pattern says of a word what the word says of it, bit by bit.
func TestPattern(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	random := func(n int, kind int) Word {
		w := Word{Values: make([]int8, n), Scale: rng.Float32()}
		for i := range w.Values {
			w.Values[i] = [...]int8{math.MinInt8, math.MaxInt8, int8(rng.Uint32()), 0}[kind]
		}
		return w
	}
	var l Lanes
	for _, n := range []int{maxDim, 0, 1, 7, 8, 9, 100, 128, 255, maxDim - 1} {
		for kind := range 16 {
			a, b := random(n, kind&3), random(n, kind>>2)
			p := NewPattern(b)
			l.Set(a)
			if got, want := p.Cosine(&l), a.cosine(b); math.Float32bits(got) != math.Float32bits(want) {
				t.Errorf("%d values of kind %d: %v, want %v", n, kind, got, want)
			}
		}
	}
	p := NewPattern(random(128, 2))
	if l.Set(random(64, 2)); p.Cosine(&l) != 0 {
		t.Error("words of 128 and of 64 values were compared")
	}
}

func TestPatternOfTheTable(t *testing.T) {
	s := openStatic(t)
	words := []string{"file", "directori", "delet", "merg", "git", "password"}
	var l Lanes
	for _, a := range words {
		for _, b := range words {
			x, _ := s.Word(TokenHash(a))
			y, ok := s.Word(TokenHash(b))
			p := NewPattern(y)
			l.Set(x)
			if got, want := p.Cosine(&l), x.cosine(y); !ok || got != want {
				t.Errorf("%s and %s: %v, want %v", a, b, got, want)
			}
		}
	}
}

func BenchmarkPattern(b *testing.B) {
	s := openStatic(b)
	x, _ := s.Word(TokenHash("file"))
	y, _ := s.Word(TokenHash("directori"))
	p := NewPattern(y)
	var l Lanes
	l.Set(x)
	for b.Loop() {
		p.Cosine(&l)
	}
}

func BenchmarkLanes(b *testing.B) {
	s := openStatic(b)
	x, _ := s.Word(TokenHash("file"))
	var l Lanes
	for b.Loop() {
		l.Set(x)
	}
}

// cosine returns the likeness of two words, between -1 and 1.
func (w Word) cosine(x Word) float32 {
	if len(w.Values) != len(x.Values) {
		return 0
	}
	var sum int32
	for i, e := range w.Values {
		sum += int32(e) * int32(x.Values[i])
	}
	return float32(sum) * w.Scale * x.Scale
}
