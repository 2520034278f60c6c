package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"time"

	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// Count adds to the counters, unless the cursors are not at from any more. What a
// temporary index does not count is counted by the file later.
func (d counters) Count(ctx context.Context, add map[note.ID]store.Tally, from, to map[string]int64) error {
	return d.changeFile(ctx, func(w *writer) {
		now := make(map[string]int64)
		w.query("SELECT file, offset FROM cursors WHERE origin = ?", func(r *sql.Rows) error {
			var file string
			var offset int64
			err := r.Scan(&file, &offset)
			now[file] = offset
			return err
		}, w.origin)
		if w.err != nil || !maps.Equal(now, from) {
			return
		}
		for id, c := range add {
			w.exec(`INSERT INTO counters (id, origin, injected, recalled, last) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
				injected = injected + excluded.injected, recalled = recalled + excluded.recalled, last = max(last, excluded.last)`,
				string(id), w.origin, c.Injected, c.Recalled, c.Last.Unix())
		}
		for file, offset := range to {
			w.exec("INSERT INTO cursors (origin, file, offset) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET offset = excluded.offset",
				w.origin, file, offset)
		}
	})
}

// Cursors tells how far each file of the event log was read.
func (d counters) Cursors(ctx context.Context) (map[string]int64, error) {
	rows, err := d.queryBounded(ctx, "SELECT file, offset FROM cursors WHERE origin = ?", d.opts.Origin)
	all := make(map[string]int64)
	err = each(rows, err, func() error {
		var file string
		var offset int64
		err := rows.Scan(&file, &offset)
		all[file] = offset
		return err
	})
	return all, err
}

// Counters returns the counters of notes; those that nothing happened to are left out.
func (d counters) Counters(ctx context.Context, ids []note.ID) (map[note.ID]store.Tally, error) {
	all := make(map[note.ID]store.Tally)
	for _, id := range ids {
		var c store.Tally
		var last int64
		err := d.queryRow(ctx, "SELECT sum(injected), sum(recalled), max(last) FROM counters WHERE id = ? HAVING count(*) > 0",
			[]any{string(id)}, &c.Injected, &c.Recalled, &last)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err != nil {
			return nil, wrap(err)
		}
		c.Last = time.Unix(last, 0).UTC()
		all[id] = c
	}
	return all, nil
}
