package recall

import (
	"math"

	"anamnesis/internal/index"
)

// What the built-in reranker looks at in a hit: numbers between 0 and 1, or nearly.
const (
	fWords      = iota // BM25F of the best passage
	fBody              // of the body alone, without title and tags
	fNote              // of all passages of the note that were found, as one
	fSoft              // what the passage gains by words that mean nearly the same
	fCoverage          // share of the question's words that it holds, by weight
	fNear              // words of the question that stand together in it
	fWording           // likewise side by side, small words among them
	fCosine            // of the vectors of passage and question
	fFeedback          // of the vectors of the passage and of the best hits
	fGraph             // strength of the path through the graph
	fTime              // it is of the time that the question speaks of
	fNeighbours        // how good the notes are that were written with it
	fManyWords         // of the question, not of the hit: how long it is; the curves of the others depend on it
	numFeatures
)

type features [numFeatures]float64

// shares are the features that are shares of the question's words by weight.
var shares = []int{fWords, fBody, fNote, fSoft, fCoverage, fNear}

// RelevanceWeights are the weights of the features in the gate's reading. They were
// fitted to questions that people wrote, but for the last three, which those sets
// cannot show (docs/retrieval.md).
var RelevanceWeights = features{
	fWords: 1, fBody: 8, fNote: 3.5, fSoft: 6.3, fCoverage: 4, fNear: 1.5, fWording: 2, fCosine: 1.6, fFeedback: 2,
	fGraph: 4, fTime: 1,
}

// FeatureNames names the features in explanations.
var FeatureNames = [fManyWords]string{
	"words", "words in the body", "words in the note", "related words", "coverage", "phrases",
	"wording", "meaning", "like the best", "graph", "time", "company",
}

// Features returns what the built-in reranker saw in a hit, in the order of
// FeatureNames; zeros for a hit it has not read.
func (h *Hit) Features() []float64 { return h.features[:fManyWords] }

// relevance is the weighted sum of the features that the gate reads. It says how good a
// hit is and not, as sum does, whether it is better than another. The feature of
// neighbours does not count: it only compares.
func (f *features) relevance() (sum float64) {
	for i, w := range RelevanceWeights {
		sum += w * f[i]
	}
	return sum
}

var (
	bmPassage = bm25{k1: 1.2, b: 0.8}
	bmNote    = bm25{k1: 1.2, b: 0.75}
)

type bm25 struct{ k1, b float64 }

// of is the saturated frequency of a term, 0 to 1.
func (m bm25) of(tf, length, mean float64) float64 {
	if tf <= 0 || mean <= 0 {
		return 0
	}
	tf /= 1 - m.b + m.b*length/mean
	return tf / (tf + m.k1)
}

// A reader makes features.
type reader struct {
	*scorer
	wording  *wording
	question []float32 // its vector, nil when there is none
	model    uint64
	many     float64 // ManyWords of the question

	tf    [index.NumFields][]float64 // of the terms in the passage at hand
	near  []float64                  // by terms that mean nearly the same
	all   []float64                  // of the terms in all passages of the note
	where [][]int                    // first positions of each term

	vectors []index.Vector // of the passages of the note at hand, nil for one of another model
	cosines []float64      // likewise, with the question
}

func newReader(s *scorer, text string, question []float32, model uint64) *reader {
	n := len(s.weight)
	r := &reader{
		scorer: s, wording: newWording(text), question: question, model: model, many: ManyWords(n),
		near: make([]float64, n), all: make([]float64, n), where: make([][]int, n),
	}
	for f := range r.tf {
		r.tf[f] = make([]float64, n)
	}
	return r
}

// passageScores are what the passages of a note have in common with the question.
type passageScores struct {
	features         features
	coverage, cosine float64
	best             *index.Candidate // its most relevant passage; nil without passages
	pairs            []float64
	hasWord, hasPair []bool
}

// read fills in the features of a hit, but for those that need the others. One
// that took the place of another note is read as that one when it says more.
func (r *reader) read(h *Hit) {
	got := r.readAll(h.passages)
	if c := got.best; c != nil {
		h.Start, h.End, h.vector = c.Start, c.End, nil
		if c.Model == r.model {
			h.vector = c.Vector
		}
	}
	h.Coverage, h.Cosine = max(h.Coverage, got.coverage), max(h.Cosine, got.cosine)
	if len(h.before) > 0 {
		was := r.readAll(h.before)
		h.Coverage, h.Cosine = max(h.Coverage, was.coverage), max(h.Cosine, was.cosine)
		if was.features.relevance() > got.features.relevance() {
			got = was
		}
	}
	h.features, h.pairs, h.hasWord, h.hasPair = got.features, got.pairs, got.hasWord, got.hasPair
	h.features[fGraph] = h.Found["graph"].Norm
	h.features[fTime] = h.Found["temporal"].Norm
}

