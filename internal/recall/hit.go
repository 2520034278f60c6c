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
	Coverage   float64    // share of the question's words it holds, weighted by their rarity
	Reasons    []Reason

	score float64
}

// A Reason is one step of a score.
type Reason struct {
	What  string  `json:"what"`
	Delta float64 `json:"delta"`
}

// Score is what the hits are ordered by. It means something within one result only.
func (h *Hit) Score() float64 { return h.score }

// add changes the score and writes down why. Nothing else changes it.
func (h *Hit) add(what string, delta float64) {
	h.score += delta
	h.Reasons = append(h.Reasons, Reason{what, delta})
}
