package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"strconv"
)

// maxStatements bounds the questions that are kept prepared. There are some twenty,
// and a few forms of those with a filter.
const maxStatements = 100

// queryBounded asks a question whose answer is bounded. It is not interrupted, for to
// watch ctx takes two goroutines and as long as many an answer.
func (d *conn) queryBounded(ctx context.Context, query string, args ...any) (*rows, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return d.query(context.WithoutCancel(ctx), query, args...)
}

// query asks a question. SQLite reads and plans its text the first time only.
func (d *conn) query(ctx context.Context, query string, args ...any) (*rows, error) {
	db := d.reader()
	got, err := d.queryPrepared(ctx, db, query, args) //nolint:rowserrcheck // whoever reads the rows does
	if err != nil {
		return nil, d.translate(db, err)
	}
	return &rows{got, d, db}, nil
}

// rows are the answer of a handle, whose errors are judged.
type rows struct {
	*sql.Rows
	of *conn
	db *sql.DB
}

// each calls read for every row of an answer, unless there is an error already.
func each(rows *rows, err error, read func() error) error {
	if err != nil {
		return wrap(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := read(); err != nil {
			return wrap(err)
		}
	}
	return wrap(rows.err())
}

// collect reads an answer with a value in each row.
func collect[T any](rows *rows, err error, scan func(*T) error) (all []T, _ error) {
	err = each(rows, err, func() error {
		var x T
		err := scan(&x)
		all = append(all, x)
		return err
	})
	return all, err
}

// column reads an answer of one column.
func column[T any](rows *rows, err error) ([]T, error) {
	return collect(rows, err, func(x *T) error { return rows.Scan(x) })
}

// pairs reads an answer of two columns.
func pairs[K comparable, V any](rows *rows, err error) (map[K]V, error) {
	all := make(map[K]V)
	err = each(rows, err, func() error {
		var key K
		var value V
		err := rows.Scan(&key, &value)
		all[key] = value
		return err
	})
	return all, err
}

// list writes keys as a list that json_each reads.
func list[T ~int64](keys []T) string {
	text := make([]byte, 0, 8*len(keys)+2)
	for i, k := range keys {
		text = strconv.AppendInt(append(text, "[,"[min(i, 1)]), int64(k), 10)
	}
	if len(keys) == 0 {
		text = append(text, '[')
	}
	return string(append(text, ']'))
}

func (r *rows) err() error { return r.of.translate(r.db, r.Rows.Err()) }

func (d *conn) queryPrepared(ctx context.Context, db *sql.DB, query string, args []any) (*sql.Rows, error) {
	d.mu.Lock()
	if d.statementsOf != db { // the statements went with the handle they were made for
		d.statements, d.statementsOf = make(map[string]*sql.Stmt), db
	}
	stmt, full := d.statements[query], len(d.statements) >= maxStatements
	d.mu.Unlock()
	if stmt == nil {
		if full {
			return db.QueryContext(ctx, query, args...)
		}
		var err error
		if stmt, err = db.PrepareContext(ctx, query); err != nil {
			return nil, err
		}
		d.mu.Lock()
		if first := d.statements[query]; first != nil || d.statementsOf != db {
			defer stmt.Close()
		} else {
			d.statements[query] = stmt
		}
		d.mu.Unlock()
	}
	return stmt.QueryContext(ctx, args...)
}

// queryRow asks for one row, as queryBounded does, and returns sql.ErrNoRows when there is none.
func (d *conn) queryRow(ctx context.Context, query string, args []any, dest ...any) error {
	rows, err := d.queryBounded(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	if !rows.Next() {
		return cmp.Or(rows.err(), sql.ErrNoRows)
	}
	if err := rows.Scan(dest...); err != nil {
		return err
	}
	return rows.Close()
}
