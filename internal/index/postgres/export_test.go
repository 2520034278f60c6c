package postgres

import (
	"context"
	"fmt"

	"anamnesis/internal/index"

	"github.com/jackc/pgx/v5"
)

// PlanNearest returns how the server looks for the nearest vectors in an HNSW index.
func (d *DB) PlanNearest(ctx context.Context, model string, question []float32) (plan string, err error) {
	where, hnsw, err := d.halves.of(ctx, d.vectors.conn)
	if err != nil || !hnsw {
		return "", err
	}
	err = d.eachAfter(ctx, enterHNSWSQL, func(r pgx.Rows) error {
		var line string
		err := r.Scan(&line)
		plan += line + "\n"
		return err
	}, "EXPLAIN "+fmt.Sprintf(hnswSQL, where, len(question)), int64(index.VectorModel(model)), len(question)+4, []int32(nil), halfText(question), 40)
	return plan, err
}

// CopyHere waits until what is fetched is here, and reports whether the vectors of a model are.
func (d *DB) CopyHere(model string) bool {
	d.halves.fetching.Wait()
	return d.halves.here(index.VectorModel(model))
}
