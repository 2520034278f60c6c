package postgres

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"anamnesis/internal/index"
	"anamnesis/internal/index/flat"

	"github.com/jackc/pgx/v5"
)

// Without pgvector the vectors of a model are scanned here, in a copy that is in memory. A question reads
// what came since the copy was made; the copy is rebuilt when that is much. A passage
// that went is still in the copy, and is not found when its row is looked for.

// rounding is by how much two ways of adding up a cosine may differ.
const rounding = 1e-3

// A copied set holds the vectors of one model up to a generation.
type copied struct {
	model      uint64
	generation int64
	vectors    *flat.Vectors // nil when there are none, or flat cannot hold them
	newer      map[int64]vector
}

// A vector is what came after a copy was made.
type vector struct {
	group  uint32
	values index.Vector
}

// A shelf keeps the copy for the next question.
type shelf struct {
	mu sync.Mutex
	copied
}

// copyLeast and copyShare say when a copy is rebuilt: when so many vectors came
// since, and they are such a share of it.
const (
	copyLeast = 500
	copyShare = 16
)

const newerSQL = `SELECT passage, project, vector, generation FROM anamnesis.vectors
	WHERE workspace = $1 AND model = $2 AND generation > $3 ORDER BY generation, passage`

// copyOf returns the copy for a model, brought up to date.
func (d vectors) copyOf(ctx context.Context, model uint64) (copied, error) {
	d.shelf.mu.Lock()
	defer d.shelf.mu.Unlock()
	now := d.shelf.copied
	if now.model != model {
		now = copied{model: model}
	}
	fresh := make(map[int64]vector)
	err := d.each(ctx, func(r pgx.Rows) error {
		var key, generation int64
		var group int32
		var v []byte
		err := r.Scan(&key, &group, &v, &generation)
		fresh[key] = vector{uint32(group), v}
		now.generation = max(now.generation, generation)
		return err
	}, newerSQL, int64(model), now.generation)
	if err != nil {
		return now, err
	}
	if len(fresh) > 0 {
		for key, v := range now.newer { // who reads the one before must not see it change
			if _, ok := fresh[key]; !ok {
				fresh[key] = v
			}
		}
		now.newer = fresh
		now.fold()
	}
	d.shelf.copied = now
	return now, nil
}

// fold rebuilds the copy when much came after it.
func (c *copied) fold() {
	held := 0
	if c.vectors != nil {
		held = c.vectors.Rows
	}
	if len(c.newer) < copyLeast || len(c.newer) < held/copyShare {
		return
	}
	dims := make(map[int]int)
	for _, v := range c.newer {
		dims[v.values.Dim()]++
	}
	h := flat.Header{Model: c.model}
	if c.vectors != nil {
		h.Dim = c.vectors.Dim
	}
	for dim, n := range dims {
		if c.vectors == nil && n > dims[h.Dim] {
			h.Dim = dim
		}
	}
	rest := make(map[int64]vector)
	rows := make([]flat.Row, 0, held+len(c.newer))
	if c.vectors != nil {
		for r := range c.vectors.Each() {
			if _, again := c.newer[r.Key]; !again {
				rows = append(rows, r)
			}
		}
	}
	for key, v := range c.newer {
		if v.values.Dim() != h.Dim || h.Dim == 0 {
			rest[key] = v
			continue
		}
		rows = append(rows, flat.Row{Key: key, Group: v.group, Scale: v.values.Scale(), Values: v.values.Values()})
	}
	slices.SortFunc(rows, func(a, b flat.Row) int { return cmp.Compare(a.Key, b.Key) })
	if made, err := flat.New(h, rows); err == nil { // else all of them are compared one by one
		c.vectors, c.newer = made, rest
	}
}

// near returns the passages whose vectors lie nearest, and whether these are all.
func (c *copied) near(question []float32, groups []uint32, n int, least float64) (near []flat.Near, all bool) {
	for key, v := range c.newer {
		if len(groups) == 0 || slices.Contains(groups, v.group) {
			near = append(near, flat.Near{Key: key, Cosine: float32(v.values.Cosine(question))})
		}
	}
	all = true
	if c.vectors != nil {
		old, _ := c.vectors.Nearest(question, groups, n, float32(least-rounding)) // they stand in memory, and can be read
		all = n >= c.vectors.Rows
		for _, x := range old {
			if _, again := c.newer[x.Key]; !again {
				near = append(near, x)
			}
		}
	}
	slices.SortFunc(near, func(a, b flat.Near) int { return cmp.Or(cmp.Compare(b.Cosine, a.Cosine), cmp.Compare(a.Key, b.Key)) })
	all = all && len(near) <= n
	near = near[:min(len(near), n)]
	if far := slices.IndexFunc(near, func(x flat.Near) bool { return float64(x.Cosine) < least-rounding }); far >= 0 {
		near, all = near[:far], true
	}
	return near, all
}

