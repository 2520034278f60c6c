package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/index/postgres/schema"
	"anamnesis/internal/note"

	"github.com/jackc/pgx/v5"
)

// A Change is what became of one file of another origin.
type Change struct {
	Generation int64 // in which it happened
	Origin     string
	Member     string // who writes that origin
	Writer     string // the login that wrote the note, as the server knows it; "" when it does not
	Path       string
	Dropped    bool // the file is gone; what follows is empty

	Hash          index.Digest
	Size, ModTime int64  // nanoseconds
	Text          []byte // of the file
	Entities      []index.EntityKey
	Declared      int // how many of them its sidecar names
	Edges         []index.Edge
}

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
	changesSQL = `SELECT d.generation, d.origin, o.member, d.path, true, 0, '', 0, 0, '', '', 0, ''
		FROM anamnesis.dropped d JOIN anamnesis.origins o ON o.workspace = $1 AND o.name = d.origin
		WHERE d.workspace = $1 AND d.generation > $3 AND d.generation <= $4 AND d.origin <> $2
		UNION ALL SELECT n.generation, n.origin, o.member, n.path, false, n.key, n.hash, n.size, n.mtime, t.text, n.entities, n.declared,
		coalesce(n.writer, '')
		FROM anamnesis.notes n JOIN anamnesis.origins o ON o.workspace = $1 AND o.name = n.origin
		JOIN anamnesis.texts t ON t.workspace = $1 AND t.note = n.key
		WHERE n.workspace = $1 AND n.generation > $3 AND n.generation <= $4 AND n.origin <> $2
		ORDER BY 1, 2, 5 DESC, 4`
	statedSQL = "SELECT " + edgeColumns + " FROM anamnesis.edges e WHERE e.workspace = $1 AND e.note = ANY($2::bigint[]) ORDER BY 1, 2, 3, 4"
)

// Changes returns what changed in files of other origins after a generation, in the order
// of generations; of one generation what was dropped comes first. A file that changed
// several times is shown once, as it is now. next is what to ask with the next time:
// nothing that is committed later is skipped. limit is about how many there are at most;
// those of one generation come together, however many they are.
func (d *DB) Changes(ctx context.Context, since int64, limit int) (changes []Change, next int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	options := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	err = pgx.BeginTxFunc(ctx, d.pool, options, func(tx pgx.Tx) error {
		r := &snapshot{ctx: ctx, tx: tx, workspace: d.opts.Workspace}
		changes, next = r.changes(d.origin, since, max(1, limit))
		return r.err
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

// A snapshot is a transaction in which all questions see the same.
type snapshot struct {
	ctx       context.Context
	tx        pgx.Tx
	workspace string
	entered   bool
	err       error
}

// each asks a question, whose parameters follow the workspace ($1).
func (s *snapshot) each(read func(pgx.Rows) error, text string, args ...any) {
	if s.err != nil {
		return
	}
	var b pgx.Batch
	if !s.entered {
		b.Queue(enterSQL, s.workspace)
		s.entered = true
	}
	b.Queue(text, append([]any{s.workspace}, args...)...).Query(func(rows pgx.Rows) error {
		defer rows.Close()
		for rows.Next() {
			if err := read(rows); err != nil {
				return err
			}
		}
		return rows.Err()
	})
	s.err = s.tx.SendBatch(s.ctx, &b).Close()
}

func (s *snapshot) changes(own string, since int64, limit int) (all []Change, next int64) {
	next = -1
	var cut *int64
	some := 0
	s.each(func(r pgx.Rows) error { return r.Scan(&next, &cut, &some) }, cutSQL, own, since, limit)
	switch {
	case s.err != nil:
		return nil, since
	case next < 0:
		s.err = ErrNoWorkspace
		return nil, since
	case next < since:
		s.err = ErrRewound
		return nil, since
	case cut == nil:
		return nil, next
	case some >= limit:
		next = *cut
	}
	var keys []int64
	at := make(map[int64]int)
	s.each(func(r pgx.Rows) error {
		c, key, err := scanChange(r)
		if !c.Dropped {
			keys, at[key] = append(keys, key), len(all)
		}
		all = append(all, c)
		return err
	}, changesSQL, own, since, *cut)
	s.each(func(r pgx.Rows) error {
		x, err := scanEdge(r)
		if i, ok := at[x.Note]; ok {
			all[i].Edges = append(all[i].Edges, x)
		}
		return err
	}, statedSQL, keys)
	return all, next
}

// scanChange reads a row of changesSQL, and the key of the note.
func scanChange(r pgx.Rows) (c Change, key int64, err error) {
	var hash, entities []byte
	err = r.Scan(&c.Generation, &c.Origin, &c.Member, &c.Path, &c.Dropped, &key, &hash, &c.Size, &c.ModTime, &c.Text, &entities, &c.Declared,
		&c.Writer)
	c.Origin, c.Member, c.Path, c.Writer = unescape(c.Origin), unescape(c.Member), unescape(c.Path), unescape(c.Writer)
	copy(c.Hash[:], hash)
	if !c.Dropped {
		c.Entities = decodeKeys(entities)
	}
	return c, key, err
}

// A Conflict is an id that several origins hold, and not with the same bytes.
type Conflict struct {
	ID     note.ID
	Copies []Copy // by origin
}

// A Copy is what one origin holds.
type Copy struct {
	Origin, Member, Path string
	Title                string // of Copies alone
	Hash                 index.Digest
	Updated              time.Time
	size, mtime          int64
}

const sharedSQL = `SELECT n.folded, n.id, n.origin, o.member, n.path, n.hash, n.updated FROM anamnesis.notes n
	JOIN anamnesis.origins o ON o.workspace = $1 AND o.name = n.origin
	WHERE n.workspace = $1 AND n.shared ORDER BY n.folded, n.origin`

// Conflicts lists the notes that several origins hold with different bytes, by id. None
// of the copies is lost: which one is seen says index.Backend.
func (d *DB) Conflicts(ctx context.Context) (all []Conflict, err error) {
	last := ""
	var held []Conflict
	err = d.each(ctx, func(r pgx.Rows) error {
		var folded, id string
		var c Copy
		var hash []byte
		var updated int64
		err := r.Scan(&folded, &id, &c.Origin, &c.Member, &c.Path, &hash, &updated)
		c.Origin, c.Member, c.Path, c.Updated = unescape(c.Origin), unescape(c.Member), unescape(c.Path), timeOf(updated)
		copy(c.Hash[:], hash)
		if len(held) == 0 || folded != last {
			held = append(held, Conflict{ID: note.ID(unescape(id))})
		}
		last = folded
		it := &held[len(held)-1]
		it.Copies = append(it.Copies, c)
		return err
	}, sharedSQL)
	for _, c := range held {
		for _, x := range c.Copies {
			if x.Hash != c.Copies[0].Hash {
				all = append(all, c)
				break
			}
		}
	}
	return all, err
}
