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
	best := make(map[int64]*Hit)
	var keys []int64
	for i := range m.Candidates {
		c := &m.Candidates[i]
		score, coverage, matched := s.score(c)
		h := best[c.Key]
		if h == nil {
			h = &Hit{}
			best[c.Key] = h
			keys = append(keys, c.Key)
		}
		h.Coverage = max(h.Coverage, coverage)
		if score > h.score {
			h.Start, h.End, h.score, h.Reasons = c.Start, c.End, 0, nil
			h.add(fmt.Sprintf("words %v", matched), score)
		}
	}
	rows, err := e.index.Rows(ctx, keys)
	if err != nil {
		return nil, err
	}
	hits := make([]*Hit, 0, len(rows))
	for _, r := range rows {
		h := best[r.Key]
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
	words  []string
	weight []float64 // idf
	sum    float64
	length [index.NumFields]float64
	fields [index.NumFields]float64 // what an occurrence in a field is worth
}

func newScorer(o Options, m index.Matches) *scorer {
	s := &scorer{opts: o, terms: make(map[uint32]int, len(m.Terms)), length: m.Statistics.Length}
	s.fields = [index.NumFields]float64{index.Title: o.TitleWeight, index.Tags: o.TagsWeight, index.Body: 1}
	for i, t := range m.Terms {
		s.terms[index.TokenHash(t.Token)] = i
		s.words = append(s.words, t.Token)
		s.weight = append(s.weight, t.Weight)
		s.sum += t.Weight
	}
	return s
}

func (s *scorer) score(c *index.Candidate) (score, coverage float64, matched []string) {
	tf := make([]float64, len(s.weight))
	for f, tokens := range c.Tokens {
		norm := 1.0
		if s.length[f] > 0 {
			norm = 1 - s.opts.B + s.opts.B*float64(len(tokens))/s.length[f]
		}
		for _, t := range tokens {
			if i, ok := s.terms[t]; ok {
				tf[i] += s.fields[f] / norm
			}
		}
	}
	for i, n := range tf {
		if n == 0 {
			continue
		}
		score += s.weight[i] * n * (s.opts.K1 + 1) / (n + s.opts.K1)
		coverage += s.weight[i]
		matched = append(matched, s.words[i])
	}
	if s.sum > 0 {
		coverage /= s.sum
	}
	return score, coverage, matched
}