// readAll reads the passages of a note: the best counts.
func (r *reader) readAll(passages []index.Candidate) passageScores {
	clear(r.all)
	got := passageScores{hasPair: make([]bool, r.wording.pairs()), hasWord: make([]bool, len(r.weight))}
	length := 0.0
	best := math.Inf(-1)
	r.compare(passages)
	for i := range passages {
		c := &passages[i]
		f := r.passage(c, r.cosines[i])
		r.wording.mark(c, got.hasPair)
		for t := range r.all {
			r.all[t] += r.tf[index.Body][t]
			if i == 0 {
				r.all[t] += r.tf[index.Title][t] + r.tf[index.Tags][t]
			}
		}
		length += float64(len(c.Tokens[index.Body]))
		if i == 0 {
			length += float64(len(c.Tokens[index.Title]) + len(c.Tokens[index.Tags]))
		}
		got.coverage, got.cosine = max(got.coverage, f[fCoverage]), max(got.cosine, f[fCosine])
		if s := f.relevance(); s > best {
			best, got.features, got.best = s, f, c
			got.pairs = r.proximity()
			for t := range got.hasWord {
				got.hasWord[t] = r.tf[0][t]+r.tf[1][t]+r.tf[2][t] > 0
			}
		}
	}
	mean := r.length[index.Title] + r.length[index.Tags] + r.length[index.Body]
	for t, w := range r.weight {
		got.features[fNote] += w * bmNote.of(r.all[t], length, mean)
	}
	if r.sum > 0 {
		got.features[fNote] /= r.sum
	}
	return got
}

// compare sets the cosines of passages with the question.
func (r *reader) compare(passages []index.Candidate) {
	r.vectors, r.cosines = r.vectors[:0], r.cosines[:0]
	for i := range passages {
		v := passages[i].Vector
		if passages[i].Model != r.model {
			v = nil
		}
		r.vectors, r.cosines = append(r.vectors, v), append(r.cosines, 0)
	}
	index.Cosines(r.vectors, r.question, r.cosines)
}

// passage reads one passage.
func (r *reader) passage(c *index.Candidate, cosine float64) (f features) {
	r.count(c)
	f[fManyWords], f[fCosine] = r.many, cosine
	if r.sum == 0 {
		return f
	}
	body, meanBody := float64(len(c.Tokens[index.Body])), r.length[index.Body]
	whole, mean := body, meanBody
	for _, field := range []index.Field{index.Title, index.Tags} {
		whole += float64(len(c.Tokens[field]))
		mean += r.length[field]
	}
	for t, w := range r.weight {
		tf := r.tf[index.Body][t] + r.fields[index.Title]*r.tf[index.Title][t] + r.fields[index.Tags]*r.tf[index.Tags][t]
		f[fWords] += w * bmPassage.of(tf, whole, mean)
		f[fBody] += w * bmPassage.of(r.tf[index.Body][t], body, meanBody)
		if tf > 0 {
			f[fCoverage] += w
		} else {
			f[fSoft] += w * bmPassage.of(r.near[t], whole, mean)
		}
	}
	for _, i := range []int{fWords, fBody, fCoverage, fSoft} {
		f[i] /= r.sum
	}
	return f
}

// count counts the terms of a passage.
func (r *reader) count(c *index.Candidate) {
	clear(r.near)
	for t := range r.where {
		r.where[t] = r.where[t][:0]
	}
	at := 0
	for f, tokens := range c.Tokens {
		tf := r.tf[f]
		clear(tf)
		for _, token := range tokens {
			if r.compared.isNothing(token) {
				at++
				continue
			}
			for _, m := range r.matches(token) {
				if m.worth < 1 {
					r.near[m.term] = max(r.near[m.term], m.worth)
					continue
				}
				tf[m.term]++
				if len(r.where[m.term]) < maxWhere && index.Field(f) != index.Tags {
					r.where[m.term] = append(r.where[m.term], at)
				}
			}
			at++
		}
		at += fieldGap
	}
}

const (
	maxWhere = 8  // positions of a term that are looked at
	fieldGap = 20 // words between two fields
)

// proximity returns how close each two neighbouring terms of the question stand
// in the passage, 0 to 1.
func (r *reader) proximity() []float64 {
	pairs := make([]float64, max(0, len(r.weight)-1))
	for i := range pairs {
		for _, a := range r.where[i] {
			for _, b := range r.where[i+1] {
				pairs[i] = max(pairs[i], closeness(b-a))
			}
		}
	}
	return pairs
}
