package postgres

import (
	"context"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/index/postgres/schema"
	"anamnesis/internal/note"

	"github.com/jackc/pgx/v5"
)

// A Standing is what a writer of the own origin has to know before it writes.
type Standing struct {
	Mark      string // of the last change that left one, "" for none (Sign)
	Holder    string // whose the origin is, "" when it is the caller's or nobody's
	Withdrawn []Withdrawal
}

// A Withdrawal is a note that an owner of the workspace took away. No origin may hold it.
type Withdrawal struct {
	ID     note.ID
	Member string // the owner
	At     time.Time
	Reason string
}

// signKind is the kind of the row of memos that holds the mark of the last writer.
const signKind = "writer"

const standingSQL = `SELECT w.id, w.member, w.at, w.reason, ''::bytea FROM anamnesis.withdrawn w WHERE w.workspace = $1
	UNION ALL SELECT '', '', 'epoch', '', m.value FROM anamnesis.memos m WHERE m.workspace = $1 AND m.origin = $2 AND m.kind = $3
	UNION ALL SELECT '', o.member, 'epoch', '', '' FROM anamnesis.origins o
	WHERE o.workspace = $1 AND o.name = $2 AND o.member <> anamnesis.principal() ORDER BY 1`

// Standing asks for it, in one round trip.
func (d *DB) Standing(ctx context.Context) (s Standing, err error) {
	err = d.each(ctx, func(r pgx.Rows) error {
		var w Withdrawal
		var id string
		var mark []byte
		if err := r.Scan(&id, &w.Member, &w.At, &w.Reason, &mark); err != nil {
			return err
		}
		switch {
		case id == "" && w.Member != "":
			s.Holder = unescape(w.Member)
			return nil
		case id == "":
			s.Mark = string(mark)
			return nil
		}
		w.ID, w.Member, w.Reason = note.ID(unescape(id)), unescape(w.Member), unescape(w.Reason)
		s.Withdrawn = append(s.Withdrawn, w)
		return nil
	}, standingSQL, d.origin, signKind)
	return s, err
}

// Sign makes every Apply from now on leave a mark at the own origin, in its transaction.
// Who finds there a mark that is none it made knows that somebody else wrote.
func (d *DB) Sign(mark string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.mark = mark
}

func (w *writer) sign(mark string) {
	if mark != "" {
		w.exec(`INSERT INTO anamnesis.memos (workspace, origin, kind, key, value, generation, at) VALUES ($1, $2, $3, '', $4, 0, 0)
			ON CONFLICT (workspace, origin, kind, key) DO UPDATE SET value = excluded.value`, w.c.origin, signKind, []byte(mark))
	}
}

const copiesOfSQL = copiesSQL + "n.folded = $2 ORDER BY n.origin"

// Copies lists who holds a note, by origin.
func (d *DB) Copies(ctx context.Context, id note.ID) ([]Copy, error) {
	return collect(ctx, d.conn, scanCopy, copiesOfSQL, fold(string(id)))
}

// Withdraw takes a note away from all origins, for an owner of the workspace, and keeps it
// from coming back. Those who keep copies hear that the files are gone. The authors' files
// count as held back from now on, and Files names them: they stay what they are.
func (d *DB) Withdraw(ctx context.Context, id note.ID, reason, problem string) (all []Copy, err error) {
	folded := fold(string(id))
	err = d.change(ctx, d.opts.Busy, func(w *writer) {
		all = nil
		w.exec(`INSERT INTO anamnesis.withdrawn (workspace, folded, id, member, reason)
			VALUES ($1, $2, $3, anamnesis.principal(), $4) ON CONFLICT (workspace, folded) DO NOTHING`, folded, escape(string(id)), escape(reason))
		w.query(copiesOfSQL, func(r pgx.Rows) error {
			var c Copy
			err := scanCopy(r, &c)
			all = append(all, c)
			return err
		}, folded)
		if w.flush(); w.err != nil || len(all) == 0 {
			return
		}
		w.generation++
		for _, c := range all {
			w.takeAway(c.Origin, c.Path, index.FileState{Size: c.size, ModTime: c.mtime, Hash: c.Hash, Problem: problem})
		}
		w.conclude([]string{folded})
	})
	return all, err
}

// Principal returns who the server takes the caller for.
func (d *DB) Principal(ctx context.Context) (name string, err error) {
	err = d.row(ctx, "SELECT coalesce(anamnesis.principal(), '') WHERE $1::text <> ''", nil, &name)
	return name, err
}

// Refused reports whether an error says that the server's rules do not let the caller do
// what it asked for.
func Refused(err error) bool { return schema.Code(err) == "42501" }

// Return ends a withdrawal: its authors may share the note again, with the next run of
// theirs. It reports whether there was one.
func (d *DB) Return(ctx context.Context, id note.ID) (there bool, err error) {
	err = d.change(ctx, d.opts.Busy, func(w *writer) {
		w.query("DELETE FROM anamnesis.withdrawn WHERE workspace = $1 AND folded = $2 RETURNING 1", func(pgx.Rows) error {
			there = true
			return nil
		}, fold(string(id)))
	})
	return there, err
}
