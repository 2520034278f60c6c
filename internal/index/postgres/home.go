package postgres

import (
	"context"
	"fmt"

	"anamnesis/internal/index"

	"github.com/jackc/pgx/v5"
)

const foundSQL = changedSQL + "starts_with(o.name, $3) AND o.name <> $2 ORDER BY n.generation, n.origin, n.path LIMIT $4"

// Found returns notes of the other origins whose names begin with prefix, the oldest changes
// first, at most limit.
func (d *DB) Found(ctx context.Context, prefix string, limit int) ([]index.Change, error) {
	return collect(ctx, d.conn, func(r pgx.Rows, c *index.Change) error {
		_, err := scanChange(r, c)
		return err
	}, foundSQL, d.origin, escape(prefix), limit)
}

const settledSQL = `SELECT folded, size, mtime FROM anamnesis.notes WHERE workspace = $1 AND origin = $2 AND path = $3 AND hash = $4`

// Settle takes notes away from the origins that wrote them, for one who may: an owner of the
// workspace, or the member who wrote them. Their files count as known there, so that they are
// not sent again as they are. A note that was changed since it was looked at stays.
func (d *DB) Settle(ctx context.Context, all []index.Settled) error {
	err := d.change(ctx, d.opts.Busy, func(w *writer) {
		w.generation++
		var ids []string
		for _, s := range all {
			there := index.FileState{Hash: s.Hash, Problem: s.Why}
			id := ""
			w.query(settledSQL, func(r pgx.Rows) error { return r.Scan(&id, &there.Size, &there.ModTime) },
				escape(s.Origin), escape(s.Path), s.Hash[:])
			if w.flush(); id == "" {
				continue
			}
			w.takeAway(s.Origin, s.Path, there)
			ids = append(ids, id)
		}
		w.conclude(ids)
	})
	if err != nil {
		return fmt.Errorf("settle notes of the shared index: %w", err)
	}
	return nil
}

// takeAway takes a note away from the origin that wrote it, where its file counts as what there
// says from now on. The sums of the origin stay as they are: such a file counts like a note.
func (w *writer) takeAway(origin, path string, there index.FileState) {
	own := w.c
	w.c = &conn{opts: own.opts, pool: own.pool, origin: escape(origin)}
	w.drop(&delta{ids: []string{}, paths: []string{escape(path)}})
	w.putProblems(&delta{problems: map[string]index.FileState{path: there}})
	w.c = own
}

// conclude brings the workspace into step with what was taken away of some ids, folded.
func (w *writer) conclude(ids []string) {
	w.share(ids)
	if w.flush(); w.edges {
		w.supersede(ids)
	}
	w.total()
}
