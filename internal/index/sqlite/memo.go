package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"anamnesis/internal/index"
)

// Generation counts the batches that changed something.
func (d memos) Generation(ctx context.Context) (n int64, err error) {
	err = d.queryRow(ctx, "SELECT coalesce(max(value), 0) FROM meta WHERE key = 'generation'", nil, &n)
	return n, wrap(err)
}

// Memo returns what was kept under a key.
func (d memos) Memo(ctx context.Context, kind, key string) (m index.Memo, ok bool, err error) {
	var at int64
	err = d.queryRow(ctx, "SELECT key, value, generation, at FROM memos WHERE origin = ? AND kind = ? AND key = ?",
		[]any{d.opts.Origin, kind, key}, &m.Key, &m.Value, &m.Generation, &at)
	if errors.Is(err, sql.ErrNoRows) {
		return m, false, nil
	}
	m.At = time.Unix(0, at)
	return m, err == nil, wrap(err)
}

// Memos lists what was kept of a kind, the newest first.
func (d memos) Memos(ctx context.Context, kind string, limit int) ([]index.Memo, error) {
	rows, err := d.queryBounded(ctx, "SELECT key, value, generation, at FROM memos WHERE origin = ? AND kind = ? ORDER BY at DESC, "+
		"key LIMIT ?", d.opts.Origin, kind, limit)
	return collect(rows, err, func(m *index.Memo) error {
		var at int64
		err := rows.Scan(&m.Key, &m.Value, &m.Generation, &at)
		m.At = time.Unix(0, at)
		return err
	})
}

// SetMemo keeps a value with the generation it was made at. It waits for
// nobody: what cannot be kept now is made again.
func (d memos) SetMemo(ctx context.Context, kind, key string, m index.Memo, keep int) error {
	if d.readOnly.Load() {
		return nil
	}
	d.mu.Lock()
	db := d.write
	d.mu.Unlock()
	conn, err := db.Conn(ctx)
	if err != nil {
		return d.translate(db, err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.ExecContext(ctx, "PRAGMA busy_timeout = 0"); err != nil {
		return d.translate(db, err)
	}
	defer func() {
		_, _ = conn.ExecContext(context.WithoutCancel(ctx), fmt.Sprintf("PRAGMA busy_timeout = %d", d.opts.Busy.Milliseconds()))
	}()
	_, err = conn.ExecContext(ctx, `INSERT INTO memos (origin, kind, key, value, generation, at) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET value = excluded.value, generation = excluded.generation, at = excluded.at`,
		d.opts.Origin, kind, key, m.Value, m.Generation, m.At.UnixNano())
	if err == nil && keep > 0 {
		_, err = conn.ExecContext(ctx, `DELETE FROM memos WHERE origin = ? AND kind = ? AND key NOT IN
			(SELECT key FROM memos WHERE origin = ? AND kind = ? ORDER BY at DESC, key LIMIT ?)`, d.opts.Origin, kind, d.opts.Origin, kind, keep)
	}
	if unwritable(err) { // no reason to go on without the file: what was kept before can be read
		return err
	}
	return d.translate(db, err)
}
