package sqlite

import (
	"context"
	"database/sql"

	"anamnesis/internal/index/flat"
)

// supersede works out which notes are hidden behind others. A note that lists
// itself hides nothing, and where notes supersede each other in a circle the
// edge out of the oldest is not followed, so that one of them always stays
// visible (weakness W-60). A note of a branch hides nothing here: it does so
// for readers on that branch, in the filter. Of a note that several origins hold,
// the one that was updated last speaks, whoever asks.
func (w *writer) supersede() {
	var edges []flat.Supersede
	w.query(`SELECT n.id, s.target, n.updated FROM supersedes s JOIN notes n ON n.key = s.note
		WHERE n.id COLLATE BINARY <> s.target AND n.branch = '' AND (n.shared = 0 OR NOT EXISTS (SELECT 1 FROM notes o
			WHERE o.id = n.id AND (o.updated > n.updated OR o.updated = n.updated AND o.origin < n.origin)))
		ORDER BY n.updated DESC, n.id COLLATE BINARY DESC, s.target`, func(r *sql.Rows) error {
		var e flat.Supersede
		var updated int64 // of e.From
		if err := r.Scan(&e.From, &e.To, &updated); err != nil {
			return err
		}
		edges = append(edges, e)
		return nil
	})
	hidden := flat.Hidden(edges)
	was := make(map[string]string)
	w.query("SELECT id, superseded_by FROM notes WHERE superseded_by <> ''", func(r *sql.Rows) error {
		var id, by string
		err := r.Scan(&id, &by)
		was[id] = by
		return err
	})
	for id, by := range hidden {
		if was[id] != by || w.others {
			w.exec("UPDATE notes SET superseded_by = ? WHERE id = ?", by, id)
		}
		delete(was, id)
	}
	for id := range was {
		w.exec("UPDATE notes SET superseded_by = '' WHERE id = ?", id)
	}
}

// Superseding reports whether any note takes the place of another.
func (d catalogue) Superseding(ctx context.Context) (some bool, err error) {
	err = d.queryRow(ctx, "SELECT EXISTS (SELECT 1 FROM supersedes)", nil, &some)
	return some, wrap(err)
}
