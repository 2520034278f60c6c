package postgres

import (
	"context"
	"errors"
	"fmt"

	"anamnesis/internal/index/postgres/schema"

	"github.com/jackc/pgx/v5"
)

// enterSQL says which workspace a transaction is about. No statement of ours is better
// answered by a scan of a whole table, which the server would plan for one that was empty,
// and none is worth being compiled (jit).
// askSQL says beside it that a plan that was made once is used again: none is better for
// some values than for others, and making one takes longer than most answers. What is
// joined is looked up by its key, some hundred times at most: left to itself, the server
// reads a whole workspace into a hash table as long as it knows of one workspace only.
const (
	enterSQL = "SELECT set_config('anamnesis.workspace', $1, true), set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true)"
	askSQL   = enterSQL + ", set_config('plan_cache_mode', 'force_generic_plan', true), " +
		"set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true)"
)

// each asks a question, whose parameters follow the workspace ($1), and calls read for
// every row. The server runs what is sent together as one transaction. When the
// connection was lost before a row came, the question is asked once more.
func (c *conn) each(ctx context.Context, read func(pgx.Rows) error, text string, args ...any) error {
	return c.eachAfter(ctx, askSQL, read, text, args...)
}

// eachAfter is each after other settings.
func (c *conn) eachAfter(ctx context.Context, enter string, read func(pgx.Rows) error, text string, args ...any) error {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	if err := c.ready(ctx); err != nil {
		return err
	}
	var ours error // what read could not read
	rows := 0
	tell := func(r pgx.Rows) error {
		rows++
		ours = read(r)
		return ours
	}
	err := c.once(ctx, enter, tell, text, args)
	if err != nil && rows == 0 && ctx.Err() == nil && errors.Is(schema.Plain(err), schema.ErrUnreachable) {
		err = c.once(ctx, enter, tell, text, args)
	}
	switch {
	case ours != nil:
		return fmt.Errorf("read the shared index: %w", ours)
	case err != nil:
		err = fmt.Errorf("read the shared index: %w", schema.Plain(err))
		if errors.Is(err, schema.ErrUnreachable) {
			err = c.away(err)
		}
		return err
	}
	return nil
}

// once asks a question.
func (c *conn) once(ctx context.Context, enter string, read func(pgx.Rows) error, text string, args []any) (err error) {
	var b pgx.Batch
	b.Queue(enter, c.opts.Workspace)
	b.Queue(text, append([]any{c.opts.Workspace}, args...)...)
	results := c.pool.SendBatch(ctx, &b)
	defer func() { err = errors.Join(err, results.Close()) }()
	if _, err := results.Exec(); err != nil {
		return err
	}
	rows, err := results.Query()
	if err != nil {
		return err
	}
	return readAll(rows, read)
}

// readAll calls read for every row.
func readAll(rows pgx.Rows, read func(pgx.Rows) error) error {
	defer rows.Close()
	for rows.Next() {
		if err := read(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// collect asks a question with a value in each row of the answer.
func collect[T any](ctx context.Context, c *conn, scan func(pgx.Rows, *T) error, text string, args ...any) (all []T, err error) {
	err = c.each(ctx, func(r pgx.Rows) error {
		var x T
		err := scan(r, &x)
		all = append(all, x)
		return err
	}, text, args...)
	return all, err
}

// scanText reads a row of one column of text.
func scanText[T ~string](r pgx.Rows, x *T) error {
	var s string
	err := r.Scan(&s)
	*x = T(unescape(s))
	return err
}

// row asks for one row, and returns pgx.ErrNoRows when there is none.
func (c *conn) row(ctx context.Context, text string, args []any, dest ...any) error {
	found := false
	err := c.each(ctx, func(r pgx.Rows) error {
		found = true
		return r.Scan(dest...)
	}, text, args...)
	if err == nil && !found {
		return pgx.ErrNoRows
	}
	return err
}
