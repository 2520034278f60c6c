package postgres

import (
	"context"
	"maps"
	"slices"

	"anamnesis/internal/index"
	"anamnesis/internal/index/flat"

	"github.com/jackc/pgx/v5"
)

// Statistics returns the numbers of the whole index.
func (d searcher) Statistics(ctx context.Context) (index.Statistics, error) {
	var s index.Statistics
	var lengths [index.NumFields]int64
	err := d.row(ctx, "SELECT notes, passages, length_title, length_tags, length_body FROM anamnesis.workspaces WHERE id = $1", nil,
		&s.Notes, &s.Passages, &lengths[index.Title], &lengths[index.Tags], &lengths[index.Body])
	for f := range lengths {
		if s.Passages > 0 {
			s.Length[f] = float64(lengths[f]) / float64(s.Passages)
		}
	}
	return s, err
}

// fewPostings is how many postings of a token are read when its passages are counted: a
// question takes no term with more of them, unless it has no other (index.Index.Ask).
const fewPostings = 4000

const countsSQL = `SELECT j.place, coalesce(s.n, 0), f.data FROM unnest($2::integer[]) WITH ORDINALITY AS j (token, place)
	LEFT JOIN LATERAL (SELECT sum(p.passages)::bigint AS n FROM anamnesis.postings p WHERE p.workspace = $1 AND p.token = j.token) s ON true
	LEFT JOIN LATERAL (SELECT string_agg(p.data, '' ORDER BY p.run) AS data FROM anamnesis.postings p
		WHERE s.n <= $3::bigint AND p.workspace = $1 AND p.token = j.token) f ON true`

// Frequencies returns a term for each token. Short posting lists come with it.
func (d searcher) Frequencies(ctx context.Context, tokens []string) ([]index.Term, error) {
	terms := make([]index.Term, len(tokens))
	asked := make([]int32, len(tokens))
	for i, t := range tokens {
		terms[i].Token, asked[i] = t, int32(index.TokenHash(t))
	}
	err := d.each(ctx, func(r pgx.Rows) error {
		var place, n int
		var data []byte
		err := r.Scan(&place, &n, &data)
		if err == nil && place >= 1 && place <= len(terms) && n > 0 {
			terms[place-1].Frequency, terms[place-1].Postings = n, string(data)
		}
		return err
	}, countsSQL, asked, fewPostings)
	return terms, err
}

// maxOccurrences bounds what is read of one term. A term that occurs more often
// says little, and a question has others.
const maxOccurrences = 20000

const listSQL = `SELECT l.data FROM (SELECT p.run, p.data, sum(p.passages) OVER (ORDER BY p.run) - p.passages AS before
	FROM anamnesis.postings p WHERE p.workspace = $1 AND p.token = $2) l WHERE l.before < $3 ORDER BY l.run`

// fieldWeight is what an occurrence in a field is worth when candidates are
// chosen; the final score has its own weights.
var fieldWeight = [index.NumFields]float64{index.Title: 3, index.Tags: 2, index.Body: 1}

// Match returns passages that hold at least one of the terms.
func (d searcher) Match(ctx context.Context, terms []index.Term, f index.Filter, limit int) ([]index.Candidate, error) {
	scores := make(map[int64]float64)
	groups := make([]uint16, len(f.Projects))
	for i, p := range f.Projects {
		groups[i] = groupOf(p)
	}
	for _, t := range terms {
		if err := d.score(ctx, t, groups, scores); err != nil {
			return nil, err
		}
	}
	all := make([]flat.Scored, 0, len(scores))
	for passage, score := range scores {
		all = append(all, flat.Scored{Passage: passage, Score: score})
	}
	// The first round is enough unless the filter leaves many out.
	var got []index.Candidate
	for done, n := 0, 2*limit; done < len(all) && len(got) < limit; n = len(all) {
		next := flat.Best(all, n)[done:]
		done += len(next)
		more, err := d.candidates(ctx, next, f, limit-len(got))
		if err != nil {
			return nil, err
		}
		got = append(got, more...)
	}
	return got, nil
}

// score adds the worth of a term to every passage that holds it, of some projects or of all.
func (d searcher) score(ctx context.Context, t index.Term, groups []uint16, scores map[int64]float64) error {
	left := maxOccurrences
	add := func(p posting) bool {
		worth := 0.0
		for f, n := range p.counts {
			n = min(n, left)
			left -= n
			worth += float64(n) * fieldWeight[f]
		}
		if worth > 0 && (len(groups) == 0 || slices.Contains(groups, p.group)) {
			scores[p.passage] += t.Weight * worth / (worth + 1)
		}
		return left > 0
	}
	if t.Postings != "" {
		return eachPosting(t.Postings, add)
	}
	return d.each(ctx, func(r pgx.Rows) error {
		var data []byte
		if err := r.Scan(&data); err != nil {
			return err
		}
		return eachPosting(data, add)
	}, listSQL, int32(index.TokenHash(t.Token)), maxOccurrences)
}

