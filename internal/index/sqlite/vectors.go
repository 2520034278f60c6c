package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"anamnesis/internal/index"
	"anamnesis/internal/index/flat"
)

// Vectors stand in the table vectors, which is the truth and changes with the
// passages, and as a copy in a flat file, which is scanned. Tidy makes the copy
// when it lacks much; what came later is read from the table. A passage that
// went is still in the copy, and is not found when its row is looked for.

// epoch names this making of the database: a copy of another one, whose keys
// mean something else, is not used.
func (d *conn) epoch(ctx context.Context) (epoch int64, err error) {
	err = d.queryRow(ctx, "SELECT value FROM meta WHERE key = 'epoch'", nil, &epoch)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return epoch, err
}

func (d *conn) flatPath(model uint64) string {
	return filepath.Join(filepath.Dir(d.path), fmt.Sprintf("vectors-%016x.bin", model))
}

// flat returns the copy of the vectors of a model, nil when there is none that
// can be used. It stays open for the next question.
func (d *conn) flat(ctx context.Context, model uint64) *flat.Vectors {
	p, err := d.posted(ctx)
	if err != nil {
		return nil
	}
	return d.flatOf(model, uint64(p.epoch))
}

// flatOf is flat where the epoch is known.
func (d *conn) flatOf(model, epoch uint64) *flat.Vectors {
	d.mu.Lock()
	defer d.mu.Unlock()
	fi, err := os.Stat(d.flatPath(model))
	if err != nil {
		return nil
	}
	if d.copyOf != nil && os.SameFile(fi, d.copyFile) && fi.Size() == d.copyFile.Size() && d.copyOf.Model == model && d.copyOf.Epoch == epoch {
		return d.copyOf
	}
	v, err := flat.Open(d.flatPath(model))
	if err != nil || v.Model != model || v.Epoch != epoch {
		if err == nil {
			_ = v.Close()
		}
		return nil
	}
	if d.copyOf != nil { // a question may still read it: it is unmapped when the database is closed
		d.oldCopies = append(d.oldCopies, d.copyOf)
	}
	d.copyOf, d.copyFile = v, fi
	return v
}

// dropFlat removes a copy that turned out to be damaged.
func (d *conn) dropFlat(v *flat.Vectors) {
	d.mu.Lock()
	if d.copyOf == v {
		d.oldCopies = append(d.oldCopies, v)
		d.copyOf, d.copyFile = nil, nil
	}
	d.mu.Unlock()
	if !d.readOnly.Load() {
		_ = os.Remove(d.flatPath(v.Model))
	}
}

// rounding is by how much two ways of adding up a cosine may differ.
const rounding = 1e-3

// Nearest returns passages by the cosine of their vectors with a question.
func (d vectors) Nearest(ctx context.Context, model string, question []float32, f index.Filter, limit int,
	least float64,
) ([]index.Candidate, error) {
	number := index.VectorModel(model)
	var groups []uint32
	for _, p := range f.Projects {
		groups = append(groups, index.ProjectGroup(p))
	}
	copied := d.flat(ctx, number)
	found, err := d.nearest(ctx, copied, number, question, groups, f, limit, least)
	if errors.Is(err, flat.ErrUnusable) { // somebody cut it while it was read
		d.dropFlat(copied)
		found, err = d.nearest(ctx, nil, number, question, groups, f, limit, least)
	}
	return found, err
}

// nearest is Nearest with a copy, or without one.
func (d vectors) nearest(ctx context.Context, copied *flat.Vectors, number uint64, question []float32, groups []uint32,
	f index.Filter, limit int, least float64,
) ([]index.Candidate, error) {
	last := int64(0)
	if copied != nil {
		last = copied.Last
	}
	newer, err := d.scanTable(ctx, number, question, groups, last)
	if err != nil {
		return nil, wrap(err)
	}
	cond, args := d.where(f)
	for n := 2 * limit; ; n *= 8 {
		near := newer
		if copied != nil {
			old, err := copied.Nearest(question, groups, n, float32(least-rounding))
			if err != nil {
				return nil, err
			}
			near = append(slices.Clone(newer), old...)
		}
		slices.SortFunc(near, func(a, b flat.Near) int { return cmp.Or(cmp.Compare(b.Cosine, a.Cosine), cmp.Compare(a.Key, b.Key)) })
		all := len(near) <= n && (copied == nil || n >= copied.Rows)
		near = near[:min(len(near), n)]
		if far := slices.IndexFunc(near, func(x flat.Near) bool { return float64(x.Cosine) < least-rounding }); far >= 0 {
			near, all = near[:far], true
		}
		keys := make([]int64, len(near))
		for i, x := range near {
			keys[i] = x.Key
		}
		got, err := d.fetchCandidates(ctx, keys, cond, args)
		if err != nil {
			return nil, wrap(err)
		}
		got = slices.DeleteFunc(got, func(c index.Candidate) bool { return c.Model != number })
		if len(got) >= limit || all || len(near) < n {
			return got[:min(len(got), limit)], nil
		}
	}
}

