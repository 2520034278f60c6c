package postgres

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"maps"
	"slices"
	"strings"

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

// lexeme is a token as the full text of the server has it (migration 6): hexadecimal digits,
// so that no token means anything in a tsquery.
func lexeme(token string) string {
	return hex.EncodeToString(binary.LittleEndian.AppendUint32(nil, index.TokenHash(token)))
}

// A tsquery is read once, by a separate SELECT, and not for every passage.
const countsSQL = `WITH j AS MATERIALIZED (SELECT u.place, u.term::tsquery FROM unnest($2::text[]) WITH ORDINALITY AS u (term, place))
	SELECT j.place, count(*) FROM anamnesis.passages p JOIN j ON p.words @@ j.term
	WHERE p.workspace = $1 AND p.words @@ (SELECT $3::text::tsquery) GROUP BY j.place`

// Frequencies returns a term for each token.
func (d searcher) Frequencies(ctx context.Context, tokens []string) ([]index.Term, error) {
	terms := make([]index.Term, len(tokens))
	asked := make([]string, len(tokens))
	for i, t := range tokens {
		terms[i].Token, asked[i] = t, lexeme(t)
	}
	if len(tokens) == 0 {
		return terms, nil
	}
	err := d.each(ctx, func(r pgx.Rows) error {
		var place, n int
		err := r.Scan(&place, &n)
		if err == nil {
			terms[place-1].Frequency = n
		}
		return err
	}, countsSQL, asked, strings.Join(asked, " | "))
	return terms, err
}

const (
	candidateColumns = "p.key, p.note, p.first, p.past, p.forward, v.model, v.vector"
	candidateJoin    = " LEFT JOIN anamnesis.vectors v ON v.workspace = $1 AND v.passage = p.key"
	candidateSQL     = " JOIN anamnesis.passages p ON p.workspace = $1 AND p.key = k.key" + candidateJoin
	passageNote      = " JOIN anamnesis.notes n ON n.workspace = $1 AND n.key = p.note "
)

// The rank of a passage is that of its lexemes by ts_rank_cd, each times the weight of its term. A
// lexeme counts more in the title (A) and the tags (B), and less with every further occurrence (32).
const rankSQL = "(SELECT sum(j.weight * ts_rank_cd('{0.2, 0.2, 0.4, 0.6}', p.words, j.term, 32)) FROM j)"

// Match returns passages that hold at least one of the terms, as the server ranks them.
func (d searcher) Match(ctx context.Context, terms []index.Term, f index.Filter, limit int) ([]index.Candidate, error) {
	if len(terms) == 0 || limit <= 0 {
		return nil, nil
	}
	asked, weights := make([]string, len(terms)), make([]float64, len(terms))
	for i, t := range terms {
		asked[i], weights[i] = lexeme(t.Token), t.Weight
	}
	q := d.query()
	each, weight, some, most := q.arg(asked), q.arg(weights), q.arg(strings.Join(asked, " | ")), q.arg(limit)
	cond := q.where(f)
	return d.readCandidates(ctx, "WITH j AS MATERIALIZED (SELECT u.term::tsquery, u.weight FROM unnest("+each+"::text[], "+weight+
		"::float8[]) AS u (term, weight)), k AS MATERIALIZED (SELECT p.key, "+rankSQL+" AS rank FROM anamnesis.passages p"+passageNote+
		"WHERE p.workspace = $1 AND p.words @@ (SELECT "+some+"::text::tsquery) AND "+cond+" ORDER BY 2 DESC, 1 LIMIT "+most+
		") SELECT "+candidateColumns+" FROM k"+candidateSQL+" ORDER BY k.rank DESC, k.key", q.args)
}

func (c *conn) readCandidates(ctx context.Context, text string, args []any) (got []index.Candidate, err error) {
	return c.readCandidatesAfter(ctx, askSQL, text, args)
}

// readCandidatesAfter is readCandidates after other settings.
func (c *conn) readCandidatesAfter(ctx context.Context, enter, text string, args []any) (got []index.Candidate, err error) {
	err = c.eachAfter(ctx, enter, func(r pgx.Rows) error {
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
	if len(keys) == 0 {
		return nil, nil
	}
	q := d.query()
	asked, cond := q.arg(keys)+"::bigint[]", q.where(f)
	return d.readCandidates(ctx, "SELECT "+candidateColumns+" FROM unnest("+asked+") WITH ORDINALITY AS k (key, place)"+candidateSQL+
		passageNote+"WHERE "+cond+" ORDER BY k.place", q.args)
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
