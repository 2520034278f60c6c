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
