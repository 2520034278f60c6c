package index

import (
	"context"
	"errors"
	"math"
	"slices"
)

// Matches is the answer to a question in words: everything a scorer needs.
type Matches struct {
	Terms      []Term // the question, in its order; a Frequency of 0 means that no note knows the word
	Statistics Statistics
	Candidates []Candidate
}

// maxPostings bounds the work of one question: terms are taken rarest first
// until their posting lists hold this many entries. The candidates are scored
// by all terms all the same. docs/performance.md has what a question costs.
const maxPostings = 4000

// maxTerms bounds a question: a prompt can be a pasted log.
const maxTerms = 64

// Ask finds the passages that share words with a question: those of about limit notes, and
// at most twice as many passages.
func (ix *Index) Ask(ctx context.Context, question string, f Filter, limit int) (Matches, error) {
	m, err := ix.ask(ctx, question, f, limit)
	if errors.Is(err, ErrLost) {
		if _, err = ix.sync(ctx, SyncOptions{}); err == nil {
			m, err = ix.ask(ctx, question, f, limit)
		}
	}
	return m, err
}

func (ix *Index) ask(ctx context.Context, question string, f Filter, limit int) (m Matches, err error) {
	if m, err = ix.Terms(ctx, question); err != nil || len(m.Terms) == 0 {
		return m, err
	}
	m.Candidates, err = ix.Match(ctx, prune(m.Terms), f, m.Statistics.forNotes(limit))
	for i := range m.Terms {
		m.Terms[i].Postings = "" // terms live as long as the answer
	}
	return m, err
}

// Terms returns the terms of a question, as Ask does, without what matches them.
func (ix *Index) Terms(ctx context.Context, question string) (m Matches, err error) {
	tokens := Tokens(question)
	tokens = tokens[:min(len(tokens), maxTerms)]
	if len(tokens) == 0 {
		return m, nil
	}
	if m.Statistics, err = ix.Statistics(ctx); err != nil {
		return m, err
	}
	if m.Terms, err = ix.Frequencies(ctx, tokens); err != nil {
		return m, err
	}
	for i := range m.Terms {
		m.Terms[i].Weight = IDF(m.Terms[i].Frequency, m.Statistics.Passages)
	}
	return m, nil
}

// mostPerNote bounds how many passages are asked for in place of a note.
const mostPerNote = 2

// forNotes returns how many passages hold so many notes, by the mean of the store: without
// it the passages of long notes crowd out other notes.
func (s Statistics) forNotes(n int) int {
	if s.Passages <= s.Notes {
		return n
	}
	return min(mostPerNote*n, n*s.Passages/max(1, s.Notes))
}

// IDF is BM25's inverse document frequency, in the form that is never negative.
func IDF(df, n int) float64 {
	return math.Log(1 + (float64(max(n, df)-df)+0.5)/(float64(df)+0.5))
}

// prune keeps the rarest terms, as many as the bound allows and at least one.
func prune(terms []Term) []Term {
	var kept []Term
	for _, t := range terms {
		if t.Frequency > 0 {
			kept = append(kept, t)
		}
	}
	slices.SortStableFunc(kept, func(a, b Term) int { return a.Frequency - b.Frequency })
	sum := 0
	for i, t := range kept {
		if sum += t.Frequency; i > 0 && sum > maxPostings {
			return kept[:i]
		}
	}
	return kept
}
