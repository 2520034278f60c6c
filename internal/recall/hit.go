package recall

import (
	"anamnesis/internal/index"
	"anamnesis/internal/note"
)

// A Hit is a note that answers a query.
type Hit struct {
	Row        index.Row
	Note       *note.Note // set by pack
	Start, End int        // the passage that matched best, in bytes of the body
	Coverage   float64    // share of the question's words it contains, weighted by their rarity
	Cosine     float64    // of its best passage and the question, 0 when nobody compared them
	Reasons    []Reason
	Found      map[string]Found  // by which arms; "company" when they were found beside another hit, see Sources
	Fields     map[string]string // what Query.Fields asked for (S1)
	Tokens     int               // what it costs as rendered

	score       float64
	base        float64 // before boosts
	passages    []index.Candidate
	before      []index.Candidate // of the note it took the place of
	neighbourOf *Hit              // that it was written with; nil when an arm found it
	features    features
	vector      index.Vector // of its best passage
	hasWord     []bool       // which words of the question it contains
	hasPair     []bool       // which pairs of its neighbouring tokens stand side by side in it
	pairs       []float64    // how close neighbouring words of the question stand in it
}

// Found is how an arm found a hit: rank, score and reason.
type Found struct {
	Rank  int     `json:"rank"`  // from 1
	Score float64 `json:"score"` // means something within this arm only
	Norm  float64 `json:"norm"`  // 0 to 1; floors apply to it
	Why   string  `json:"why,omitempty"`
}

// A Reason is one step of a score.
type Reason struct {
	What  string  `json:"what"`
	Delta float64 `json:"delta"`
}

// Score is what the hits are ordered by. It means something within one result only.
func (h *Hit) Score() float64 { return h.score }

// Base is the relevance before boosts, 0 to 1.
func (h *Hit) Base() float64 { return h.base }

// add changes the score and writes down why. Nothing else changes it but times.
func (h *Hit) add(what string, delta float64) {
	h.score += delta
	h.Reasons = append(h.Reasons, Reason{what, delta})
}

// times multiplies the score and writes down what that changed.
func (h *Hit) times(what string, factor float64) {
	if factor != 1 {
		h.add(what, h.score*(factor-1))
	}
}

// replaceScore replaces the score, as a stage does that judges again.
func (h *Hit) replaceScore(what string, score float64) {
	h.score, h.Reasons = 0, nil
	h.add(what, score)
}
