package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"maps"

	"anamnesis/internal/index/flat"
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
			w.exec(`INSERT INTO counters (id, origin, injected, recalled, last, used, unused, opposed) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
				ON CONFLICT DO UPDATE SET injected = injected + excluded.injected, recalled = recalled + excluded.recalled,
				last = max(last, excluded.last), used = used + excluded.used, unused = unused + excluded.unused,
				opposed = opposed + excluded.opposed`,
				string(id), w.origin, c.Injected, c.Recalled, flat.Seconds(c.Last), c.Used, c.Unused, c.Opposed)
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
	return pairs[string, int64](rows, err)
}

// Counters returns the counters of notes; those that nothing happened to are left out.
func (d counters) Counters(ctx context.Context, ids []note.ID) (map[note.ID]store.Tally, error) {
	asked, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	rows, err := d.queryBounded(ctx, `SELECT c.id, sum(c.injected), sum(c.recalled), max(c.last), sum(c.used), sum(c.unused), sum(c.opposed)
		FROM json_each(?) j CROSS JOIN counters c ON c.id = j.value GROUP BY c.id`, string(asked))
	all := make(map[note.ID]store.Tally)
	err = each(rows, err, func() error {
		var id string
		var c store.Tally
		var last int64
		err := rows.Scan(&id, &c.Injected, &c.Recalled, &last, &c.Used, &c.Unused, &c.Opposed)
		c.Last = flat.TimeOf(last)
		all[note.ID(id)] = c
		return err
	})
	return all, err
}
