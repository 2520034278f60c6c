package recall

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"anamnesis/internal/embed"
	"anamnesis/internal/index"
)

// How words that are not in a passage are matched by others that mean nearly
// the same: one at cosine c counts ((c-softLeast)/(1-softLeast))^softPower of an
// occurrence. Only the softTerms rarest terms of a question are compared.
const (
	softLeast = 0.35
	softPower = 1.0
)

const softTerms = 16

// A match is a token of a passage that counts as a term of the question.
type match struct {
	term  int
	worth float64 // 1 for the term itself, less for a neighbour
}

// A scorer reads the passages of one answer of the index.
type scorer struct {
	opts     Options
	terms    map[uint32][]match
	maybe    [1 << 13]byte // bits of the hashes of terms: most tokens are passed over at once
	known    *embed.Static // nil: terms match themselves alone
	compared *tokenTable   // tokens that were compared with the terms by known
	mean     []meaning     // of terms
	words    []string
	weight   []float64 // idf
	sum      float64
	length   [index.NumFields]float64
	fields   [index.NumFields]float64 // what an occurrence in a field is worth

	tf []float64 // of each term in the passage at hand, weighted
}

// newScorer returns a scorer. With words, which are compared by what they mean,
// it needs a table of those it has seen.
func newScorer(o Options, m index.Matches, words *embed.Static, table *tokenTable) *scorer {
	n := len(m.Terms)
	s := &scorer{
		opts: o, terms: make(map[uint32][]match, n), length: m.Statistics.Length,
		compared: table, tf: make([]float64, n),
	}
	s.fields = [index.NumFields]float64{index.Title: o.TitleWeight, index.Tags: o.TagsWeight, index.Body: 1}
	part := parts(m.Terms)
	for i, t := range m.Terms {
		weight := t.Weight
		if part[i] {
			weight *= partWeight
		}
		s.learn(index.TokenHash(t.Token), match{i, 1})
		s.words = append(s.words, t.Token)
		s.weight = append(s.weight, weight)
		s.sum += weight
	}
	if words != nil {
		s.know(m.Terms, words)
	}
	return s
}

// A meaning is the vector of a term.
type meaning struct {
	term int
	embed.Pattern
}

// know makes the scorer match words that mean nearly the same.
func (s *scorer) know(terms []index.Term, words *embed.Static) {
	s.known = words
	for i, t := range terms {
		if w, ok := words.Word(index.TokenHash(t.Token)); ok {
			s.mean = append(s.mean, meaning{i, embed.NewPattern(w)})
		}
	}
	slices.SortStableFunc(s.mean, func(a, b meaning) int { return cmp.Compare(terms[b.term].Weight, terms[a.term].Weight) })
	s.mean = s.mean[:min(len(s.mean), softTerms)]
}

// matches returns the terms as which a token of a passage counts, and caches them.
func (s *scorer) matches(token uint32) []match {
	if s.known == nil {
		if !s.mayBeTerm(token) {
			return nil
		}
		return s.terms[token]
	}
	got, ok := s.compared.get(token)
	if ok {
		return got
	}
	if s.mayBeTerm(token) {
		if got, ok = s.terms[token]; ok {
			s.compared.put(token, got)
			return got
		}
	}
	if len(s.mean) == 0 {
		s.compared.put(token, nil)
		return nil
	}
	if w, ok := s.known.Word(token); ok {
		lanes := &s.compared.lanes
		lanes.Set(w)
		for i := range s.mean {
			m := &s.mean[i]
			if c := float64(m.Cosine(lanes)); c > softLeast {
				got = append(got, match{m.term, math.Pow((c-softLeast)/(1-softLeast), softPower)})
			}
		}
	}
	s.compared.put(token, got)
	return got
}

// mayBeTerm reports whether a token can be one of the terms: most are not.
func (s *scorer) mayBeTerm(token uint32) bool {
	return s.maybe[token>>3&(1<<13-1)]&(1<<(token&7)) != 0
}

func (s *scorer) learn(token uint32, m match) {
	s.terms[token] = append(s.terms[token], m)
	s.maybe[token>>3&(1<<13-1)] |= 1 << (token & 7)
}

// countTerms sets tf, and returns the share of the terms by weight that a passage contains.
func (s *scorer) countTerms(c *index.Candidate) (coverage float64) {
	clear(s.tf)
	for f, tokens := range c.Tokens {
		norm := 1.0
		if s.length[f] > 0 {
			norm = 1 - s.opts.B + s.opts.B*float64(len(tokens))/s.length[f]
		}
		for _, t := range tokens {
			for _, m := range s.matches(t) {
				if m.worth == 1 {
					s.tf[m.term] += s.fields[f] / norm
				}
			}
		}
	}
	for i, w := range s.weight {
		if s.tf[i] > 0 {
			coverage += w
		}
	}
	if s.sum == 0 {
		return 0
	}
	return coverage / s.sum
}

// bm25 is BM25F (Robertson, Zaragoza: The Probabilistic Relevance Framework,
// 2009): the occurrences of a word in all fields are weighted, normalised by
// length and added before they saturate.
func (s *scorer) bm25(c *index.Candidate) (score float64) {
	s.countTerms(c)
	for i, n := range s.tf {
		score += s.weight[i] * s.saturate(n)
	}
	return score
}

func (s *scorer) saturate(n float64) float64 {
	if n == 0 {
		return 0
	}
	return n * (s.opts.K1 + 1) / (n + s.opts.K1)
}

// matched returns the words that the present passage contains.
func (s *scorer) matched() (words []string) {
	for i, n := range s.tf {
		if n > 0 {
			words = append(words, s.words[i])
		}
	}
	return words
}

// partWeight is the weight of a part of a word of the question, of a word's.
const partWeight = 0.5

// parts tells which terms of a question are parts of the one before them: "r"
// and "spec" of "RSpec". The question contains that word once, so a note that
// contains it must not count three times.
func parts(terms []index.Term) []bool {
	part := make([]bool, len(terms))
	for i := 0; i < len(terms); i++ {
		whole := strings.ReplaceAll(terms[i].Token, "_", "")
		for j := i + 1; j < len(terms); j++ {
			at := strings.Index(whole, terms[j].Token)
			if at < 0 || len(terms[j].Token) >= len(whole) && j == i+1 {
				break
			}
			part[j] = true
			whole = whole[at+len(terms[j].Token):]
			i = j
		}
	}
	return part
}