// scanTable compares the vectors of passages that are newer than the copy.
func (d vectors) scanTable(ctx context.Context, model uint64, question []float32, groups []uint32, after int64) ([]flat.Near, error) {
	if p, err := d.posted(ctx); err == nil && after >= p.Last {
		return p.near(model, question, groups, after), nil
	}
	rows, err := d.query(ctx, "SELECT passage, project, vector FROM vectors WHERE passage > ? AND model = ?", after, int64(model))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var near []flat.Near
	var vector sql.RawBytes
	for rows.Next() {
		var key, project int64
		if err := rows.Scan(&key, &project, &vector); err != nil {
			return nil, err
		}
		if len(groups) > 0 && !slices.Contains(groups, uint32(project)) {
			continue
		}
		near = append(near, flat.Near{Key: key, Cosine: float32(index.Vector(vector).Cosine(question))})
	}
	return near, rows.err()
}

// Embedded reports whether any passage has a vector of a model. One is found at
// once; that there is none is found out only after a change of the model.
func (d vectors) Embedded(ctx context.Context, model string) (some bool, err error) {
	err = d.queryRow(ctx, "SELECT EXISTS (SELECT 1 FROM vectors WHERE model = ?)", []any{int64(index.VectorModel(model))}, &some)
	return some, wrap(err)
}

// dimensionsSQL reads one vector of each length; the others are counted in their index.
const dimensionsSQL = `SELECT l.n, (SELECT v.vector FROM vectors v WHERE v.model = ?1 AND length(v.vector) = l.length LIMIT 1)
	FROM (SELECT length(vector) AS length, count(*) AS n FROM vectors WHERE model = ?1 GROUP BY 1) l`

// Dimensions counts the vectors of a model by their dimensions.
func (d vectors) Dimensions(ctx context.Context, model string) (map[int]int, error) {
	rows, err := d.query(ctx, dimensionsSQL, int64(index.VectorModel(model)))
	all := make(map[int]int)
	err = each(rows, err, func() error {
		var n int
		var one []byte
		err := rows.Scan(&n, &one)
		all[index.Vector(one).Dim()] += n
		return err
	})
	return all, err
}

// unembeddedSQL counts the passages of an origin, and their vectors of a model.
// In a database of one origin no passage has to be looked up.
const unembeddedSQL = `WITH o AS MATERIALIZED (SELECT EXISTS (SELECT 1 FROM origins WHERE name <> ?2) AS others)
	SELECT (SELECT count(*) FROM passages p WHERE NOT o.others OR EXISTS (SELECT 1 FROM notes n WHERE n.key = p.note AND n.origin = ?2)),
	(SELECT count(*) FROM vectors v WHERE v.model = ?1 AND (NOT o.others OR
		EXISTS (SELECT 1 FROM passages p JOIN notes n ON n.key = p.note WHERE p.key = v.passage AND n.origin = ?2))) FROM o`

// Unembedded returns passages of our origin without a vector of a model.
func (d vectors) Unembedded(ctx context.Context, model string, limit int) (some []index.Unembedded, missing, all int, err error) {
	number := int64(index.VectorModel(model))
	err = d.queryRow(ctx, unembeddedSQL, []any{number, d.opts.Origin}, &all, &missing)
	if err != nil {
		return nil, 0, 0, wrap(err)
	}
	if missing = all - missing; missing == 0 || limit <= 0 {
		return nil, missing, all, nil
	}
	rows, err := d.query(ctx, `SELECT p.key, n.path, p.start, p."end" FROM passages p JOIN notes n ON n.key = p.note
		LEFT JOIN vectors v ON v.passage = p.key AND v.model = ? WHERE v.passage IS NULL AND n.origin = ? ORDER BY n.updated DESC, p.key LIMIT ?`,
		number, d.opts.Origin, limit)
	some, err = collect(rows, err, func(u *index.Unembedded) error { return rows.Scan(&u.Passage, &u.Path, &u.Start, &u.End) })
	return some, missing, all, err
}

// Embed gives passages their vectors.
func (d vectors) Embed(ctx context.Context, model string, vectors map[int64]index.Vector) error {
	number := int64(index.VectorModel(model))
	err := d.change(ctx, func(w *writer) {
		for passage, v := range vectors {
			project := int64(-1)
			w.query("SELECT n.project FROM passages p JOIN notes n ON n.key = p.note WHERE p.key = ?", func(r *sql.Rows) error {
				var key string
				err := r.Scan(&key)
				project = int64(index.ProjectGroup(key))
				return err
			}, passage)
			if project >= 0 {
				w.exec("INSERT INTO vectors (passage, model, project, vector) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET model = "+
					"excluded.model, vector = excluded.vector",
					passage, number, project, []byte(v))
			}
		}
		if len(vectors) > 0 { // what was found without them is out of date
			w.exec("INSERT INTO meta (key, value) VALUES ('generation', 1) ON CONFLICT (key) DO UPDATE SET value = value + 1")
		}
	})
	if err != nil {
		return err
	}
	d.dropOtherCopies(number)
	if copied := d.flat(ctx, index.VectorModel(model)); copied != nil {
		for passage := range vectors {
			if passage <= copied.Last { // the table is read behind the copy only
				_ = os.Remove(d.flatPath(copied.Model))
				break
			}
		}
	}
	return nil
}

// dropOtherCopies removes the copies of the vectors of other models: passages that they
// hold have a vector of another model now.
func (d *conn) dropOtherCopies(model int64) {
	old, _ := filepath.Glob(filepath.Join(filepath.Dir(d.path), "vectors-*.bin"))
	for _, name := range old {
		if name != d.flatPath(uint64(model)) {
			_ = os.Remove(name)
		}
	}
}
