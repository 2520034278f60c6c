package postgres_test

import (
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

// TestPgvector compares what the server finds with what the client finds in its copy, and
// both with what an HNSW index finds.
func TestPgvector(t *testing.T) {
	dsn := postgrestest.PGlite(t)
	prepare(t, dsn)
	before := open(t, postgres.Options{DSN: dsn, Origin: "here"})
	r := rand.New(rand.NewPCG(1, 2))
	const count = 1500
	var b index.Batch
	for i := range count {
		n := &note.Note{ID: note.ID(fmt.Sprintf("n%04d", i)), Title: "x"}
		n.Type, n.Scope, n.Project, n.UpdatedAt = note.Semantic, note.Portable, fmt.Sprintf("p%d", i%3), note.At(noon)
		data := n.Format()
		b.Put = append(b.Put, index.NewEntry(n, store.Ref{Path: path(n.ID), Scope: n.Scope, Size: int64(len(data)), ModTime: noon}, data, nil))
	}
	apply(t, before, b)
	some, _, _, err := before.Unembedded(t.Context(), "m", count)
	if err != nil || len(some) != count {
		t.Fatal(len(some), err)
	}
	given := make(map[int64]index.Vector)
	for _, u := range some {
		given[u.Passage] = index.Quantize(unit(r))
	}
	given[some[0].Passage] = index.Quantize([]float32{1, 2, 3}) // of another length
	given[some[1].Passage] = index.Vector{}
	if err := before.Embed(t.Context(), "m", given); err != nil {
		t.Fatal(err)
	}
	type question struct {
		vector []float32
		filter index.Filter
		least  float64
	}
	questions := make([]question, 30)
	want := make([][]int64, len(questions))
	for i := range questions {
		questions[i] = question{unit(r), index.Filter{}, []float64{-1, 0.3, 0.55}[i%3]}
		if i%2 == 1 {
			questions[i].filter.Projects = []string{"p1", "p7"}
		}
		want[i] = passages(t, before, questions[i].vector, questions[i].filter, 20, questions[i].least)
	}
	if len(want[0]) != 20 || len(want[1]) == 0 {
		t.Fatalf("the questions say little: %d and %d answers", len(want[0]), len(want[1]))
	}

	useVector(t, dsn, schema.VectorOptions{DryRun: true}, "compared by the server")
	useVector(t, dsn, schema.VectorOptions{}, "compared by the server")
	useVector(t, dsn, schema.VectorOptions{}, "")
	after := open(t, postgres.Options{DSN: dsn, Origin: "here"})
	for i, q := range questions {
		if got := passages(t, after, q.vector, q.filter, 20, q.least); !slices.Equal(got, want[i]) {
			t.Errorf("question %d: the server finds %v, the client %v", i, got, want[i])
		}
	}
	if !after.CopyHere("m") {
		t.Error("after many questions there is no copy")
	}
	for i, q := range questions {
		if got := passages(t, after, q.vector, q.filter, 20, q.least); !slices.Equal(got, want[i]) {
			t.Errorf("question %d, from the copy: %v, want %v", i, got, want[i])
		}
	}
	if got := passages(t, after, make([]float32, 64), index.Filter{}, 5, -1); len(got) != 5 {
		t.Errorf("a question without a direction finds %v", got)
	}

	useVector(t, dsn, schema.VectorOptions{Workspace: team, HNSWFrom: count}, "") // two fewer than that are comparable
	useVector(t, dsn, schema.VectorOptions{Workspace: team, HNSWFrom: count - 2}, "HNSW index for 1498 vectors")
	useVector(t, dsn, schema.VectorOptions{Workspace: team, HNSWFrom: count - 2}, "")
	same, all := 0, 0
	var indexed *postgres.DB
	for i, q := range questions {
		if i%3 == 0 { // before one fetches a copy
			indexed = open(t, postgres.Options{DSN: dsn, Origin: "here"})
		}
		got := passages(t, indexed, q.vector, q.filter, 20, q.least)
		for _, key := range want[i] {
			all++
			if slices.Contains(got, key) {
				same++
			}
		}
	}
	if same*100 < 97*all {
		t.Errorf("the HNSW index finds %d of the %d nearest", same, all)
	}
	if plan, err := indexed.PlanNearest(t.Context(), "m", questions[0].vector); err != nil || !strings.Contains(plan, schema.HNSWPrefix) {
		t.Errorf("the HNSW index is not used: %v\n%s", err, plan)
	}

	// Somebody takes the extension away, under an open index.
	conn, err := schema.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), "DROP EXTENSION vector CASCADE"); err != nil {
		t.Fatal(err)
	}
	if got := passages(t, indexed, questions[0].vector, index.Filter{}, 20, -1); !slices.Equal(got, want[0]) {
		t.Errorf("without the extension: %v, want %v", got, want[0])
	}
	useVector(t, dsn, schema.VectorOptions{DryRun: true}, "compared by the server")
	_ = conn.Close(t.Context())
}
