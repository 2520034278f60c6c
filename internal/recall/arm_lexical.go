package recall

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"anamnesis/internal/index"
)

// lexical finds notes that share words with the question and ranks them by
// BM25F (Robertson, Zaragoza: The Probabilistic Relevance Framework, 2009): the
// occurrences of a word in all fields are weighted, normalised by length and
// added before they saturate. A note is as good as its best passage.
func (e *Engine) lexical(ctx context.Context, q Query, res *Result) ([]*Hit, error) {
	m, err := e.index.Ask(ctx, q.Text, e.filter(q), e.opts.Candidates)
	if err != nil {
		return nil, err
	}
	res.Terms, res.Searched = m.Terms, m.Statistics.Notes
	s := newScorer(e.opts, m)
	best := make(map[int64]*Hit, len(m.Candidates))
	hits := make([]*Hit, 0, len(m.Candidates))
	passage := make(map[*Hit]*index.Candidate, len(m.Candidates)) // that matched best
	for i := range m.Candidates {
		c := &m.Candidates[i]
		score, coverage := s.score(c)
		h := best[c.Key]
		if h == nil {
			h = &Hit{Row: index.Row{Key: c.Key}}
			best[c.Key] = h
			hits = append(hits, h)
		}
		h.Coverage = max(h.Coverage, coverage)
		if score > h.score {
			h.Start, h.End, h.score, passage[h] = c.Start, c.End, score, c
		}
	}
	hits = foremost(hits, max(leastRows, rowsPerNote*q.K))
	if hits, err = e.describe(ctx, hits); err != nil {
		return nil, err
	}
	for _, h := range hits {
		if c := passage[h]; c != nil {
			score := h.score
			h.score = 0
			h.add(fmt.Sprintf("words %v", s.matched(c)), score)
		}
	}
	return hits, nil
}

// How many hits go on for each note that is asked for, and at least: the later
// stages choose among them, and files may be gone or too long.
const (
	rowsPerNote = 3
	leastRows   = 50
)

// foremost returns the n hits with the highest scores and those that equal the
// last of them, in no order that means anything.
func foremost(hits []*Hit, n int) []*Hit {
	if len(hits) <= n {
		return hits
	}
	slices.SortFunc(hits, func(a, b *Hit) int { return cmp.Compare(b.score, a.score) })
	for n < len(hits) && hits[n].score == hits[n-1].score {
		n++
	}
	return hits[:n]
}

// describe fills in the rows of hits and puts them in order.
func (e *Engine) describe(ctx context.Context, hits []*Hit) ([]*Hit, error) {
	keys := make([]int64, len(hits))
	byKey := make(map[int64]*Hit, len(hits))
	for i, h := range hits {
		keys[i], byKey[h.Row.Key] = h.Row.Key, h
	}
	rows, err := e.index.Rows(ctx, keys)
	if err != nil {
		return nil, err
	}
	hits = hits[:0]
	for _, r := range rows {
		h := byKey[r.Key]
		h.Row = r
		hits = append(hits, h)
	}
	slices.SortFunc(hits, func(a, b *Hit) int {
		return cmp.Or(cmp.Compare(b.score, a.score), b.Row.Updated.Compare(a.Row.Updated), cmp.Compare(a.Row.ID, b.Row.ID))
	})
	return hits, nil
}

// A scorer computes BM25F for the passages of one answer of the index.
type scorer struct {
	opts   Options
	terms  map[uint32]int // token hash → position in weights
	maybe  [256]bool      // last bytes of these hashes: most tokens are passed over at once
	words  []string
	tf     []float64
	weight []float64 // idf
	sum    float64
	length [index.NumFields]float64
	fields [index.NumFields]float64 // what an occurrence in a field is worth
}

func newScorer(o Options, m index.Matches) *scorer {
	s := &scorer{opts: o, terms: make(map[uint32]int, len(m.Terms)), length: m.Statistics.Length}
	s.fields = [index.NumFields]float64{index.Title: o.TitleWeight, index.Tags: o.TagsWeight, index.Body: 1}
	for i, t := range m.Terms {
		hash := index.TokenHash(t.Token)
		s.terms[hash] = i
		s.maybe[byte(hash)] = true
		s.words = append(s.words, t.Token)
		s.weight = append(s.weight, t.Weight)
		s.sum += t.Weight
	}
	return s
}

// count sets tf to the weighted occurrences of each term in a passage.
func (s *scorer) count(c *index.Candidate) {
	s.tf = append(s.tf[:0], make([]float64, len(s.weight))...)
	for f, tokens := range c.Tokens {
		norm := 1.0
		if s.length[f] > 0 {
			norm = 1 - s.opts.B + s.opts.B*float64(len(tokens))/s.length[f]
		}
		for _, t := range tokens {
			if !s.maybe[byte(t)] {
				continue
			}
			if i, ok := s.terms[t]; ok {
				s.tf[i] += s.fields[f] / norm
			}
		}
	}
}

func (s *scorer) score(c *index.Candidate) (score, coverage float64) {
	s.count(c)
	for i, n := range s.tf {
		if n == 0 {
			continue
		}
		score += s.weight[i] * n * (s.opts.K1 + 1) / (n + s.opts.K1)
		coverage += s.weight[i]
	}
	if s.sum > 0 {
		coverage /= s.sum
	}
	return score, coverage
}

// matched returns the words that a passage holds.
func (s *scorer) matched(c *index.Candidate) (words []string) {
	s.count(c)
	for i, n := range s.tf {
		if n > 0 {
			words = append(words, s.words[i])
		}
	}
	return words
}
