package recall

import (
	"math"

	"anamnesis/internal/index"
)

// Words and pairs of words are weighted by their rarity among the hits: one that
// occurs in all of them distinguishes none.

// rarity is the weight, 0 to 1, of something that have of n hits contain.
func rarity(have float64, n int) float64 {
	return math.Log(float64(n+1)/(have+1)) / math.Log(float64(n+1))
}

// addProximity gives hits the share of the question's pairs of words that stand
// together in them, by weight. A pair that stands together in many of the hits,
// such as "current directory" among notes about a shell, weighs little.
func (r *reader) addProximity(hits []*Hit) {
	n := max(0, len(r.weight)-1)
	weight := make([]float64, n)
	all := 0.0
	for i := range weight {
		have := 0.0
		for _, h := range hits {
			if i < len(h.pairs) {
				have += h.pairs[i]
			}
		}
		weight[i] = (r.weight[i] + r.weight[i+1]) * rarity(have, len(hits))
		all += r.weight[i] + r.weight[i+1]
	}
	for _, h := range hits {
		sum := 0.0
		for i, p := range h.pairs {
			sum += weight[i] * p
		}
		if h.features[fNear] = 0; all > 0 {
			h.features[fNear] = sum / all
		}
	}
}

// addCoverage gives hits the share of the question's words that they contain, each
// weighted by how few of the hits contain it as well.
func (r *reader) addCoverage(hits []*Hit) {
	all := 0.0
	weight := make([]float64, len(r.weight))
	for t, w := range r.weight {
		have := 0.0
		for _, h := range hits {
			if h.hasWord[t] {
				have++
			}
		}
		all += w
		weight[t] = w * rarity(have, len(hits))
	}
	for _, h := range hits {
		sum := 0.0
		for t, has := range h.hasWord {
			if has {
				sum += weight[t]
			}
		}
		if h.features[fCoverage] = 0; all > 0 {
			h.features[fCoverage] = sum / all
		}
	}
}

// closeness is what two words a distance apart are worth.
func closeness(d int) float64 {
	switch {
	case d == 1:
		return 1
	case d > 0 && d <= 3:
		return 0.6
	case d < 0 && d >= -3:
		return 0.4
	case d > -8 && d < 8:
		return 0.2
	}
	return 0
}

// A wording is the question as it was put, small words and repetitions among
// its tokens: "is it null or not null" is no more than "null" to the arms.
type wording struct {
	tokens []uint32
	at     map[uint32][]int // where a token stands
	maybe  [1 << 12]bool    // by the last bits of tokens: most of a passage is passed over at once
}

// maxWording bounds the tokens of a question whose wording counts.
const maxWording = 64

func newWording(text string) *wording {
	words := index.Words(text[:min(len(text), maxWording*maxWording)])
	w := &wording{at: make(map[uint32][]int, len(words))}
	for i, t := range words[:min(len(words), maxWording)] {
		h := index.TokenHash(t)
		w.tokens, w.at[h] = append(w.tokens, h), append(w.at[h], i)
		w.maybe[h&(1<<12-1)] = true
	}
	return w
}

// pairs is how many pairs of neighbours the question has.
func (w *wording) pairs() int { return max(0, len(w.tokens)-1) }

// mark sets those pairs that stand side by side in a passage.
func (w *wording) mark(c *index.Candidate, hasPair []bool) {
	if len(hasPair) == 0 {
		return
	}
	for _, tokens := range c.Tokens {
		before := false // whether the token before may be one of the question's
		for i, t := range tokens {
			after := w.maybe[t&(1<<12-1)]
			if before && after {
				for _, at := range w.at[tokens[i-1]] {
					if at < len(hasPair) && w.tokens[at+1] == t {
						hasPair[at] = true
					}
				}
			}
			before = after
		}
	}
}

// addWording gives hits the share of the question's pairs of neighbours that stand
// side by side in them, each weighted by how few of the hits contain it.
func (r *reader) addWording(hits []*Hit) {
	worth := make([]float64, r.wording.pairs())
	for i := range worth {
		have := 0.0
		for _, h := range hits {
			if h.hasPair[i] {
				have++
			}
		}
		worth[i] = rarity(have, len(hits)) / float64(len(worth))
	}
	for _, h := range hits {
		h.features[fWording] = 0
		for i, hasPair := range h.hasPair {
			if hasPair {
				h.features[fWording] += worth[i]
			}
		}
	}
}
