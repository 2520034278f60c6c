package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"

	"anamnesis/internal/index"
	"anamnesis/internal/index/flat"
)

// Statistics returns the numbers of the whole index.
func (d searcher) Statistics(ctx context.Context) (index.Statistics, error) {
	var s index.Statistics
	var lengths [index.NumFields]int64
	var epoch int64
	rows, err := d.queryBounded(ctx, `SELECT coalesce(max(CASE key WHEN 'epoch' THEN value END), 0),
		(SELECT coalesce(sum(files), 0) FROM origins) - (SELECT count(*) FROM problems WHERE hash <> x''),
		coalesce(max(CASE key WHEN 'passages' THEN value END), 0), coalesce(max(CASE key WHEN 'length_title' THEN value END), 0),
		coalesce(max(CASE key WHEN 'length_tags' THEN value END), 0), coalesce(max(CASE key WHEN 'length_body' THEN value END), 0)
		FROM meta`)
	if err != nil {
		return s, wrap(err)
	}
	defer rows.Close()
	if rows.Next() {
		err = rows.Scan(&epoch, &s.Notes, &s.Passages, &lengths[index.Title], &lengths[index.Tags], &lengths[index.Body])
	}
	if err = errors.Join(err, rows.err()); err != nil {
		return s, wrap(err)
	}
	if epoch == 0 { // the row that is always there cannot be read: a broken page can look like an empty one
		return s, wrap(d.translate(rows.db, errBroken))
	}
	for f := range lengths {
		if s.Passages > 0 {
			s.Length[f] = float64(lengths[f]) / float64(s.Passages)
		}
	}
	return s, nil
}

// Frequencies returns a term for each token.
func (d searcher) Frequencies(ctx context.Context, tokens []string) (terms []index.Term, err error) {
	_, err = d.askPosted(ctx, func(p *posted) (ok bool, err error) {
		terms, err = p.frequencies(tokens)
		return true, err
	})
	return terms, wrap(err)
}

// Match returns passages that hold at least one of the terms.
func (d searcher) Match(ctx context.Context, terms []index.Term, f index.Filter, limit int) ([]index.Candidate, error) {
	var all []flat.Scored
	if _, err := d.askPosted(ctx, func(p *posted) (ok bool, err error) {
		all, err = p.score(terms, f)
		return true, err
	}); err != nil {
		return nil, wrap(err)
	}
	cond, args := d.where(f)
	var got []index.Candidate
	// The first round is enough unless the condition leaves many out.
	for done, n := 0, limit; done < len(all) && len(got) < limit; n = len(all) {
		next := flat.Best(all, n)[done:]
		done += len(next)
		for part := range slices.Chunk(next, limit) {
			more, err := d.fetchCandidates(ctx, part, cond, args)
			if err != nil {
				return nil, wrap(err)
			}
			if got = append(got, more...); len(got) >= limit {
				break
			}
		}
	}
	return got[:min(len(got), limit)], nil
}

// fetchCandidates reads passages in their order, without those the condition excludes: from the
// table when the index changes all the time.
func (d *conn) fetchCandidates(ctx context.Context, passages []int64, cond string, args []any) ([]index.Candidate, error) {
	if len(passages) == 0 {
		return nil, nil
	}
	var got []index.Candidate
	ok, err := d.askPosted(ctx, func(p *posted) (ok bool, err error) {
		got, ok, err = d.fetchPosted(ctx, p, passages, cond, args)
		return ok, err
	})
	if ok || err != nil {
		return got, err
	}
	rows, err := d.queryBounded(ctx, candidateSQL+`json_each(?) j CROSS JOIN passages p ON p.key = j.value `+candidateJoin+` WHERE `+cond,
		append([]any{list(passages)}, args...)...)
	if err != nil {
		return nil, err
	}
	return candidates(rows, len(passages))
}

const (
	candidateSQL  = `SELECT p.key, p.note, p.start, p."end", p.forward, v.model, v.vector FROM `
	candidateJoin = `CROSS JOIN notes n ON n.key = p.note LEFT JOIN vectors v ON v.passage = p.key`
)

// candidates reads the rows of a candidateSQL.
func candidates(rows *rows, size int) ([]index.Candidate, error) {
	defer rows.Close()
	got := make([]index.Candidate, 0, size)
	var forward, vector sql.RawBytes
	for rows.Next() {
		var c index.Candidate
		var model sql.NullInt64
		if err := rows.Scan(&c.Passage, &c.Key, &c.Start, &c.End, &forward, &model, &vector); err != nil {
			return nil, err
		}
		c.Tokens = flat.Tokens(forward)
		if model.Valid {
			c.Model, c.Vector = uint64(model.Int64), slices.Clone([]byte(vector))
		}
		got = append(got, c)
	}
	return got, rows.err()
}

// Passages returns passages by their keys, in that order.
func (d searcher) Passages(ctx context.Context, keys []int64, f index.Filter) ([]index.Candidate, error) {
	cond, args := d.where(f)
	got, err := d.fetchCandidates(ctx, keys, cond, args)
	return got, wrap(err)
}

// First returns the first passage of each of the notes that the filter lets through.
func (d searcher) First(ctx context.Context, notes []int64, f index.Filter) ([]index.Candidate, error) {
	if len(notes) == 0 {
		return nil, nil
	}
	cond, args := d.where(f)
	rows, err := d.queryBounded(ctx, candidateSQL+`json_each(?) j CROSS JOIN passages p ON p.key = (SELECT min(key) FROM passages `+
		`WHERE note = j.value) `+
		candidateJoin+` WHERE `+cond, append([]any{list(notes)}, args...)...)
	if err != nil {
		return nil, wrap(err)
	}
	got, err := candidates(rows, len(notes))
	return got, wrap(err)
}

// Hashes returns the hashes of all that notes say.
func (d searcher) Hashes(ctx context.Context, notes []int64) ([]uint32, error) {
	rows, err := d.query(ctx, "SELECT p.forward FROM json_each(?) j JOIN passages p ON p.note = j.value", list(notes))
	said := make(map[uint32]bool)
	var forward sql.RawBytes
	err = each(rows, err, func() error {
		err := rows.Scan(&forward)
		for _, tokens := range flat.Tokens(forward) {
			for _, t := range tokens {
				said[t] = true
			}
		}
		return err
	})
	return slices.Collect(maps.Keys(said)), err
}
