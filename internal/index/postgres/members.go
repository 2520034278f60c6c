package postgres

import (
	"context"
	"fmt"

	"anamnesis/internal/index/postgres/schema"

	"github.com/jackc/pgx/v5"
)

// Removed says what RemoveNotes took away.
type Removed struct {
	Origins int // trees of the member
	Notes   int
}

// RemoveNotes takes all notes of a member out of the shared index, for an owner of the
// workspace, whose address and workspace o holds; its origin does not matter. The files of
// the notes are on the member's machines, and stay there. The origins stay, empty and the
// owner's, so that those who keep copies hear that the notes are gone, and the member
// cannot fill them again.
//
// It goes origin by origin. What was done stays done when it fails; it may be repeated.
func RemoveNotes(ctx context.Context, o Options, member string) (done Removed, err error) {
	o.Origin, o.ReadOnly = "", false
	db, err := Open(ctx, o)
	if err != nil {
		return done, err
	}
	defer func() { _ = db.Close() }()
	type tree struct {
		name  string
		notes int
	}
	var trees []tree
	err = db.each(ctx, func(r pgx.Rows) error {
		var t tree
		err := r.Scan(&t.name, &t.notes)
		trees = append(trees, t)
		return err
	}, `SELECT o.name, (SELECT count(*)::int FROM anamnesis.notes n WHERE n.workspace = $1 AND n.origin = o.name)
		FROM anamnesis.origins o WHERE o.workspace = $1 AND o.member = $2 ORDER BY o.name`, member)
	if err != nil {
		return done, err
	}
	for _, t := range trees {
		c := &conn{opts: db.opts, pool: db.pool, origin: t.name, version: -1}
		// The rules of rows let an owner write an origin that is theirs.
		err := c.change(ctx, db.opts.Busy, func(w *writer) {
			w.exec("UPDATE anamnesis.origins SET member = session_user WHERE workspace = $1 AND name = $2", c.origin)
		})
		if err == nil {
			err = maintainer{c}.Reset(ctx)
		}
		if err != nil {
			return done, fmt.Errorf("remove the notes of a member: %w", schema.Plain(err))
		}
		done.Origins++
		done.Notes += t.notes
	}
	return done, nil
}
