package recall

import (
	"cmp"
	"slices"
)

// gated is how many of the best hits the gate looks at.
const gated = 5

// What the gate and the score see of a question and its hits: the features of the best
// hit, and absolute terms, which the reranker, comparing hits of one question, does not
// need.
const (
	cCosine     = iota + int(fManyWords) // how near the nearest of the best is in meaning
	cMeanCosine                          // and how near they all are
	cPresent                             // how much of the question the best contains in absolute terms: three rare words say more than one
	cShare                               // and as a share of all of it
	cRarity                              // what a word of the question weighs, on average
	cUnknown                             // the share of the question's words, by weight, that no note knows
	numInputs
)

type inputs [numInputs]float64

// A certainty makes one number of what is seen.
type certainty struct {
	weights inputs
	unknown float64 // what a word that no note knows weighs, against its rarity, among the words that are due
}

// Two of them: whether there is an answer at all, and how certain the answer
// is. A question most of whose words occur in no note is about something else, and
// the gate counts that against it. Among questions that could be meant for this
// store such a word is as often a typing error or a synonym, and the score gives it
// little weight (docs/retrieval.md).
//
// The second was fitted to questions put to their own notes and to other notes near to
// them, by logistic regression with a constant for each store, and rounded. lab/rankfit
// fits it again, and prints how well both tell friends from strangers.
var (
	toOpen  = certainty{weights: inputs{cCosine: 8, cPresent: 0.1, cUnknown: -3}.with(RelevanceWeights), unknown: 0.5}
	toScore = certainty{weights: ScoreWeights, unknown: unknownInScore}
)

// ScoreWeights are the weights of Result.ScoreInputs in the score.
var ScoreWeights = inputs{
	fWords: 1.5, fBody: 2.7, fNote: 1.55, fSoft: 4.85, fCoverage: 0.3, fWording: 4.9, fCosine: 1.6, fGraph: 4, fTime: 1,
	cCosine: 4.2, cMeanCosine: 4.4, cPresent: 0.2, cShare: 3, cRarity: 0.47,
}

const unknownInScore = 0.25

// of is the relevance of hits to a question, in units of the reranker's sum.
// Its scale depends on the store: see Calibrate.
func (w *certainty) of(hits []*Hit, res *Result) (sum float64) {
	seen, ok := see(hits, res, w.unknown)
	if !ok {
		return 0
	}
	for i, x := range w.weights {
		sum += x * seen[i]
	}
	return sum
}

// see returns what is seen of hits; unknown is what a word that no note knows weighs
// among the words that are due. A neighbour that no arm found is no answer; without an
// answer there is nothing to see.
func see(hits []*Hit, res *Result, unknown float64) (seen inputs, ok bool) {
	found := make([]*Hit, 0, len(hits))
	for _, h := range hits {
		if len(h.Found) > 0 {
			found = append(found, h)
		}
	}
	if len(found) == 0 {
		return seen, false
	}
	slices.SortStableFunc(found, func(a, b *Hit) int {
		return cmp.Compare(b.features.relevance(), a.features.relevance())
	})
	top := found[0]
	copy(seen[:], top.features[:fManyWords])
	for _, h := range found[:min(len(found), gated)] {
		seen[cCosine] = max(seen[cCosine], h.Cosine)
		seen[cMeanCosine] += h.Cosine / gated
	}
	all, strange := 0.0, 0.0
	for i, t := range res.weighed {
		all += t.Weight
		if t.Frequency == 0 {
			strange += t.Weight
		}
		if i < len(top.hasWord) && top.hasWord[i] {
			seen[cPresent] += t.Weight
		}
	}
	if due := all - strange + unknown*strange; due > 0 {
		seen[cUnknown] = strange / all
		for _, i := range shares {
			seen[i] *= all / due
		}
	}
	if all > 0 {
		seen[cShare] = seen[cPresent] / all
		seen[cRarity] = all / float64(len(res.weighed))
	}
	return seen, true
}

// with returns inputs with the features of a hit among them.
func (in inputs) with(f features) inputs {
	copy(in[:], f[:fManyWords])
	return in
}

// ScoreInputs returns what the score of the best hit is made of: its features, then the
// values that certainties see besides; nil when nothing was found.
func (r *Result) ScoreInputs() []float64 {
	seen, ok := see(r.Hits, r, unknownInScore)
	if !ok {
		return nil
	}
	return seen[:]
}
