package recall

import (
	"math"

	"anamnesis/internal/index"
)

// How rare a word is in a few notes says little: in ten of them nearly every word
// stands once. So a store of few passages is read as if it were one of backedBy more,
// which hold words as often as text does at large. With each of its passages that
// counts for less, and from ownRarity passages on the store speaks for itself.
const (
	backedBy  = 100
	ownRarity = 70
)

// What is known of words at large.
const (
	passageWords = 80   // of a passage
	smoothing    = 1e-3 // a of the weights a/(a+p) of words of probability p (embed.Word)
	rareWord     = 1e-6 // p of a word that the word vectors do not know
	smallWord    = 2e-2 // p of a stop word
)

// weigh returns terms with their weights as a store of so few passages has to weigh
// them. Terms are not changed in place: somebody else may read them.
func (e *Engine) weigh(terms []index.Term, passages int) []index.Term {
	if e.models.Words == nil || passages >= ownRarity {
		return terms
	}
	extra := backedBy * (1 - float64(passages)/ownRarity)
	weighed := make([]index.Term, len(terms))
	for i, t := range terms {
		df, n := float64(t.Frequency)+extra*e.chance(t.Token), float64(passages)+extra
		t.Weight = math.Log(1 + (max(n, df)-df+0.5)/(df+0.5)) // index.IDF
		weighed[i] = t
	}
	return weighed
}

// chance is the probability that a passage of text at large holds a token.
func (e *Engine) chance(token string) float64 {
	p := rareWord
	if w, ok := e.models.Words.Word(index.TokenHash(token)); ok && w.Weight < 1 {
		p = smoothing * (1 - float64(w.Weight)) / float64(w.Weight)
	} else if index.Stopword(token) {
		p = smallWord
	}
	return 1 - math.Pow(1-min(p, 0.5), passageWords)
}
