package recall

import (
	"math/rand/v2"
	"testing"
)

// A table answers as a map does, while it grows and after it was emptied.
func TestSeen(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	s := newTokenTable()
	for round := range 3 {
		want := make(map[uint32]int)
		for range 3 * leastSlots {
			token := rng.Uint32() >> (8 * round) // spread, and crowded
			got, ok := s.get(token)
			term, known := want[token]
			if ok != known || ok && term > 0 && (len(got) != 1 || got[0].term != term) || ok && term == 0 && len(got) != 0 {
				t.Fatalf("round %d: token %x: got %v %v, want %d %v", round, token, got, ok, term, known)
			}
			if known {
				continue
			}
			term = rng.IntN(3)
			want[token] = term
			if term == 0 {
				s.put(token, nil)
			} else {
				s.put(token, []match{{term, 1}})
			}
		}
		s.clear()
		for token := range want {
			if _, ok := s.get(token); ok {
				t.Fatalf("token %x is not forgotten", token)
			}
		}
	}
}

// What stands for nothing is known at once when it was asked for before, and what stands
// for something never is, 0 and tokens that share a place among them.
func TestIsNothing(t *testing.T) {
	s := newTokenTable()
	const apart = 1 << nothingBits
	for range 2 {
		for _, token := range []uint32{0, 1, 7, 7 + apart, apart} {
			if s.isNothing(token) {
				t.Fatalf("token %d stands for nothing in an empty table", token)
			}
			if s.put(token, nil); token >= apart {
				continue
			}
			if _, ok := s.get(token); !ok || !s.isNothing(token) {
				t.Fatalf("token %d stands for something", token)
			}
		}
		s.put(7+2*apart, []match{{3, 1}})
		if s.get(7 + 2*apart); s.isNothing(7+2*apart) || !s.isNothing(7) {
			t.Fatal("what stands for a term took the place of what stands for nothing")
		}
		if s.get(7 + apart); s.isNothing(7) || !s.isNothing(7+apart) {
			t.Fatal("a place holds two tokens")
		}
		s.clear()
	}
}
