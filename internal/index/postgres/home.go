package postgres

import (
	"context"
	"fmt"

	"anamnesis/internal/index"

	"github.com/jackc/pgx/v5"
)

const foundSQL = `SELECT n.generation, n.origin, o.member, n.path, false, n.key, n.hash, n.size, n.mtime, t.text, n.entities, n.declared,
	coalesce(n.writer, '')
	FROM anamnesis.notes n JOIN anamnesis.origins o ON o.workspace = $1 AND o.name = n.origin
	JOIN anamnesis.texts t ON t.workspace = $1 AND t.note = n.key
	WHERE n.workspace = $1 AND starts_with(o.name, $3) AND o.name <> $2 ORDER BY n.generation, n.origin, n.path LIMIT $4`

// Found returns notes of the other origins whose names begin with prefix, the oldest changes
// first, at most limit.
func (d *DB) Found(ctx context.Context, prefix string, limit int) (all []Change, err error) {
	err = d.each(ctx, func(r pgx.Rows) error {
		c, _, err := scanChange(r)
		all = append(all, c)
		return err
	}, foundSQL, d.origin, escape(prefix), limit)
	return all, err
}

// A Settled is a note of another origin that stands elsewhere now, or nowhere.
type Settled struct {
	Origin, Path string
	Hash         index.Digest // of the file that was looked at
	Why          string       // for the machine that wrote it
}

const settledSQL = `SELECT folded, size, mtime FROM anamnesis.notes WHERE workspace = $1 AND origin = $2 AND path = $3 AND hash = $4`

// Settle takes notes away from the origins that wrote them, for one who may: an owner of the
// workspace, or the member who wrote them. Their files count as known there, so that they are
// not sent again as they are. A note that was changed since it was looked at stays.
func (d *DB) Settle(ctx context.Context, all []Settled) error {
	err := d.change(ctx, d.opts.Busy, func(w *writer) {
		w.generation++
		own := w.c
		var ids []string
		for _, s := range all {
			there := index.FileState{Hash: s.Hash, Problem: s.Why}
			id := ""
			w.query(settledSQL, func(r pgx.Rows) error { return r.Scan(&id, &there.Size, &there.ModTime) },
				escape(s.Origin), escape(s.Path), s.Hash[:])
			if w.flush(); id == "" {
				continue
			}
			// The sums of the other origin stay as they are: a file that is known counts like a note.
			w.c = &conn{opts: d.opts, pool: d.pool, origin: escape(s.Origin)}
			w.drop(&delta{ids: []string{}, paths: []string{escape(s.Path)}})
			w.putProblems(&delta{problems: map[string]index.FileState{s.Path: there}})
			ids = append(ids, id)
		}
		w.c = own
		w.share(ids)
		if w.flush(); w.edges {
			w.supersede(ids)
		}
		w.total()
	})
	if err != nil {
		return fmt.Errorf("settle notes of the shared index: %w", err)
	}
	return nil
}
