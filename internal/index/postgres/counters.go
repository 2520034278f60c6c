package postgres

import (
	"context"
	"maps"

	"anamnesis/internal/index/flat"
	"anamnesis/internal/note"
	"anamnesis/internal/store"

	"github.com/jackc/pgx/v5"
)

const cursorsSQL = "SELECT file, offset_bytes FROM anamnesis.cursors WHERE workspace = $1 AND origin = $2"

// Count adds to the counters, unless the cursors are not at from any more.
func (d counters) Count(ctx context.Context, add map[note.ID]store.Tally, from, to map[string]int64) error {
	return d.change(ctx, d.opts.Busy, func(w *writer) {
		now := make(map[string]int64)
		w.query(cursorsSQL, func(r pgx.Rows) error { return scanCursor(r, now) }, d.origin)
		if w.flush(); w.err != nil || !maps.Equal(now, from) {
			return
		}
		for id, c := range add {
			w.exec(`INSERT INTO anamnesis.counters AS c (workspace, origin, id, injected, recalled, last, used, unused, opposed)
				VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (workspace, id, origin) DO UPDATE SET
				injected = c.injected + excluded.injected, recalled = c.recalled + excluded.recalled, last = greatest(c.last, excluded.last),
				used = c.used + excluded.used, unused = c.unused + excluded.unused, opposed = c.opposed + excluded.opposed`,
				d.origin, escape(string(id)), c.Injected, c.Recalled, flat.Seconds(c.Last), c.Used, c.Unused, c.Opposed)
		}
		for file, offset := range to {
			w.exec(`INSERT INTO anamnesis.cursors (workspace, origin, file, offset_bytes) VALUES ($1, $2, $3, $4)
				ON CONFLICT (workspace, origin, file) DO UPDATE SET offset_bytes = excluded.offset_bytes`, d.origin, escape(file), offset)
		}
	})
}

func scanCursor(r pgx.Rows, into map[string]int64) error {
	var file string
	var offset int64
	err := r.Scan(&file, &offset)
	into[unescape(file)] = offset
	return err
}

// Cursors tells how far each file of the event log was read.
func (d counters) Cursors(ctx context.Context) (map[string]int64, error) {
	all := make(map[string]int64)
	err := d.each(ctx, func(r pgx.Rows) error { return scanCursor(r, all) }, cursorsSQL, d.origin)
	return all, err
}

// Counters returns the counters of notes; those that nothing happened to are left out.
func (d counters) Counters(ctx context.Context, ids []note.ID) (map[note.ID]store.Tally, error) {
	all := make(map[note.ID]store.Tally)
	err := d.each(ctx, func(r pgx.Rows) error {
		var id string
		var c store.Tally
		var last int64
		err := r.Scan(&id, &c.Injected, &c.Recalled, &last, &c.Used, &c.Unused, &c.Opposed)
		c.Last = flat.TimeOf(last)
		all[note.ID(unescape(id))] = c
		return err
	}, `SELECT id, sum(injected)::bigint, sum(recalled)::bigint, max(last), sum(used)::bigint, sum(unused)::bigint, sum(opposed)::bigint
		FROM anamnesis.counters WHERE workspace = $1 AND id = ANY($2::text[]) GROUP BY id`, escapeAll(ids))
	return all, err
}