// Nearest returns passages by the cosine of their vectors with a question.
func (d vectors) Nearest(ctx context.Context, model string, question []float32, f index.Filter, limit int,
	least float64,
) ([]index.Candidate, error) {
	number := index.VectorModel(model)
	var groups []uint32
	for _, p := range f.Projects {
		groups = append(groups, index.ProjectGroup(p))
	}
	find := d.finder(number, question, groups, least)
	for n := 2 * limit; ; n *= 8 {
		near, all, err := find(ctx, n)
		if err != nil {
			return nil, err
		}
		keys := make([]int64, len(near))
		for i, x := range near {
			keys[i] = x.Key
		}
		got, err := d.candidates(ctx, keys, f, len(keys))
		if err != nil {
			return nil, err
		}
		got = slices.DeleteFunc(got, func(c index.Candidate) bool { return c.Model != number })
		if len(got) >= limit || all || len(near) < n {
			return got[:min(len(got), limit)], nil
		}
	}
}

// Embedded reports whether any passage has a vector of a model.
func (d vectors) Embedded(ctx context.Context, model string) (some bool, err error) {
	err = d.row(ctx, "SELECT EXISTS (SELECT 1 FROM anamnesis.vectors WHERE workspace = $1 AND model = $2)",
		[]any{int64(index.VectorModel(model))}, &some)
	return some, err
}

// Dimensions counts the vectors of a model by their dimensions: a byte each, and four.
func (d vectors) Dimensions(ctx context.Context, model string) (map[int]int, error) {
	all := make(map[int]int)
	err := d.each(ctx, func(r pgx.Rows) error {
		var dims, n int
		err := r.Scan(&dims, &n)
		all[dims] = n
		return err
	}, "SELECT greatest(0, length(vector) - 4), count(*) FROM anamnesis.vectors WHERE workspace = $1 AND model = $2 GROUP BY 1",
		int64(index.VectorModel(model)))
	return all, err
}

const (
	unembeddedSQL = ` FROM anamnesis.notes n JOIN anamnesis.passages p ON p.workspace = $1 AND p.note = n.key
		LEFT JOIN anamnesis.vectors v ON v.workspace = $1 AND v.passage = p.key AND v.model = $3
		WHERE n.workspace = $1 AND n.origin = $2`
	missingSQL = "SELECT count(*), count(*) FILTER (WHERE v.passage IS NULL)" + unembeddedSQL
	someSQL    = "SELECT p.key, n.path, p.first, p.past" + unembeddedSQL + " AND v.passage IS NULL ORDER BY n.updated DESC, p.key LIMIT $4"
)

// Unembedded returns passages of our origin without a vector of a model.
func (d vectors) Unembedded(ctx context.Context, model string, limit int) (some []index.Unembedded, missing, all int, err error) {
	number := int64(index.VectorModel(model))
	if err = d.row(ctx, missingSQL, []any{d.origin, number}, &all, &missing); err != nil || missing == 0 || limit <= 0 {
		return nil, missing, all, err
	}
	err = d.each(ctx, func(r pgx.Rows) error {
		var u index.Unembedded
		err := r.Scan(&u.Passage, &u.Path, &u.Start, &u.End)
		u.Path = unescape(u.Path)
		some = append(some, u)
		return err
	}, someSQL, d.origin, number, limit)
	return some, missing, all, err
}

// Embed gives passages of our origin their vectors.
func (d vectors) Embed(ctx context.Context, model string, vectors map[int64]index.Vector) error {
	number := int64(index.VectorModel(model))
	keys := make([]int64, 0, len(vectors))
	for key := range vectors {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return d.change(ctx, d.opts.Busy, func(w *writer) {
		w.generation++
		var rows table
		w.query(`SELECT p.key, n.project FROM anamnesis.passages p JOIN anamnesis.notes n ON n.workspace = $1 AND n.key = p.note
			WHERE p.workspace = $1 AND p.key = ANY($3::bigint[]) AND n.origin = $2`, func(r pgx.Rows) error {
			var key int64
			var project string
			err := r.Scan(&key, &project)
			rows.row(key, number, int(int32(index.ProjectGroup(unescape(project)))), []byte(vectors[key]))
			return err
		}, d.origin, keys)
		w.flush()
		w.insert(vectorsSQL+" ON CONFLICT (workspace, passage) DO UPDATE SET generation = excluded.generation, model = excluded.model, "+
			"vector = excluded.vector", &rows, w.generation)
		w.exec("UPDATE anamnesis.workspaces SET generation = $2 WHERE id = $1", w.generation)
	})
}