const (
	candidateColumns = "p.key, p.note, p.first, p.past, p.forward, v.model, v.vector"
	candidateJoin    = " LEFT JOIN anamnesis.vectors v ON v.workspace = $1 AND v.passage = p.key"
)

// fewPassages is how many passages are read whole. Of more the filter is asked first.
const fewPassages = 500

// candidates reads passages in their order, at most limit of those that the filter lets through.
func (c *conn) candidates(ctx context.Context, passages []int64, f index.Filter, limit int) ([]index.Candidate, error) {
	if len(passages) == 0 || limit <= 0 {
		return nil, nil
	}
	q := c.query()
	keys, cond := q.arg(passages)+"::bigint[]", q.where(f)
	if len(passages) <= fewPassages {
		return c.readCandidates(ctx, "SELECT "+candidateColumns+" FROM unnest("+keys+") WITH ORDINALITY AS j (key, place) "+
			"JOIN anamnesis.passages p ON p.workspace = $1 AND p.key = j.key JOIN anamnesis.notes n ON n.workspace = $1 AND n.key = p.note"+
			candidateJoin+" WHERE "+cond+" ORDER BY j.place LIMIT "+q.arg(limit), q.args)
	}
	return c.readCandidates(ctx, "WITH k AS MATERIALIZED (SELECT p.key, j.place FROM unnest("+keys+") WITH ORDINALITY AS j (key, place) "+
		"JOIN anamnesis.passages p ON p.workspace = $1 AND p.key = j.key JOIN anamnesis.notes n ON n.workspace = $1 AND n.key = p.note "+
		"WHERE "+cond+" ORDER BY j.place LIMIT "+q.arg(limit)+") SELECT "+candidateColumns+" FROM k "+
		"JOIN anamnesis.passages p ON p.workspace = $1 AND p.key = k.key"+candidateJoin+" ORDER BY k.place", q.args)
}

func (c *conn) readCandidates(ctx context.Context, text string, args []any) (got []index.Candidate, err error) {
	err = c.each(ctx, func(r pgx.Rows) error {
		var x index.Candidate
		var model *int64
		var forward, vector []byte
		if err := r.Scan(&x.Passage, &x.Key, &x.Start, &x.End, &forward, &model, &vector); err != nil {
			return err
		}
		x.Tokens = flat.Tokens(forward)
		if model != nil {
			x.Model, x.Vector = uint64(*model), vector
		}
		got = append(got, x)
		return nil
	}, text, args...)
	return got, err
}

// Passages returns passages by their keys, in that order.
func (d searcher) Passages(ctx context.Context, keys []int64, f index.Filter) ([]index.Candidate, error) {
	return d.candidates(ctx, keys, f, len(keys))
}

// First returns the first passage of each of the notes that the filter lets through.
func (d searcher) First(ctx context.Context, notes []int64, f index.Filter) ([]index.Candidate, error) {
	if len(notes) == 0 {
		return nil, nil
	}
	q := d.query()
	keys, cond := q.arg(notes)+"::bigint[]", q.where(f)
	return d.readCandidates(ctx, "SELECT "+candidateColumns+" FROM unnest("+keys+") WITH ORDINALITY AS j (key, place) "+
		"JOIN anamnesis.notes n ON n.workspace = $1 AND n.key = j.key JOIN anamnesis.passages p ON p.workspace = $1 AND p.key = "+
		"(SELECT min(x.key) FROM anamnesis.passages x WHERE x.workspace = $1 AND x.note = n.key)"+candidateJoin+
		" WHERE "+cond+" ORDER BY j.place", q.args)
}

// Hashes returns the hashes of all that notes say.
func (d searcher) Hashes(ctx context.Context, notes []int64) ([]uint32, error) {
	said := make(map[uint32]bool)
	err := d.each(ctx, func(r pgx.Rows) error {
		var forward []byte
		err := r.Scan(&forward)
		for _, tokens := range flat.Tokens(forward) {
			for _, t := range tokens {
				said[t] = true
			}
		}
		return err
	}, "SELECT forward FROM anamnesis.passages WHERE workspace = $1 AND note = ANY($2::bigint[])", notes)
	return slices.Collect(maps.Keys(said)), err
}
