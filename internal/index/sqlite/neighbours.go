package sqlite

import (
	"context"
	"strings"

	"anamnesis/internal/index"
)

// The next and the last note of the same second and session. Notes of no session
// have nothing in common but the clock. A second that more than maxNeighbourhood
// notes of a project share is that of an import, whose notes say nothing about one
// another. At most one more than that is counted.
const (
	maxNeighbourhood = "64"
	neighbourhoodSQL = `WITH o AS MATERIALIZED (SELECT n.key, n.id, n.project, n.created, n.session
		FROM json_each(?) j CROSS JOIN notes n ON n.key = j.value WHERE n.created <> 0 AND n.session <> '' AND ` + maxNeighbourhood + ` >=
		(SELECT count(*) FROM (
			SELECT 1 FROM notes y WHERE y.project = n.project AND y.created = n.created AND {y} LIMIT ` + maxNeighbourhood + ` + 1))) `
	neighbourSQL = `SELECT o.key, n.key FROM o CROSS JOIN notes n ON n.key =
	(SELECT x.key FROM notes x WHERE x.project = o.project AND x.created = o.created AND x.session = o.session AND {x} AND x.id `
	forwardSQL  = neighbourSQL + "> o.id ORDER BY x.id LIMIT 1) WHERE "
	backwardSQL = neighbourSQL + "< o.id ORDER BY x.id DESC LIMIT 1) WHERE "
)

// Neighbours returns the notes that were written beside others.
func (d catalogue) Neighbours(ctx context.Context, notes []int64, f index.Filter) ([]index.Neighbour, error) {
	if len(notes) == 0 {
		return nil, nil
	}
	cond, args := d.where(f)
	all := append(append([]any{list(notes)}, args...), args...)
	query := neighbourhoodSQL + forwardSQL + cond + " UNION " + backwardSQL + cond + " ORDER BY 1, 2"
	rows, err := d.queryBounded(ctx, strings.NewReplacer("{x}", d.visible("x"), "{y}", d.visible("y")).Replace(query), all...)
	return collect(rows, err, func(c *index.Neighbour) error { return rows.Scan(&c.Of, &c.With) })
}
