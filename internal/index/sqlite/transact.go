package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"os"

	"anamnesis/internal/index"
)

// change runs f in a transaction, for a caller outside.
func (d *conn) change(ctx context.Context, f func(*writer)) error {
	db, err := d.transact(ctx, f)
	return d.judge(db, err)
}

// changeFile is change for what is not worth going on without the file: when the file
// cannot be written nothing happens.
func (d *conn) changeFile(ctx context.Context, f func(*writer)) error {
	db, err := d.transact(ctx, f)
	if unwritable(err) {
		return nil
	}
	return d.judge(db, err)
}

// judge names the error of a transaction for a caller outside.
func (d *conn) judge(db *sql.DB, err error) error {
	if err != nil {
		return fmt.Errorf("write index %s: %w", d.path, d.translate(db, err))
	}
	return nil
}

// transact runs f in a transaction that holds the write lock from its begin. It
// returns the handle that it used.
func (d *conn) transact(ctx context.Context, f func(*writer)) (*sql.DB, error) {
	d.mu.Lock()
	db := d.write
	d.mu.Unlock()
	kept := d.keptStatements(ctx, db)
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return db, err
	}
	w := newWriter(ctx, tx, kept)
	w.origin = d.opts.Origin
	f(w)
	switch err := w.err; {
	case err != nil && ctx.Err() != nil: // the driver ended the transaction, and names that alone
		_ = tx.Rollback()
		return db, ctx.Err()
	case err != nil:
		return db, errors.Join(err, tx.Rollback())
	}
	if err := tx.Commit(); errors.Is(err, sql.ErrTxDone) && ctx.Err() != nil {
		return db, ctx.Err()
	} else if err != nil {
		return db, err
	}
	d.countStatements(db, w.fresh)
	d.forgetPosted()
	return db, nil
}

// keepAfter is how many transactions must have prepared a statement until it is
// kept: most processes write once or twice, and keeping means preparing it once more.
const keepAfter = 2

// keptStatements returns the statements that are prepared for all transactions of a
// handle. Those that were prepared often are now. It must not be called within a
// transaction, which has the only connection.
func (d *conn) keptStatements(ctx context.Context, db *sql.DB) map[string]*sql.Stmt {
	d.keeping.Lock()
	defer d.keeping.Unlock()
	d.mu.Lock()
	if d.keptOf != db { // the statements went with the handle they were made for
		d.kept, d.uses, d.keptOf = nil, nil, db
	}
	kept := d.kept
	var frequent []string
	for query, times := range d.uses {
		if times >= keepAfter {
			frequent = append(frequent, query)
			delete(d.uses, query)
		}
	}
	d.mu.Unlock()
	if len(frequent) == 0 {
		return kept
	}
	all := make(map[string]*sql.Stmt, len(kept)+len(frequent))
	maps.Copy(all, kept)
	for _, query := range frequent {
		if stmt, err := db.PrepareContext(ctx, query); err == nil { // or the transaction meets the error
			all[query] = stmt
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.keptOf == db {
		d.kept = all
	}
	return all
}

// countStatements counts the statements that a transaction prepared for itself.
func (d *conn) countStatements(db *sql.DB, queries []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.keptOf != db {
		return
	}
	if d.uses == nil {
		d.uses = make(map[string]int, len(queries))
	}
	for _, query := range queries {
		d.uses[query]++
	}
}

// checkpointSize is from how many bytes on a log is worth folding: questions look for
// its pages and copy them, and those of the file they read where they are mapped.
const checkpointSize = 4 << 20

// checkpoint copies the log into the file, as far as no reader needs the file as
// it is. It waits for nobody, and what it cannot do is done when the log is closed.
func (d *conn) checkpoint(ctx context.Context) {
	if fi, err := os.Stat(d.path + "-wal"); err != nil || fi.Size() < checkpointSize {
		return
	}
	d.mu.Lock()
	db := d.write
	d.mu.Unlock()
	_, _ = db.ExecContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)")
}

// A writer makes the changes of one transaction. After the first error its
// methods do nothing.
type writer struct {
	ctx      context.Context
	tx       *sql.Tx
	kept     map[string]*sql.Stmt // prepared before the transaction
	prepared map[string]*sql.Stmt // for the transaction
	fresh    []string             // those of them that were not kept
	err      error

	origin      string // whose notes are written
	others      bool   // the database holds notes of others
	fingerprint uint64 // of the files of the origin
	files       int64
	walked      int64
	passages    int64
	generation  int64
	lengths     [index.NumFields]int64
	edges       bool            // supersession must be worked out again
	standing    map[string]bool // paths, and ids in lower case, of the batch that notes have
	complaints  bool            // something is said against a file
	superseding bool            // notes supersede others
	residue     bool            // a text was dropped that nothing says any more
}

// newWriter returns a writer for a transaction. The transaction itself ends
// with ctx; its statements, which are many and short, are not watched one by one.
func newWriter(ctx context.Context, tx *sql.Tx, kept map[string]*sql.Stmt) *writer {
	return &writer{ctx: context.WithoutCancel(ctx), tx: tx, kept: kept, prepared: make(map[string]*sql.Stmt)}
}

// statement returns query prepared, once for the transaction.
func (w *writer) statement(query string) *sql.Stmt {
	stmt := w.prepared[query]
	if stmt != nil || w.err != nil {
		return stmt
	}
	if kept := w.kept[query]; kept != nil {
		stmt = w.tx.StmtContext(w.ctx, kept)
	} else if stmt, w.err = w.tx.PrepareContext(w.ctx, query); w.err != nil {
		return nil
	} else {
		w.fresh = append(w.fresh, query)
	}
	w.prepared[query] = stmt
	return stmt
}

func (w *writer) exec(query string, args ...any) sql.Result {
	stmt := w.statement(query)
	if w.err != nil {
		return nil
	}
	res, err := stmt.ExecContext(w.ctx, args...)
	w.err = err
	return res
}

// query calls scan for each row.
func (w *writer) query(query string, scan func(*sql.Rows) error, args ...any) {
	stmt := w.statement(query)
	if w.err != nil {
		return
	}
	rows, err := stmt.QueryContext(w.ctx, args...)
	if err != nil {
		w.err = err
		return
	}
	defer rows.Close()
	for rows.Next() {
		if w.err = scan(rows); w.err != nil {
			return
		}
	}
	w.err = rows.Err()
}
