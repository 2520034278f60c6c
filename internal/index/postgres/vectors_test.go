package postgres_test

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"anamnesis/internal/index"
	"anamnesis/internal/index/postgres"
	"anamnesis/internal/index/postgres/postgrestest"
	"anamnesis/internal/index/postgres/schema"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// unit returns a vector around one of twenty middles, as texts about twenty subjects have.
func unit(r *rand.Rand) []float32 {
	v := make([]float32, 64)
	middle := rand.New(rand.NewPCG(7, uint64(r.IntN(20))))
	sum := 0.0
	for i := range v {
		x := middle.NormFloat64() + r.NormFloat64()
		v[i], sum = float32(x), sum+x*x
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(sum))
	}
	return v
}

// passages returns the keys of what Nearest found, in its order.
func passages(t *testing.T, db *postgres.DB, q []float32, f index.Filter, limit int, least float64) (keys []int64) {
	t.Helper()
	found, err := db.Nearest(t.Context(), "m", q, f, limit, least)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range found {
		keys = append(keys, c.Passage)
	}
	return keys
}

// TestPgvector compares what the server finds with a comparison of all vectors in Go, with an HNSW
// index and without one.
func TestPgvector(t *testing.T) {
	dsn := postgrestest.PGlite(t)
	prepare(t, dsn)
	db := open(t, postgres.Options{DSN: dsn, Origin: "here"})
	r := rand.New(rand.NewPCG(1, 2))
	const count = 1500
	var b index.Batch
	for i := range count {
		n := &note.Note{ID: note.ID(fmt.Sprintf("n%04d", i)), Title: "x"}
		n.Type, n.Scope, n.Project, n.UpdatedAt = note.Semantic, note.Portable, fmt.Sprintf("p%d", i%3), note.At(noon)
		data := n.Format()
		b.Put = append(b.Put, index.NewEntry(n, store.Ref{Path: path(n.ID), Scope: n.Scope, Size: int64(len(data)), ModTime: noon}, data, nil))
	}
	apply(t, db, b)
	if _, err := db.Nearest(t.Context(), "m", unit(r), index.Filter{}, 5, -1); !errors.Is(err, index.ErrNoModel) {
		t.Errorf("without pgvector: %v, want ErrNoModel", err)
	}
	some, _, _, err := db.Unembedded(t.Context(), "m", count)
	if err != nil || len(some) != count {
		t.Fatal(len(some), err)
	}
	given := make(map[int64]index.Vector)
	for _, u := range some {
		given[u.Passage] = index.Quantize(unit(r))
	}
	given[some[0].Passage] = index.Quantize([]float32{1, 2, 3}) // of another length
	given[some[1].Passage] = index.Vector{}
	if err := db.Embed(t.Context(), "m", given); err != nil {
		t.Fatal(err)
	}
	projects := make(map[int64]string)
	for _, u := range some {
		at := slices.IndexFunc(b.Put, func(e index.Entry) bool { return e.Ref.Path == u.Path })
		projects[u.Passage] = b.Put[at].Note.Project
	}
	type question struct {
		vector []float32
		filter index.Filter
		least  float64
	}
	questions := make([]question, 30)
	want := make([][]int64, len(questions))
	for i := range questions {
		q := question{unit(r), index.Filter{}, []float64{-1, 0.3, 0.55}[i%3]}
		if i%2 == 1 {
			q.filter.Projects = []string{"p1", "p7"}
		}
		questions[i] = q
		for key, v := range given {
			near := v.Dim() == len(q.vector) && v.Cosine(q.vector) >= q.least
			if near && (i%2 == 0 || projects[key] == "p1") {
				want[i] = append(want[i], key)
			}
		}
		slices.SortFunc(want[i], func(a, b int64) int { return cmp.Compare(given[b].Cosine(q.vector), given[a].Cosine(q.vector)) })
		want[i] = want[i][:min(20, len(want[i]))]
	}
	if len(want[0]) != 20 || len(want[1]) == 0 {
		t.Fatalf("the questions say little: %d and %d answers", len(want[0]), len(want[1]))
	}

	useVector(t, dsn, schema.VectorOptions{DryRun: true}, "compared by the server")
	useVector(t, dsn, schema.VectorOptions{}, "compared by the server")
	useVector(t, dsn, schema.VectorOptions{}, "")
	after := open(t, postgres.Options{DSN: dsn, Origin: "here"})
	same := func(db *postgres.DB, what string, percent int) {
		t.Helper()
		found, all := 0, 0
		for i, q := range questions {
			got := passages(t, db, q.vector, q.filter, 20, q.least)
			for _, key := range want[i] {
				all++
				if slices.Contains(got, key) {
					found++
				}
			}
		}
		if found*100 < percent*all {
			t.Errorf("%s finds %d of the %d nearest", what, found, all)
		}
	}
	same(after, "the server", 99) // whose question is rounded
	if got := passages(t, after, make([]float32, 64), index.Filter{}, 5, -1); len(got) != 0 {
		t.Errorf("a question without a direction finds %v", got)
	}

	useVector(t, dsn, schema.VectorOptions{Workspace: team, HNSWFrom: count}, "") // two fewer than that are comparable
	useVector(t, dsn, schema.VectorOptions{Workspace: team, HNSWFrom: count - 2}, "HNSW index for 1498 vectors")
	useVector(t, dsn, schema.VectorOptions{Workspace: team, HNSWFrom: count - 2}, "")
	indexed := open(t, postgres.Options{DSN: dsn, Origin: "here"})
	same(indexed, "the HNSW index", 97)
	if plan := indexed.PlanNearest(t, "m", questions[0].vector); !strings.Contains(plan, schema.HNSWPrefix) {
		t.Errorf("the HNSW index is not used:\n%s", plan)
	}

	// Somebody takes the extension away, under an open index.
	conn, err := schema.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), "DROP EXTENSION vector CASCADE"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := indexed.Nearest(t.Context(), "m", questions[0].vector, index.Filter{}, 20, -1); !errors.Is(err, index.ErrNoModel) {
			t.Errorf("without the extension: %v, want ErrNoModel", err)
		}
	}
	useVector(t, dsn, schema.VectorOptions{DryRun: true}, "compared by the server")
	_ = conn.Close(t.Context())
}
