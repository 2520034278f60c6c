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
	"anamnesis/internal/index/flat"
	"anamnesis/internal/index/postgres/schema"

	"github.com/jackc/pgx/v5"
)

// Where the server has pgvector, it finds the nearest vectors (schema.UseVector), and no
// client has to read all of them first. What it finds is compared here again, by the bytes
// that all backends compare: the answers do not depend on the extension.

// halves say how the server compares vectors.
type halves struct {
	mu        sync.Mutex // guards what follows
	asked     bool
	where     string // the schema of pgvector, as an identifier; empty when vectors are compared here
	hnsw      bool   // there are indexes of that kind
	questions int
	copied    uint64 // the model of which a copy is here, 0 for none

	fetching sync.WaitGroup
	stop     context.CancelFunc // ends what is being fetched
}

// A process that asks more than copyAfter questions fetches a copy while the server goes on
// answering, unless it has more than copyMost passages: 260 bytes each.
const (
	copyAfter = 4
	copyMost  = 250_000
)

// hnswMost is how many vectors an HNSW index is asked for at most; more are found by
// comparing all. An index may look at 1000 at once.
const hnswMost = 500

// of asks once.
func (h *halves) of(ctx context.Context, c *conn) (where string, hnsw bool, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.asked {
		name := ""
		err := c.pool.QueryRow(ctx, schema.HalfSQL, schema.HNSWPrefix).Scan(&name, &h.hnsw)
		switch {
		case err == nil:
			h.where = pgx.Identifier{name}.Sanitize()
		case !errors.Is(err, pgx.ErrNoRows):
			return "", false, c.away(fmt.Errorf("read the shared index: %w", schema.Plain(err)))
		}
		h.asked = true
	}
	return h.where, h.hnsw, nil
}

// off is called when the server refused: the extension was taken away, or its schema is
// closed to this login.
func (h *halves) off() {
	h.mu.Lock()
	h.where = ""
	h.mu.Unlock()
}

// often counts a question, and begins to fetch a copy when there have been enough.
func (d vectors) often(model uint64) {
	h := &d.halves
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.questions++; h.questions != copyAfter {
		return
	}
	ctx, stop := context.WithTimeout(context.Background(), longest)
	h.stop = stop
	h.fetching.Go(func() {
		defer stop()
		passages := 0
		err := d.row(ctx, "SELECT passages FROM anamnesis.workspaces WHERE id = $1", nil, &passages)
		if err == nil && passages <= copyMost {
			if _, err = d.copyOf(ctx, model); err == nil {
				h.mu.Lock()
				h.copied = model
				h.mu.Unlock()
			}
		}
	})
}

// here reports whether there is a copy of the vectors of a model.
func (h *halves) here(model uint64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.copied == model
}

// close waits until nothing is fetched any more.
func (h *halves) close() {
	h.mu.Lock()
	stop := h.stop
	h.mu.Unlock()
	if stop != nil {
		stop()
	}
	h.fetching.Wait()
}

// A finder returns the n nearest passages, and whether these are all that are near enough.
type finder func(ctx context.Context, n int) (near []flat.Near, all bool, err error)

// finder returns what finds vectors near to a question.
func (d vectors) finder(model uint64, question []float32, groups []uint32, least float64) finder {
	var held *copied
	here := func(ctx context.Context, n int) ([]flat.Near, bool, error) {
		if held == nil {
			c, err := d.copyOf(ctx, model)
			if err != nil {
				return nil, false, err
			}
			held = &c
		}
		near, all := held.near(question, groups, n, least)
		return near, all, nil
	}
	text := halfText(question)
	return func(ctx context.Context, n int) ([]flat.Near, bool, error) {
		where, hnsw, err := d.halves.of(ctx, d.conn)
		if err != nil {
			return nil, false, err
		}
		if where == "" || text == "" || d.halves.here(model) {
			return here(ctx, n)
		}
		d.often(model)
		near, all, err := d.there(ctx, where, hnsw && n <= hnswMost, model, question, text, groups, n, least)
		if err != nil && strings.HasPrefix(schema.Code(err), "42") { // undefined, or not allowed
			d.halves.off()
			return here(ctx, n)
		}
		return near, all, err
	}
}

// %s is the schema of pgvector. The cast is for an HNSW index, which is of one dimension.
const (
	halfSQL = `SELECT passage, vector FROM anamnesis.vectors
	WHERE workspace = $1 AND model = $2 AND length(vector) = $3 AND ($4::integer[] IS NULL OR project = ANY($4))
	ORDER BY half OPERATOR(%[1]s.<=>) $5::text::%[1]s.halfvec, passage LIMIT $6`
	hnswSQL = `SELECT passage, vector FROM anamnesis.vectors
	WHERE workspace = $1 AND model = $2 AND length(vector) = $3 AND ($4::integer[] IS NULL OR project = ANY($4))
	ORDER BY half::%[1]s.halfvec(%[2]d) OPERATOR(%[1]s.<=>) $5::text::%[1]s.halfvec(%[2]d) LIMIT $6`
	// An index of a workspace is found only for a plan that knows the workspace.
	enterHalfSQL = enterSQL + ", set_config('plan_cache_mode', 'force_custom_plan', true)"
	enterHNSWSQL = enterHalfSQL + ", set_config('hnsw.iterative_scan', 'relaxed_order', true), set_config('hnsw.ef_search', '1000', true), " +
		"set_config('enable_sort', 'off', true)"
)

// there asks the server.
func (d vectors) there(ctx context.Context, where string, hnsw bool, model uint64, question []float32, text string, groups []uint32,
	n int, least float64,
) (near []flat.Near, all bool, err error) {
	var projects []int32 // nil means all
	for _, g := range groups {
		projects = append(projects, int32(g))
	}
	enter, ask := enterHalfSQL, fmt.Sprintf(halfSQL, where)
	if hnsw {
		enter, ask = enterHNSWSQL, fmt.Sprintf(hnswSQL, where, len(question))
	}
	err = d.eachAfter(ctx, enter, func(r pgx.Rows) error {
		var key int64
		var v index.Vector
		err := r.Scan(&key, (*[]byte)(&v))
		near = append(near, flat.Near{Key: key, Cosine: float32(v.Cosine(question))})
		return err
	}, ask, int64(model), len(question)+4, projects, text, n)
	if err != nil {
		return nil, false, err
	}
	if hnsw && len(near) < n { // an index may end before it has seen all
		return d.there(ctx, where, false, model, question, text, groups, n, least)
	}
	all = len(near) < n
	slices.SortFunc(near, func(a, b flat.Near) int { return cmp.Or(cmp.Compare(b.Cosine, a.Cosine), cmp.Compare(a.Key, b.Key)) })
	if far := slices.IndexFunc(near, func(x flat.Near) bool { return float64(x.Cosine) < least-rounding }); far >= 0 {
		near, all = near[:far], true
	}
	return near, all, nil
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
