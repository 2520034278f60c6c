package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"

	"anamnesis/internal/index"
	"anamnesis/internal/index/flat"
	"anamnesis/internal/note"
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
	if err = errors.Join(err, rows.Err()); err != nil {
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

// countsSQL asks for what frequencies are counted from: the postings of each
// token, up to one more than fewPostings.
const countsSQL = `SELECT (SELECT group_concat(x) FROM (SELECT ` + posting +
	` AS x FROM postings WHERE term = j.value LIMIT ?+0)) FROM json_each(?) j`

// fewPostings is how many postings of a token are read to count its passages.
// Of a token with more of them FTS5 counts faster than we do, but for one with
// few it would look in all its segments twice: to count, and for Match.
const fewPostings = 256

// Frequencies returns a term for each token. Short posting lists come with it.
func (d searcher) Frequencies(ctx context.Context, tokens []string) ([]index.Term, error) {
	if terms, err := d.frequenciesPosted(ctx, tokens); terms != nil || err != nil {
		return terms, wrap(err)
	}
	terms := make([]index.Term, len(tokens))
	list, err := json.Marshal(tokens)
	if err != nil {
		return nil, wrap(err)
	}
	rows, err := d.queryBounded(ctx, countsSQL, fewPostings+1, string(list))
	if err != nil {
		return nil, wrap(err)
	}
	defer rows.Close()
	var many []int
	for i := 0; i < len(tokens) && rows.Next(); i++ {
		t := &terms[i]
		t.Token = tokens[i]
		var found sql.NullString
		if err := rows.Scan(&found); err != nil {
			return nil, wrap(err)
		}
		n, last := 0, int64(0)
		for x := range numbers(found.String) {
			if n++; x>>2 != last { // the occurrences in one passage stand together
				last = x >> 2
				t.Frequency++
			}
		}
		if n > fewPostings {
			many = append(many, i)
		} else {
			t.Postings = found.String
		}
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, wrap(err)
	}
	for _, i := range many {
		err := d.queryRow(ctx, "SELECT doc FROM vocabulary WHERE term = ?", []any{tokens[i]}, &terms[i].Frequency)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return nil, wrap(err)
		}
	}
	return terms, nil
}

// Candidates are chosen from posting lists, the rarest terms first. A list is
// fetched as one string, which costs a fifth of fetching its rows; reading the
// occurrences this way costs a fifth of ranking the same rows with bm25().
const (
	posting     = `doc * 4 + CASE col WHEN 'title' THEN 0 WHEN 'tags' THEN 1 WHEN 'body' THEN 2 ELSE 3 END`
	postingsSQL = `SELECT group_concat(x) FROM (SELECT ` + posting + ` AS x FROM postings WHERE term = ? LIMIT ` + maxPostings + `)`
	allowedSQL  = "SELECT group_concat(rowid) FROM (SELECT rowid FROM fts WHERE fts MATCH ? LIMIT " + maxPostings + ")"
)

// maxPostings bounds what is read of one term. A term that occurs more often
// says little, and a question has others.
const maxPostings = "20000"

// fieldWeight is what an occurrence in a field is worth when candidates are
// chosen; the final score has its own weights.
var fieldWeight = [index.NumFields]float64{index.Title: 3, index.Tags: 2, index.Body: 1}

// maxScores bounds the room that is made in advance for scores.
const maxScores = 4096

// Match returns passages that hold at least one of the terms.
func (d searcher) Match(ctx context.Context, terms []index.Term, f index.Filter, limit int) ([]index.Candidate, error) {
	all, err := d.scores(ctx, terms, f)
	if err != nil {
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

// scores scores the passages that hold terms and that a filter may let through.
func (d searcher) scores(ctx context.Context, terms []index.Term, f index.Filter) ([]flat.Scored, error) {
	if all, ok, err := d.scoresPosted(ctx, terms, f); ok || err != nil {
		return all, err
	}
	size := 0
	for _, t := range terms {
		size += t.Frequency
	}
	scores := make(map[int64]float64, min(size, maxScores))
	for _, t := range terms {
		if err := d.score(ctx, t, f, scores); err != nil {
			return nil, err
		}
	}
	all := make([]flat.Scored, 0, len(scores))
	for passage, score := range scores {
		all = append(all, flat.Scored{Passage: passage, Score: score})
	}
	return all, nil
}

// score adds the worth of a term to every passage that holds it and that the filter's tokens allow.
func (d searcher) score(ctx context.Context, t index.Term, f index.Filter, scores map[int64]float64) error {
	var found sql.NullString
	allowed := map[int64]bool(nil)
	if keys := keyExpression(f); keys != "" {
		if err := d.queryRow(ctx, allowedSQL, []any{quote(t.Token) + keys}, &found); err != nil {
			return err
		}
		allowed = make(map[int64]bool)
		for p := range numbers(found.String) {
			allowed[p] = true
		}
	}
	found.String = t.Postings
	if t.Postings == "" {
		if err := d.queryRow(ctx, postingsSQL, []any{t.Token}, &found); err != nil {
			return err
		}
	}
	// The occurrences in one passage stand together.
	passage, worth := int64(0), 0.0
	flush := func() {
		if worth > 0 {
			scores[passage] += t.Weight * worth / (worth + 1)
		}
	}
	for x := range numbers(found.String) {
		field := index.Field(x & 3)
		if field >= index.NumFields || allowed != nil && !allowed[x>>2] {
			continue
		}
		if x>>2 != passage {
			flush()
			passage, worth = x>>2, 0
		}
		worth += fieldWeight[field]
	}
	flush()
	return nil
}

// fetchCandidates reads passages in their order, without those the condition excludes.
func (d *conn) fetchCandidates(ctx context.Context, passages []int64, cond string, args []any) ([]index.Candidate, error) {
	if len(passages) == 0 {
		return nil, nil
	}
	if got, ok, err := d.candidatesPosted(ctx, passages, cond, args); ok || err != nil {
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
	return got, rows.Err()
}

// numbers yields the numbers of a list that SQLite joined with commas.
func numbers(list string) iter.Seq[int64] {
	return func(yield func(int64) bool) {
		var n int64
		for i := 0; i < len(list); i++ {
			if list[i] != ',' {
				n = n*10 + int64(list[i]-'0')
				continue
			}
			if !yield(n) {
				return
			}
			n = 0
		}
		if list != "" {
			yield(n)
		}
	}
}

func quote(token string) string { return `"` + strings.ReplaceAll(token, `"`, "") + `"` }

// keyExpression writes the part of a filter that the keys column can answer.
func keyExpression(f index.Filter) string {
	var expr string
	either := func(kind string, values ...string) {
		for i, v := range values {
			values[i] = quote(keyToken(kind, v))
		}
		expr += " AND keys : (" + strings.Join(values, " OR ") + ")"
	}
	if len(f.Projects) > 0 {
		either("p", slices.Clone(f.Projects)...)
	}
	if n := len(f.Types); n > 0 && n < len(note.Types) {
		var types []string
		for _, t := range f.Types {
			types = append(types, string(t))
		}
		either("t", types...)
	}
	if f.Scope != "" {
		either("s", string(f.Scope))
	}
	return expr
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
