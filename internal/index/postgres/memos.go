package postgres

import (
	"context"
	"errors"
	"time"

	"anamnesis/internal/index"

	"github.com/jackc/pgx/v5"
)

// Generation counts the changes that readers could see.
func (d memos) Generation(ctx context.Context) (n int64, err error) {
	err = d.row(ctx, "SELECT generation FROM anamnesis.workspaces WHERE id = $1", nil, &n)
	return n, err
}

func scanMemo(r pgx.Rows) (m index.Memo, err error) {
	var at int64
	err = r.Scan(&m.Key, &m.Value, &m.Generation, &at)
	m.Key, m.At = unescape(m.Key), time.Unix(0, at)
	return m, err
}

// Memo returns what was kept under a key.
func (d memos) Memo(ctx context.Context, kind, key string) (m index.Memo, ok bool, err error) {
	err = d.each(ctx, func(r pgx.Rows) (err error) {
		ok = true
		m, err = scanMemo(r)
		return err
	}, "SELECT key, value, generation, at FROM anamnesis.memos WHERE workspace = $1 AND origin = $2 AND kind = $3 AND key = $4",
		d.origin, escape(kind), escape(key))
	return m, ok && err == nil, err
}

// Memos lists what was kept of a kind, the newest first.
func (d memos) Memos(ctx context.Context, kind string, limit int) (all []index.Memo, err error) {
	err = d.each(ctx, func(r pgx.Rows) error {
		m, err := scanMemo(r)
		all = append(all, m)
		return err
	}, `SELECT key, value, generation, at FROM anamnesis.memos WHERE workspace = $1 AND origin = $2 AND kind = $3
		ORDER BY at DESC, key LIMIT $4`, d.origin, escape(kind), max(0, limit))
	return all, err
}

// SetMemo keeps a value with the generation it was made at. It waits for nobody.
func (d memos) SetMemo(ctx context.Context, kind, key string, m index.Memo, keep int) error {
	err := d.change(ctx, 0, func(w *writer) {
		value := m.Value
		if value == nil {
			value = []byte{}
		}
		w.exec(`INSERT INTO anamnesis.memos (workspace, origin, kind, key, value, generation, at) VALUES ($1, $2, $3, $4, $5, $6, $7)
			ON CONFLICT (workspace, origin, kind, key) DO UPDATE SET value = excluded.value, generation = excluded.generation, at = excluded.at`,
			d.origin, escape(kind), escape(key), value, m.Generation, m.At.UnixNano())
		if keep > 0 {
			w.exec(`DELETE FROM anamnesis.memos WHERE workspace = $1 AND origin = $2 AND kind = $3 AND key NOT IN
				(SELECT key FROM anamnesis.memos WHERE workspace = $1 AND origin = $2 AND kind = $3 ORDER BY at DESC, key LIMIT $4)`,
				d.origin, escape(kind), keep)
		}
	})
	if errors.Is(err, errReadOnly) {
		return nil
	}
	return err
}
