package postgres

import (
	"context"
	"strings"

	"anamnesis/internal/index"

	"github.com/jackc/pgx/v5"
)

// The next and the last note of the same second and session. A second that more than 64
// notes of a project share is that of an import, whose notes say nothing about one
// another. At most one more than that is counted.
const (
	neighbourhoodSQL = `WITH o AS MATERIALIZED (SELECT n.key, n.folded, n.project, n.created, n.session
		FROM anamnesis.notes n WHERE n.workspace = $1 AND n.key = ANY({notes}::bigint[]) AND n.created <> 0 AND n.session <> '' AND 64 >=
		(SELECT count(*) FROM (SELECT 1 FROM anamnesis.notes y WHERE y.workspace = $1 AND y.project = n.project AND y.created = n.created
			AND y.created <> 0 AND {y} LIMIT 65) c)) `
	neighbourSQL = `SELECT o.key, n.key FROM o CROSS JOIN LATERAL (SELECT x.key
		FROM anamnesis.notes x WHERE x.workspace = $1 AND x.project = o.project AND x.created = o.created AND x.created <> 0
			AND x.session = o.session AND {x} AND x.folded `
	joinSQL     = ") k JOIN anamnesis.notes n ON n.workspace = $1 AND n.key = k.key WHERE "
	forwardSQL  = neighbourSQL + "> o.folded ORDER BY x.folded LIMIT 1" + joinSQL
	backwardSQL = neighbourSQL + "< o.folded ORDER BY x.folded DESC LIMIT 1" + joinSQL
)

// Neighbours returns the notes that were written beside others.
func (d catalogue) Neighbours(ctx context.Context, notes []int64, f index.Filter) ([]index.Neighbour, error) {
	if len(notes) == 0 {
		return nil, nil
	}
	q := d.query()
	keys, cond := q.arg(notes), q.where(f)
	text := strings.NewReplacer("{notes}", keys, "{x}", visible("x"), "{y}", visible("y")).
		Replace(neighbourhoodSQL + forwardSQL + cond + " UNION " + backwardSQL + cond + " ORDER BY 1, 2")
	return collect(ctx, d.conn, func(r pgx.Rows, c *index.Neighbour) error { return r.Scan(&c.Of, &c.With) }, text, q.args...)
}
