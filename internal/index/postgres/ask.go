package postgres

import (
	"context"
	"errors"
	"fmt"

	"anamnesis/internal/index/postgres/schema"

	"github.com/jackc/pgx/v5"
)

// enterSQL says which workspace a transaction is about.
const enterSQL = "SELECT set_config('anamnesis.workspace', $1, true)"

// each asks a question, whose parameters follow the workspace ($1), and calls read for
// every row. The server runs what is sent together as one transaction. When the
// connection was lost before a row came, the question is asked once more.
func (c *conn) each(ctx context.Context, read func(pgx.Rows) error, text string, args ...any) error {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	rows, err := c.once(ctx, read, text, args)
	if err != nil && rows == 0 && ctx.Err() == nil && errors.Is(schema.Plain(err), schema.ErrUnreachable) {
		_, err = c.once(ctx, read, text, args)
	}
	if err != nil {
		return fmt.Errorf("read the shared index: %w", schema.Plain(err))
	}
	return nil
}

// once asks a question, and returns how many rows came.
func (c *conn) once(ctx context.Context, read func(pgx.Rows) error, text string, args []any) (n int, err error) {
	var b pgx.Batch
	b.Queue(enterSQL, c.opts.Workspace)
	b.Queue(text, append([]any{c.opts.Workspace}, args...)...)
	results := c.pool.SendBatch(ctx, &b)
	defer func() { err = errors.Join(err, results.Close()) }()
	if _, err := results.Exec(); err != nil {
		return 0, err
	}
	rows, err := results.Query()
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for ; rows.Next(); n++ {
		if err := read(rows); err != nil {
			return n, err
		}
	}
	return n, rows.Err()
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
