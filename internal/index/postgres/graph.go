package postgres

import (
	"context"

	"anamnesis/internal/index"
	"anamnesis/internal/index/flat"

	"github.com/jackc/pgx/v5"
)

// maxMentions bounds how many notes of an entity are counted: beyond it the
// entity is a hub whatever the number.
const maxMentions = 5000

const edgeColumns = "e.source, e.target, e.note, e.relation, e.source_name, e.target_name, e.strength, e.committed, e.valid, e.valid_end"

func scanEdge(r pgx.Rows, x *index.Edge) error {
	err := flat.ScanEdge(x, r.Scan)
	unescapeIn((*string)(&x.Relation), &x.FromName, &x.ToName)
	return err
}

// Mentions returns notes that speak of an entity, the newest first.
func (d graph) Mentions(ctx context.Context, entity index.EntityKey, declared bool, f index.Filter, limit int) (notes []int64,
	all int, err error,
) {
	q := d.query()
	about, most := q.arg(int64(entity)), q.arg(maxMentions)
	count := "(SELECT count(*) FROM (SELECT 1 FROM anamnesis.mentions WHERE workspace = $1 AND entity = " + about + " LIMIT " + most + ") c)"
	cond := q.where(f)
	if declared {
		cond += " AND m.declared"
	}
	bound := q.arg(max(0, limit))
	err = d.each(ctx, func(r pgx.Rows) error {
		var key *int64
		err := r.Scan(&all, &key)
		if key != nil {
			notes = append(notes, *key)
		}
		return err
	}, "SELECT a.n, k.key FROM (SELECT "+count+" AS n) a LEFT JOIN LATERAL (SELECT n.key, n.updated, n.folded FROM anamnesis.mentions m "+
		"JOIN anamnesis.notes n ON n.workspace = $1 AND n.key = m.note WHERE m.workspace = $1 AND m.entity = "+about+" AND "+cond+
		" ORDER BY n.updated DESC, n.folded LIMIT "+bound+") k ON true ORDER BY k.updated DESC, k.folded", q.args...)
	return notes, all, err
}

// Declared returns those of the entities that some note's sidecar names.
func (d graph) Declared(ctx context.Context, entities []index.EntityKey) ([]index.EntityKey, error) {
	return d.among(ctx, entities, `SELECT j.entity FROM unnest($2::bigint[]) WITH ORDINALITY AS j (entity, place)
		WHERE EXISTS (SELECT 1 FROM anamnesis.mentions m WHERE m.workspace = $1 AND m.entity = j.entity AND m.declared) ORDER BY j.place`)
}

// Shared returns those of the entities that two to most notes speak of.
func (d graph) Shared(ctx context.Context, entities []index.EntityKey, most int) ([]index.EntityKey, error) {
	return d.among(ctx, entities, `SELECT j.entity FROM unnest($2::bigint[]) WITH ORDINALITY AS j (entity, place)
		WHERE (SELECT count(*) FROM (SELECT 1 FROM anamnesis.mentions m WHERE m.workspace = $1 AND m.entity = j.entity LIMIT $3 + 1) c)
		BETWEEN 2 AND $3 ORDER BY j.place`, int64(most))
}

// among returns those of the entities that a question chooses.
func (d graph) among(ctx context.Context, entities []index.EntityKey, question string, args ...any) ([]index.EntityKey, error) {
	if len(entities) == 0 {
		return nil, nil
	}
	return collect(ctx, d.conn, func(r pgx.Rows, key *index.EntityKey) error { return r.Scan((*int64)(key)) }, question,
		append([]any{numbers(entities)}, args...)...)
}

// Entities returns what notes speak of.
func (d graph) Entities(ctx context.Context, notes []int64) (map[int64][]index.EntityKey, error) {
	got := make(map[int64][]index.EntityKey, len(notes))
	err := d.each(ctx, func(r pgx.Rows) error {
		var key int64
		var data []byte
		err := r.Scan(&key, &data)
		got[key] = flat.DecodeKeys(data)
		return err
	}, "SELECT key, entities FROM anamnesis.notes WHERE workspace = $1 AND key = ANY($2::bigint[])", notes)
	return got, err
}

// Edges returns the edges at entities that visible notes tell.
func (d graph) Edges(ctx context.Context, entities []index.EntityKey, f index.Filter) ([]index.Edge, error) {
	if len(entities) == 0 {
		return nil, nil
	}
	q := d.query()
	ends := q.arg(numbers(entities)) + "::bigint[]"
	cond := q.where(f)
	half := func(end string) string {
		return "SELECT " + edgeColumns + " FROM anamnesis.edges e JOIN anamnesis.notes n ON n.workspace = $1 AND n.key = e.note " +
			"WHERE e.workspace = $1 AND e." + end + " = ANY(" + ends + ") AND " + cond
	}
	return collect(ctx, d.conn, scanEdge, half("source")+" UNION "+half("target")+" ORDER BY 1, 2, 3, 4", q.args...)
}

func numbers[T ~int64](all []T) []int64 {
	out := make([]int64, len(all))
	for i, x := range all {
		out[i] = int64(x)
	}
	return out
}
