package sqlite

import (
	"context"
	"encoding/json"

	"anamnesis/internal/index"
)

// The next and the last note of the same moment.
const (
	beside = `SELECT j.value, n.key FROM json_each(?) j CROSS JOIN notes o ON o.key = j.value JOIN notes n ON n.key =
	(SELECT x.key FROM notes x WHERE x.project = o.project AND x.created = o.created AND x.id `
	forwardSQL  = beside + "> o.id ORDER BY x.id LIMIT 1) WHERE o.created <> 0 AND "
	backwardSQL = beside + "< o.id ORDER BY x.id DESC LIMIT 1) WHERE o.created <> 0 AND "
)

// Company returns the notes that stand beside others.
func (d *DB) Company(ctx context.Context, notes []int64, f index.Filter) ([]index.Company, error) {
	list, err := json.Marshal(notes)
	if err != nil || len(notes) == 0 {
		return nil, wrap(err)
	}
	cond, args := where(f)
	args = append([]any{string(list)}, args...)
	rows, err := d.short(ctx, forwardSQL+cond+" UNION "+backwardSQL+cond+" ORDER BY 1, 2", append(args, args...)...)
	if err != nil {
		return nil, wrap(err)
	}
	defer rows.Close()
	var all []index.Company
	for rows.Next() {
		var c index.Company
		if err := rows.Scan(&c.Of, &c.With); err != nil {
			return nil, wrap(err)
		}
		all = append(all, c)
	}
	return all, wrap(rows.Err())
}
