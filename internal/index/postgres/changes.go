package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/index/flat"
	"anamnesis/internal/index/postgres/schema"
	"anamnesis/internal/note"

	"github.com/jackc/pgx/v5"
)

// ErrRewound says that the database knows fewer changes than were read from it: it was
// restored from a backup, or rebuilt. Whoever keeps a copy reads it from 0, and
// forgets what does not come.
var ErrRewound = errors.New("the shared database was set back; read its changes from the beginning")

const (
	cutSQL = `SELECT w.generation, (SELECT max(generation) FROM (
		(SELECT generation FROM anamnesis.notes WHERE workspace = $1 AND generation > $3 AND origin <> $2 ORDER BY generation LIMIT $4)
		UNION ALL
		(SELECT generation FROM anamnesis.dropped WHERE workspace = $1 AND generation > $3 AND origin <> $2 ORDER BY generation LIMIT $4)
		ORDER BY generation LIMIT $4) AS first),
		(SELECT count(*) FROM (
		(SELECT 1 FROM anamnesis.notes WHERE workspace = $1 AND generation > $3 AND origin <> $2 LIMIT $4)
		UNION ALL
		(SELECT 1 FROM anamnesis.dropped WHERE workspace = $1 AND generation > $3 AND origin <> $2 LIMIT $4)) AS those)
		FROM anamnesis.workspaces w WHERE w.id = $1`
	changedSQL = `SELECT n.generation, n.origin, o.member, n.path, false, n.key, n.hash, n.size, n.mtime, t.text, n.entities, n.declared,
		coalesce(n.writer, '')
		FROM anamnesis.notes n JOIN anamnesis.origins o ON o.workspace = $1 AND o.name = n.origin
		JOIN anamnesis.texts t ON t.workspace = $1 AND t.note = n.key
		WHERE n.workspace = $1 AND `
	changesSQL = `SELECT d.generation, d.origin, o.member, d.path, true, 0, '', 0, 0, '', '', 0, ''
		FROM anamnesis.dropped d JOIN anamnesis.origins o ON o.workspace = $1 AND o.name = d.origin
		WHERE d.workspace = $1 AND d.generation > $3 AND d.generation <= $4 AND d.origin <> $2
		UNION ALL ` + changedSQL + `n.generation > $3 AND n.generation <= $4 AND n.origin <> $2
		ORDER BY 1, 2, 5 DESC, 4`
	statedSQL = "SELECT " + edgeColumns + " FROM anamnesis.edges e WHERE e.workspace = $1 AND e.note = ANY($2::bigint[]) ORDER BY 1, 2, 3, 4"
)

// Changes returns what changed in files of other origins after a generation, in the order
// of generations; of one generation what was dropped comes first. A file that changed
// several times is shown once, as it is now. next is what to ask with the next time:
// nothing that is committed later is skipped. limit is about how many there are at most;
// those of one generation come together, however many they are.
func (d *DB) Changes(ctx context.Context, since int64, limit int) (changes []index.Change, next int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	options := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	err = pgx.BeginTxFunc(ctx, d.pool, options, func(tx pgx.Tx) error {
		t := d.enter(ctx, tx)
		changes, next = t.changes(d.origin, since, max(1, limit))
		return t.err
	})
	if err != nil {
		return nil, since, fmt.Errorf("read the changes of the shared index: %w", named(err))
	}
	return changes, next, nil
}

// named is schema.Plain but for the errors of this package.
func named(err error) error {
	for _, ours := range []error{ErrRewound, ErrNoWorkspace} {
		if errors.Is(err, ours) {
			return ours
		}
	}
	return schema.Plain(err)
}

func (t *transaction) changes(own string, since int64, limit int) (all []index.Change, next int64) {
	next = -1
	var cut *int64
	some := 0
	t.query(cutSQL, func(r pgx.Rows) error { return r.Scan(&next, &cut, &some) }, own, since, limit)
	t.flush()
	switch {
	case t.err != nil:
		return nil, since
	case next < 0:
		t.err = ErrNoWorkspace
		return nil, since
	case next < since:
		t.err = ErrRewound
		return nil, since
	case cut == nil:
		return nil, next
	case some >= limit:
		next = *cut
	}
	var keys []int64
	at := make(map[int64]int)
	t.query(changesSQL, func(r pgx.Rows) error {
		var c index.Change
		key, err := scanChange(r, &c)
		if !c.Dropped {
			keys, at[key] = append(keys, key), len(all)
		}
		all = append(all, c)
		return err
	}, own, since, *cut)
	t.flush()
	t.query(statedSQL, func(r pgx.Rows) error {
		var x index.Edge
		err := scanEdge(r, &x)
		if i, ok := at[x.Note]; ok {
			all[i].Edges = append(all[i].Edges, x)
		}
		return err
	}, keys)
	t.flush()
	return all, next
}

// scanChange reads a row of changesSQL, and the key of the note.
func scanChange(r pgx.Rows, c *index.Change) (key int64, err error) {
	var hash, entities []byte
	err = r.Scan(&c.Generation, &c.Origin, &c.Member, &c.Path, &c.Dropped, &key, &hash, &c.Size, &c.ModTime, &c.Text, &entities, &c.Declared,
		&c.Writer)
	unescapeIn(&c.Origin, &c.Member, &c.Path, &c.Writer)
	copy(c.Hash[:], hash)
	if !c.Dropped {
		c.Entities = flat.DecodeKeys(entities)
	}
	return key, err
}

// A Conflict is an id that several origins hold, and not with the same bytes.
type Conflict struct {
	ID     note.ID
	Copies []Copy // by origin
}

// A Copy is what one origin holds.
type Copy struct {
	Origin, Member, Path string
	Title                string
	Hash                 index.Digest
	Updated              time.Time
	size, mtime          int64
	folded, id           string
}

// copiesSQL asks for copies of notes, and for the ids.
const copiesSQL = `SELECT n.title, n.origin, o.member, n.path, n.hash, n.updated, n.size, n.mtime, n.folded, n.id FROM anamnesis.notes n
	JOIN anamnesis.origins o ON o.workspace = $1 AND o.name = n.origin WHERE n.workspace = $1 AND `

// scanCopy reads a row of copiesSQL.
func scanCopy(r pgx.Rows, c *Copy) error {
	var hash []byte
	var updated int64
	err := r.Scan(&c.Title, &c.Origin, &c.Member, &c.Path, &hash, &updated, &c.size, &c.mtime, &c.folded, &c.id)
	unescapeIn(&c.Title, &c.Origin, &c.Member, &c.Path, &c.id)
	c.Updated = flat.TimeOf(updated)
	copy(c.Hash[:], hash)
	return err
}

// Conflicts lists the notes that several origins hold with different bytes, by id. None
// of the copies is lost: which one is seen says index.Backend.
func (d *DB) Conflicts(ctx context.Context) (all []Conflict, err error) {
	held, err := collect(ctx, d.conn, scanCopy, copiesSQL+"n.shared ORDER BY n.folded, n.origin")
	for len(held) > 0 {
		first, n := held[0], 1
		for n < len(held) && held[n].folded == first.folded {
			n++
		}
		if slices.ContainsFunc(held[:n], func(c Copy) bool { return c.Hash != first.Hash }) {
			all = append(all, Conflict{note.ID(first.id), held[:n:n]})
		}
		held = held[n:]
	}
	return all, err
}
