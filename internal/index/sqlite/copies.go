package sqlite

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"

	"anamnesis/internal/index"
	"anamnesis/internal/index/flat"
)

// A copy of the vectors is rebuilt when it differs from the table by more
// than a share of it, and by more than a number.
const (
	copyShare = 16
	copyLeast = 500
)

// Tidy folds a long log into the file, and makes the copies of the vectors that
// lack too much.
func (d maintainer) Tidy(ctx context.Context) error {
	if d.readOnly.Load() {
		return nil
	}
	d.checkpoint(ctx)
	if d.inStep(ctx) {
		return nil
	}
	epoch, err := d.epoch(ctx)
	if err != nil {
		return wrap(err)
	}
	models, err := d.embeddedModels(ctx)
	if err != nil {
		return err
	}
	for _, m := range models {
		model := uint64(m.model)
		off := m.count
		if copied := d.flat(ctx, model); copied != nil {
			var newer int64
			if err := d.queryRow(ctx, "SELECT count(*) FROM vectors WHERE passage > ? AND model = ?", []any{copied.Last, m.model},
				&newer); err != nil {
				return wrap(err)
			}
			held := int64(copied.Rows) // passages may have gone since, or got their vectors late
			off = newer + max(held-(m.count-newer), m.count-newer-held)
		}
		if off > copyLeast && off > m.count/copyShare {
			if err := d.copyVectors(ctx, model, uint64(epoch), int(m.count)); err != nil {
				return err
			}
		}
	}
	d.dropCopies(models)
	return d.tidyPostings(ctx, uint64(epoch))
}

// inStep reports whether the copies lack nothing. It counts no vectors: that takes a tenth of
// a second where there are many.
func (d *conn) inStep(ctx context.Context) bool {
	p, err := d.posted(ctx)
	if err != nil || len(p.gone)+len(p.newer) > 0 {
		return false
	}
	copied := d.flatOf(p.Model, uint64(p.epoch))
	return copied != nil && copied.Rows == p.Rows
}

// embedded says how many vectors of a model there are, and the greatest key of a
// passage that has one.
type embedded struct{ model, count, last int64 }

func (d *conn) embeddedModels(ctx context.Context) ([]embedded, error) {
	rows, err := d.query(ctx, "SELECT model, count(*), coalesce(max(passage), 0) FROM vectors GROUP BY model")
	return collect(rows, err, func(m *embedded) error { return rows.Scan(&m.model, &m.count, &m.last) })
}

// dropCopies removes the copies of vectors of all models but some.
func (d *conn) dropCopies(but []embedded) {
	keep := make(map[string]bool, len(but))
	for _, m := range but {
		keep[d.flatPath(uint64(m.model))] = true
	}
	old, _ := filepath.Glob(filepath.Join(filepath.Dir(d.path), "vectors-*.bin"))
	for _, name := range old {
		if !keep[name] {
			_ = os.Remove(name)
		}
	}
}

func (d *conn) copyVectors(ctx context.Context, model, epoch uint64, size int) error {
	rows, err := d.query(ctx, "SELECT passage, project, vector FROM vectors WHERE model = ? ORDER BY passage", int64(model))
	if err != nil {
		return wrap(err)
	}
	defer rows.Close()
	h := flat.Header{Model: model, Epoch: epoch}
	all := make([]flat.Row, 0, size)
	var vector sql.RawBytes
	for rows.Next() {
		var key, project int64
		if err := rows.Scan(&key, &project, &vector); err != nil {
			return wrap(err)
		}
		v := index.Vector(vector)
		if h.Dim == 0 {
			h.Dim = v.Dim()
		}
		if v.Dim() == h.Dim { // a server may have changed its mind
			all = append(all, flat.Row{Key: key, Group: uint32(project), Scale: v.Scale(), Values: v.Values()})
		}
		h.Last = key
	}
	if err := rows.err(); err != nil {
		return wrap(err)
	}
	if h.Dim%64 != 0 { // such models are searched in the table
		return nil
	}
	return flat.Write(d.flatPath(model), h, all)
}
