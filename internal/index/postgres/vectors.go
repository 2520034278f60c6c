package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"anamnesis/internal/index"
	"anamnesis/internal/index/postgres/schema"

	"github.com/jackc/pgx/v5"
)

// Vectors are compared by the server, if it has pgvector (schema.UseVector). Without it
// questions are asked by their words alone.

// errNoVector is an index.ErrNoModel, too: an arm that needs vectors was not asked.
var errNoVector = fmt.Errorf("the server of the index does not compare vectors: pgvector is missing, or not in use (%w)", index.ErrNoModel)

// A half says how the server compares vectors.
type half struct {
	mu    sync.Mutex // guards what follows
	asked bool
	where string // the schema of pgvector, as an identifier; empty when vectors are not compared
	hnsw  bool   // there are indexes of that kind
}

// of asks the server once.
func (h *half) of(ctx context.Context, c *conn) (where string, hnsw bool, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.asked {
		return h.where, h.hnsw, nil
	}
	if err := c.ready(ctx); err != nil {
		return "", false, err
	}
	name := ""
	err = c.pool.QueryRow(ctx, schema.HalfSQL, schema.HNSWPrefix).Scan(&name, &h.hnsw)
	switch {
	case err == nil:
		h.where = pgx.Identifier{name}.Sanitize()
	case !errors.Is(err, pgx.ErrNoRows):
		return "", false, c.away(fmt.Errorf("read the shared index: %w", schema.Plain(err)))
	}
	h.asked = true
	return h.where, h.hnsw, nil
}

// off is called when the server refused: the extension was taken away, or its schema is
// closed to this login.
func (h *half) off() {
	h.mu.Lock()
	h.where = ""
	h.mu.Unlock()
}

const (
	// hnswMost is how many vectors an HNSW index is asked for; all are compared when the filter
	// leaves too few of them. An index may look at 1000 at once.
	hnswMost = 500
	// rounding is by how much two ways of adding up a cosine may differ.
	rounding = 1e-3
)

const (
	// An index of a workspace is found only for a plan that knows the workspace.
	enterHNSWSQL = enterSQL + ", set_config('plan_cache_mode', 'force_custom_plan', true)" +
		", set_config('hnsw.iterative_scan', 'relaxed_order', true), set_config('hnsw.ef_search', '1000', true), " +
		"set_config('enable_sort', 'off', true)"
	halfWhere = ` FROM anamnesis.vectors v WHERE v.workspace = $1 AND v.model = {model} AND length(v.vector) = {length}
		AND ({groups}::integer[] IS NULL OR v.project = ANY({groups}))`
	allSQL = "SELECT v.passage AS key, v.half OPERATOR({s}.<=>) {question}::text::{s}.halfvec AS far" + halfWhere
	// The cast is for an HNSW index, which is of one dimension.
	hnswSQL = "SELECT v.passage AS key, v.half::{s}.halfvec({dims}) OPERATOR({s}.<=>) {question}::text::{s}.halfvec({dims}) AS far" +
		halfWhere + " ORDER BY 2 LIMIT {most}"
	nearestSQL = "SELECT " + candidateColumns + " FROM ({near}) k" + candidateSQL + passageNote +
		"WHERE {cond} ORDER BY k.far, k.key LIMIT {limit}"
)

// Nearest returns passages by the cosine of their vectors with a question, as the server
// finds them.
func (d vectors) Nearest(ctx context.Context, model string, question []float32, f index.Filter, limit int,
	least float64,
) ([]index.Candidate, error) {
	where, hnsw, err := d.half.of(ctx, d.conn)
	text := halfText(question)
	switch {
	case err != nil:
		return nil, err
	case where == "":
		return nil, errNoVector
	case text == "" || limit <= 0:
		return nil, nil
	}
	var groups []int32 // nil means all
	for _, p := range f.Projects {
		groups = append(groups, int32(index.ProjectGroup(p)))
	}
	number := index.VectorModel(model)
	ask := func(enter, near string) ([]index.Candidate, error) {
		q := d.query()
		fill := strings.NewReplacer("{s}", where, "{dims}", strconv.Itoa(len(question)), "{most}", strconv.Itoa(hnswMost),
			"{limit}", strconv.Itoa(limit), "{model}", q.arg(int64(number)), "{length}", q.arg(len(question)+4), "{groups}", q.arg(groups),
			"{question}", q.arg(text), "{cond}", q.where(f))
		return d.readCandidatesAfter(ctx, enter, fill.Replace(strings.Replace(nearestSQL, "{near}", near, 1)), q.args)
	}
	var got []index.Candidate
	if hnsw && limit <= hnswMost {
		got, err = ask(enterHNSWSQL, hnswSQL)
	}
	if err == nil && len(got) < limit {
		got, err = ask(askSQL, allSQL)
	}
	if err != nil {
		if strings.HasPrefix(schema.Code(err), "42") { // undefined, or not allowed
			d.half.off()
			return nil, errNoVector
		}
		return nil, err
	}
	got = slices.DeleteFunc(got, func(c index.Candidate) bool { return c.Model != number || c.Vector.Cosine(question) < least-rounding })
	slices.SortStableFunc(got, func(a, b index.Candidate) int {
		return cmp.Compare(b.Vector.Cosine(question), a.Vector.Cosine(question))
	})
	return got, nil
}

// halfText writes a question for the server, with 1 as its greatest value: a half holds
// few small numbers. A question without a value has none.
func halfText(question []float32) string {
	var most float32
	for _, x := range question {
		most = max(most, float32(math.Abs(float64(x))))
	}
	if most == 0 || math.IsInf(float64(most), 0) || math.IsNaN(float64(most)) {
		return ""
	}
	b := make([]byte, 0, 12*len(question))
	b = append(b, '[')
	for i, x := range question {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendFloat(b, float64(x/most), 'g', 6, 32)
	}
	return string(append(b, ']'))
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
	some, err = collect(ctx, d.conn, func(r pgx.Rows, u *index.Unembedded) error {
		err := r.Scan(&u.Passage, &u.Path, &u.Start, &u.End)
		unescapeIn(&u.Path)
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
