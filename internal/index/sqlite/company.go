package sqlite

import (
	"context"
	"encoding/json"
	"strings"

	"anamnesis/internal/index"
)

// The next and the last note of the same moment and session. Notes of no session
// have nothing in common but the clock. A moment that more than mostCompany
// notes of a project share is that of an import: its notes say nothing about one
// another. At most one more than that is counted.
const (
	mostCompany = "64"
	companySQL  = `WITH o AS MATERIALIZED (SELECT n.key, n.id, n.project, n.created, n.session
		FROM json_each(?) j CROSS JOIN notes n ON n.key = j.value WHERE n.created <> 0 AND n.session <> '' AND ` + mostCompany + ` >=
		(SELECT count(*) FROM (SELECT 1 FROM notes y WHERE y.project = n.project AND y.created = n.created AND {y} LIMIT ` + mostCompany + ` + 1))) `
	beside = `SELECT o.key, n.key FROM o CROSS JOIN notes n ON n.key =
	(SELECT x.key FROM notes x WHERE x.project = o.project AND x.created = o.created AND x.session = o.session AND {x} AND x.id `
	forwardSQL  = beside + "> o.id ORDER BY x.id LIMIT 1) WHERE "
	backwardSQL = beside + "< o.id ORDER BY x.id DESC LIMIT 1) WHERE "
)

// Company returns the notes that stand beside others.
func (d catalogue) Company(ctx context.Context, notes []int64, f index.Filter) ([]index.Company, error) {
	list, err := json.Marshal(notes)
	if err != nil || len(notes) == 0 {
		return nil, wrap(err)
	}
	cond, args := d.where(f)
	all := append(append([]any{string(list)}, args...), args...)
	query := companySQL + forwardSQL + cond + " UNION " + backwardSQL + cond + " ORDER BY 1, 2"
	rows, err := d.short(ctx, strings.NewReplacer("{x}", d.visible("x"), "{y}", d.visible("y")).Replace(query), all...)
	if err != nil {
		return nil, wrap(err)
	}
	defer rows.Close()
	var pairs []index.Company
	for rows.Next() {
		var c index.Company
		if err := rows.Scan(&c.Of, &c.With); err != nil {
			return nil, wrap(err)
		}
		pairs = append(pairs, c)
	}
	return pairs, wrap(rows.Err())
}
