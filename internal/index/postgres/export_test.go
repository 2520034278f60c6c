package postgres

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"anamnesis/internal/index"

	"github.com/jackc/pgx/v5"
)

// PlanNearest returns how the server looks for the nearest vectors in an HNSW index.
func (d *DB) PlanNearest(t *testing.T, model string, question []float32) (plan string) {
	t.Helper()
	where, _, err := d.half.of(context.Background(), d.conn)
	if err != nil {
		t.Fatal(err)
	}
	fill := strings.NewReplacer("{s}", where, "{dims}", strconv.Itoa(len(question)), "{most}", "40", "{model}", "$2", "{length}", "$3",
		"{groups}", "$4", "{question}", "$5")
	err = d.eachAfter(context.Background(), enterHNSWSQL, func(r pgx.Rows) error {
		var line string
		err := r.Scan(&line)
		plan += line + "\n"
		return err
	}, "EXPLAIN "+fill.Replace(hnswSQL), int64(index.VectorModel(model)), len(question)+4, []int32(nil), halfText(question))
	if err != nil {
		t.Fatal(err)
	}
	return plan
}
