package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
)

// Statistics returns the numbers of the whole index.
func (d *DB) Statistics(ctx context.Context) (index.Statistics, error) {
	var s index.Statistics
	var lengths [index.NumFields]int64
	err := d.reader().QueryRowContext(ctx, `SELECT (SELECT count(*) FROM notes),
		coalesce(max(CASE key WHEN 'passages' THEN value END), 0), coalesce(max(CASE key WHEN 'length_title' THEN value END), 0),
		coalesce(max(CASE key WHEN 'length_tags' THEN value END), 0), coalesce(max(CASE key WHEN 'length_body' THEN value END), 0)
		FROM meta`).Scan(&s.Notes, &s.Passages, &lengths[index.Title], &lengths[index.Tags], &lengths[index.Body])
	if err != nil {
		return s, fmt.Errorf("read index: %w", err)
	}
	for f := range lengths {
		if s.Passages > 0 {
			s.Length[f] = float64(lengths[f]) / float64(s.Passages)
		}
	}
	return s, nil
}

// Frequencies returns in how many passages each token occurs.
func (d *DB) Frequencies(ctx context.Context, tokens []string) ([]int, error) {
	df := make([]int, len(tokens))
	stmt, err := d.reader().PrepareContext(ctx, "SELECT doc FROM vocabulary WHERE term = ?")
	if err != nil {
		return nil, fmt.Errorf("read index: %w", err)
	}
	defer stmt.Close()
	for i, t := range tokens {
		if err := stmt.QueryRowContext(ctx, t).Scan(&df[i]); err != nil && !errors.Is(err, sql.ErrNoRows) {
			return nil, fmt.Errorf("read index: %w", err)
		}
	}
	return df, nil
}

// Candidates are chosen from posting lists, the rarest terms first. A list is
// fetched as one string, which costs a fifth of fetching its rows; reading the
// occurrences this way costs a fifth of ranking the same rows with bm25().
const (
	postingsSQL = `SELECT group_concat(x) FROM (SELECT doc * 4 + CASE col WHEN 'title' THEN 0 WHEN 'tags' THEN 1 WHEN 'body' THEN 2 ELSE 3 END AS x
		FROM postings WHERE term = ? LIMIT ` + maxPostings + `)`
	allowedSQL = "SELECT group_concat(rowid) FROM (SELECT rowid FROM fts WHERE fts MATCH ? LIMIT " + maxPostings + ")"
)

// maxPostings bounds what is read of one term. A term that occurs more often
// says little, and a question has others.
const maxPostings = "20000"

// fieldWeight is what an occurrence in a field is worth when candidates are
// chosen; the final score has weights of its own.
var fieldWeight = [index.NumFields]float64{index.Title: 3, index.Tags: 2, index.Body: 1}

// Match returns passages that hold at least one of the terms.
func (d *DB) Match(ctx context.Context, terms []index.Term, f index.Filter, limit int) ([]index.Candidate, error) {
	scores := make(map[int64]float64)
	for _, t := range terms {
		if err := d.score(ctx, t, f, scores); err != nil {
			return nil, fmt.Errorf("read index: %w", err)
		}
	}
	order := make([]int64, 0, len(scores))
	for p := range scores {
		order = append(order, p)
	}
	slices.SortFunc(order, func(a, b int64) int {
		return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(a, b))
	})
	cond, args := where(f)
	var got []index.Candidate
	for len(order) > 0 && len(got) < limit {
		n := min(len(order), limit)
		more, err := d.fetch(ctx, order[:n], cond, args)
		if err != nil {
			return nil, fmt.Errorf("read index: %w", err)
		}
		got, order = append(got, more...), order[n:]
	}
	return got[:min(len(got), limit)], nil
}

// score adds the worth of a term to every passage that holds it and that the filter's tokens allow.
func (d *DB) score(ctx context.Context, t index.Term, f index.Filter, scores map[int64]float64) error {
	var list sql.NullString
	allowed := map[int64]bool(nil)
	if keys := keyExpression(f); keys != "" {
		if err := d.reader().QueryRowContext(ctx, allowedSQL, "{title tags body} : "+quote(t.Token)+keys).Scan(&list); err != nil {
			return err
		}
		allowed = make(map[int64]bool)
		for p := range numbers(list.String) {
			allowed[p] = true
		}
	}
	if err := d.reader().QueryRowContext(ctx, postingsSQL, t.Token).Scan(&list); err != nil {
		return err
	}
	worth := make(map[int64]float64)
	for x := range numbers(list.String) {
		if field := index.Field(x & 3); field < index.NumFields && (allowed == nil || allowed[x>>2]) {
			worth[x>>2] += fieldWeight[field]
		}
	}
	for p, w := range worth {
		scores[p] += t.Weight * w / (w + 1)
	}
	return nil
}

// fetch reads passages in the order of keys, without those the condition excludes.
func (d *DB) fetch(ctx context.Context, keys []int64, cond string, args []any) ([]index.Candidate, error) {
	var list strings.Builder
	place := make(map[int64]int, len(keys))
	for i, k := range keys {
		if i > 0 {
			list.WriteByte(',')
		}
		list.WriteString(strconv.FormatInt(k, 10))
		place[k] = i
	}
	rows, err := d.reader().QueryContext(ctx, `SELECT p.key, p.note, p.start, p."end", p.forward FROM passages p JOIN notes n ON n.key = p.note
		WHERE p.key IN (`+list.String()+") AND "+cond, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	found := make([]*index.Candidate, len(keys))
	for rows.Next() {
		var key int64
		var c index.Candidate
		var forward sql.RawBytes
		if err := rows.Scan(&key, &c.Key, &c.Start, &c.End, &forward); err != nil {
			return nil, err
		}
		c.Tokens = decode(forward)
		found[place[key]] = &c
	}
	var got []index.Candidate
	for _, c := range found {
		if c != nil {
			got = append(got, *c)
		}
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
