package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/index/postgres/schema"

	"github.com/jackc/pgx/v5"
)

// A transaction gathers statements, which flush sends together.
type transaction struct {
	ctx   context.Context
	c     *conn
	tx    pgx.Tx
	batch *pgx.Batch
	err   error
}

// enter begins a transaction of the workspace.
func (c *conn) enter(ctx context.Context, tx pgx.Tx) transaction {
	t := transaction{ctx: ctx, c: c, tx: tx, batch: &pgx.Batch{}}
	t.batch.Queue(enterSQL, c.opts.Workspace)
	return t
}

// A writer is a transaction that holds the row of the workspace, as every writer does:
// changes commit in the order of their generations.
type writer struct {
	transaction
	generation             int64 // of the last change before this one
	lastNote, lastPassage  int64
	notes, passages        int64
	lengths                [index.NumFields]int64
	fingerprint            uint64 // of our origin
	files, walked, version int64
	others                 bool // there are other origins
	edges                  bool // what hides what has to be worked out again
	vouches                bool // rows say who vouches for their notes (Options.Vouches)
}

// longestChange is how long one transaction may take when its caller sets no limit.
const longestChange = 10 * time.Minute

// waitSQL says how long to wait for another writer, for one transaction.
const waitSQL = "SELECT set_config('lock_timeout', $2, true) WHERE $1::text <> ''"

// lockSQL takes the row of the workspace. FOR NO KEY UPDATE lets references to it be checked.
const lockSQL = `SELECT generation, last_note, last_passage, notes, passages, length_title, length_tags, length_body
	FROM anamnesis.workspaces WHERE id = $1 FOR NO KEY UPDATE`

const beginOriginSQL = `INSERT INTO anamnesis.origins (workspace, name, member, fingerprint, files, walked, generation)
	VALUES ($1, $2, session_user, 0, 0, 0, 0) ON CONFLICT (workspace, name) DO NOTHING`

const originSQL = `SELECT fingerprint, files, walked, generation,
	EXISTS (SELECT 1 FROM anamnesis.origins o WHERE o.workspace = $1 AND o.name <> $2),
	anamnesis.member_role() IS DISTINCT FROM 'writer' AND NOT starts_with($2, 'away/')
	FROM anamnesis.origins WHERE workspace = $1 AND name = $2`

// change runs f in a transaction that holds the row of the workspace from its begin. wait
// is how long another writer is waited for.
func (c *conn) change(ctx context.Context, wait time.Duration, f func(*writer)) error {
	if c.opts.ReadOnly {
		return errReadOnly
	}
	ctx, cancel := context.WithTimeout(ctx, longestChange)
	defer cancel()
	if err := c.ready(ctx); err != nil {
		return err
	}
	err := pgx.BeginFunc(ctx, c.pool, func(tx pgx.Tx) error {
		w := &writer{transaction: c.enter(ctx, tx)}
		w.begin(wait)
		if w.flush(); w.err == nil {
			f(w)
		}
		w.flush()
		return w.err
	})
	if err = translate(err); errors.Is(err, schema.ErrUnreachable) {
		err = c.away(err)
	}
	return err
}

// translate names the error of a transaction for a caller outside.
func translate(err error) error {
	switch plain := schema.Plain(err); schema.Code(plain) {
	case "55P03", "40P01", "40001", "53300":
		return fmt.Errorf("write the shared index: %w", index.ErrBusy)
	default:
		switch {
		case err == nil, errors.Is(err, ErrConflict), errors.Is(err, ErrNoWorkspace):
			return err
		}
		return fmt.Errorf("write the shared index: %w", plain)
	}
}

func (w *writer) begin(wait time.Duration) {
	w.exec(waitSQL, strconv.FormatInt(max(1, wait.Milliseconds()), 10)+"ms")
	there := false
	w.query(lockSQL, func(r pgx.Rows) error {
		there = true
		return r.Scan(&w.generation, &w.lastNote, &w.lastPassage, &w.notes, &w.passages,
			&w.lengths[index.Title], &w.lengths[index.Tags], &w.lengths[index.Body])
	})
	w.flush()
	if w.err == nil && !there {
		w.err = ErrNoWorkspace
	}
	w.exec(beginOriginSQL, w.c.origin)
	w.query(originSQL, func(r pgx.Rows) error {
		var sum int64
		err := r.Scan(&sum, &w.files, &w.walked, &w.version, &w.others, &w.vouches)
		w.vouches = w.vouches && w.c.opts.Vouches
		w.fingerprint = uint64(sum)
		return err
	}, w.c.origin)
}

// exec adds a statement, whose parameters follow the workspace ($1).
func (t *transaction) exec(text string, args ...any) *pgx.QueuedQuery {
	return t.batch.Queue(text, append([]any{t.c.opts.Workspace}, args...)...)
}

// query adds a question; read is called for every row, by flush.
func (t *transaction) query(text string, read func(pgx.Rows) error, args ...any) {
	t.exec(text, args...).Query(func(rows pgx.Rows) error { return readAll(rows, read) })
}

// flush sends what was gathered, and waits for the answers.
func (t *transaction) flush() {
	if t.batch.Len() > 0 && t.err == nil {
		t.err = t.tx.SendBatch(t.ctx, t.batch).Close()
	}
	t.batch = &pgx.Batch{}
}
