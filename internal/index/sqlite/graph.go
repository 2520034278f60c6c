package sqlite

import (
	"context"
	"fmt"

	"anamnesis/internal/index"
	"anamnesis/internal/index/flat"
)

// putGraph inserts what a note speaks of and the edges it tells.
func (w *writer) putGraph(key int64, e *index.Entry) {
	if len(e.Entities) > 0 {
		w.exec("INSERT OR IGNORE INTO mentions (entity, note, declared) SELECT value, ?, key < ? FROM json_each(?)", key, e.Declared,
			list(e.Entities))
	}
	for i := range e.Edges {
		x := &e.Edges[i]
		w.exec(`INSERT INTO edges (source, target, note, relation, source_name, target_name, strength, committed, valid, valid_end)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET strength = max(strength, excluded.strength)`,
			int64(x.From), int64(x.To), key, string(x.Relation), x.FromName, x.ToName, x.Strength,
			flat.Seconds(x.Committed), flat.Seconds(x.Valid), flat.Seconds(x.ValidEnd))
	}
}

// dropGraph removes them. entities is what the row of the note held.
func (w *writer) dropGraph(key int64, entities []byte) {
	for _, entity := range flat.DecodeKeys(entities) {
		w.exec("DELETE FROM mentions WHERE entity = ? AND note = ?", int64(entity), key)
	}
	w.exec("DELETE FROM edges WHERE note = ?", key)
}

// maxMentions bounds how many notes of an entity are counted: beyond it the
// entity is a hub whatever the number.
const maxMentions = 5000

// Mentions returns notes that speak of an entity, the newest first.
func (d graph) Mentions(ctx context.Context, entity index.EntityKey, declared bool, f index.Filter, limit int) (notes []int64,
	all int, err error,
) {
	err = d.queryRow(ctx, "SELECT count(*) FROM (SELECT 1 FROM mentions WHERE entity = ? LIMIT ?+0)", []any{int64(entity), maxMentions}, &all)
	if err != nil || all == 0 || limit <= 0 {
		return nil, all, wrap(err)
	}
	cond, args := d.where(f)
	if declared {
		cond += " AND m.declared"
	}
	rows, err := d.queryBounded(ctx, "SELECT n.key FROM mentions m CROSS JOIN notes n ON n.key = m.note WHERE m.entity = ? AND "+cond+
		" ORDER BY n.updated DESC, n.id LIMIT ?+0", append(append([]any{int64(entity)}, args...), limit)...)
	notes, err = column[int64](rows, err)
	return notes, all, err
}

// declaredSQL is answered from an index of what is declared: the text of many notes may
// name the same.
const declaredSQL = "EXISTS (SELECT 1 FROM mentions m WHERE m.entity = j.value AND m.declared = 1)"

// Declared returns those of the entities that some note's sidecar names.
func (d graph) Declared(ctx context.Context, entities []index.EntityKey) ([]index.EntityKey, error) {
	return d.among(ctx, entities, "SELECT j.value FROM json_each(?) j WHERE "+declaredSQL)
}

// Shared returns those of the entities that two to most notes speak of.
func (d graph) Shared(ctx context.Context, entities []index.EntityKey, most int) ([]index.EntityKey, error) {
	return d.among(ctx, entities, "SELECT j.value FROM json_each(?) j WHERE "+
		"(SELECT count(*) FROM (SELECT 1 FROM mentions WHERE entity = j.value LIMIT ?+0)) BETWEEN 2 AND ?", most+1, most)
}

// among returns those of the entities that a question chooses.
func (d graph) among(ctx context.Context, entities []index.EntityKey, question string, args ...any) ([]index.EntityKey, error) {
	if len(entities) == 0 {
		return nil, nil
	}
	rows, err := d.queryBounded(ctx, question, append([]any{list(entities)}, args...)...)
	return column[index.EntityKey](rows, err)
}

// Entities returns what notes speak of.
func (d graph) Entities(ctx context.Context, notes []int64) (map[int64][]index.EntityKey, error) {
	rows, err := d.queryBounded(ctx, "SELECT n.key, n.entities FROM json_each(?) j CROSS JOIN notes n ON n.key = j.value", list(notes))
	got := make(map[int64][]index.EntityKey, len(notes))
	err = each(rows, err, func() error {
		var key int64
		var data []byte
		err := rows.Scan(&key, &data)
		got[key] = flat.DecodeKeys(data)
		return err
	})
	return got, err
}

// Edges returns the edges at entities that visible notes tell.
func (d graph) Edges(ctx context.Context, entities []index.EntityKey, f index.Filter) ([]index.Edge, error) {
	if len(entities) == 0 {
		return nil, nil
	}
	cond, args := d.where(f)
	const columns = "e.source, e.target, e.note, e.relation, e.source_name, e.target_name, e.strength, e.committed, e.valid, e.valid_end"
	half := "SELECT " + columns + " FROM json_each(?) j CROSS JOIN edges e ON e.%s = j.value CROSS JOIN notes n ON n.key = " +
		"e.note WHERE " + cond
	both := append([]any{list(entities)}, args...)
	rows, err := d.queryBounded(ctx, fmt.Sprintf(half, "source")+" UNION "+fmt.Sprintf(half, "target")+" ORDER BY 1, 2, 3, 4",
		append(both, both...)...)
	return collect(rows, err, func(x *index.Edge) error { return flat.ScanEdge(x, rows.Scan) })
}
