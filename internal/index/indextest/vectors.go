package indextest

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
)

// dim is how many dimensions the vectors of the suite have.
const dim = 64

// leaning is a unit vector along the first axis that leans to the second.
func leaning(lean float64) []float32 {
	v := make([]float32, dim)
	v[0], v[1] = float32(math.Sqrt(1-lean*lean)), float32(lean)
	return v
}

// unembedded returns the passages without a vector of a model, by the path of their note.
func (s *suite) unembedded(model string) map[string]int64 {
	s.t.Helper()
	some, _, _, err := s.Unembedded(s.ctx, model, 1000)
	if err != nil {
		s.t.Fatal(err)
	}
	keys := make(map[string]int64)
	for _, u := range some {
		keys[u.Path] = u.Passage
	}
	return keys
}

func (s *suite) row(id note.ID) index.Row {
	s.t.Helper()
	row, ok, err := s.Lookup(s.ctx, id)
	if err != nil || !ok {
		s.t.Fatalf("Lookup(%s) = %v, %v", id, ok, err)
	}
	return row
}

func (s *suite) key(id note.ID) int64 { return s.row(id).Key }

// notesOf returns the ids of the notes of candidates, in their order.
func (s *suite) notesOf(got []index.Candidate) []note.ID {
	s.t.Helper()
	list := []note.ID{}
	for _, c := range got {
		rows, err := s.Rows(s.ctx, []int64{c.Key})
		if err != nil {
			s.t.Fatal(err)
		}
		list = append(list, ids(rows)...)
	}
	return list
}

// nearest asks for ten passages near to a vector of the model "m"; ok is false for a backend
// that compares no vectors.
func (s *suite) nearest(question []float32, f index.Filter, least float64) (got []index.Candidate, ok bool) {
	s.t.Helper()
	got, err := s.Nearest(s.ctx, "m", question, f, 10, least)
	if errors.Is(err, index.ErrNoModel) {
		return nil, false
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return got, true
}

func vectors(t *testing.T, s *suite) {
	s.put(
		&note.Note{ID: "a", Title: "a", Body: "one", Project: "p1"},
		&note.Note{ID: "b", Title: "b", Body: "two", Project: "p2"},
		&note.Note{ID: "c", Title: "c", Body: "three", Project: "p1", Status: "archived"},
		&note.Note{ID: "d", Title: "d", Body: "four", Project: "p1"},
	)
	some, missing, all, err := s.Unembedded(s.ctx, "m", 2)
	if err != nil || len(some) != 2 || missing != 4 || all != 4 {
		t.Fatalf("Unembedded = %v, %d, %d, %v", some, missing, all, err)
	}
	if _, missing, all, err := s.Unembedded(s.ctx, "m", 0); err != nil || missing != 4 || all != 4 {
		t.Errorf("Unembedded of none = %d, %d, %v", missing, all, err)
	}
	keys := s.unembedded("m")
	given := map[int64]index.Vector{1 << 40: index.Quantize(leaning(0))} // of a passage that is gone
	for i, id := range []note.ID{"a", "b", "c"} {
		given[keys[s.row(id).Ref.Path]] = index.Quantize(leaning(0.2 * float64(i)))
	}
	if err := s.Embed(s.ctx, "m", given); err != nil {
		t.Fatal(err)
	}
	if _, missing, all, _ := s.Unembedded(s.ctx, "m", 10); missing != 1 || all != 4 {
		t.Errorf("%d of %d without a vector, want 1 of 4", missing, all)
	}
	for model, want := range map[string]bool{"m": true, "other": false} {
		if some, err := s.Embedded(s.ctx, model); err != nil || some != want {
			t.Errorf("Embedded(%s) = %v, %v", model, some, err)
		}
	}
	if _, missing, _, _ := s.Unembedded(s.ctx, "other", 10); missing != 4 {
		t.Errorf("%d without a vector of another model, want 4", missing)
	}
	nearest := func(what, model string, f index.Filter, limit int, want ...note.ID) {
		t.Helper()
		got, err := s.Nearest(s.ctx, model, leaning(0), f, limit, -1)
		if errors.Is(err, index.ErrNoModel) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		equal(t, what, append([]note.ID{}, want...), s.notesOf(got))
		for _, c := range got {
			if c.Model != index.VectorModel(model) || c.Vector.Dim() != dim {
				t.Errorf("%s: a candidate of model %x with %d dimensions", what, c.Model, c.Vector.Dim())
			}
		}
	}
	for _, tidy := range []bool{false, true} {
		if tidy {
			if err := s.Tidy(s.ctx); err != nil {
				t.Fatal(err)
			}
		}
		nearest("the nearest first", "m", index.Filter{}, 10, "a", "b")
		nearest("dead too", "m", index.Filter{Dead: true}, 10, "a", "b", "c")
		nearest("limit", "m", index.Filter{}, 1, "a")
		nearest("project", "m", index.Filter{Projects: []string{"p2"}}, 10, "b")
		nearest("nobody", "m", index.Filter{Projects: []string{"p3"}}, 10)
		nearest("another model", "other", index.Filter{}, 10)
	}
	// A vector of another dimension cannot be compared and does no harm.
	if err := s.Embed(s.ctx, "wide", map[int64]index.Vector{s.unembedded("wide")[s.row("a").Ref.Path]: index.Quantize([]float32{
		1, 2,
		3,
	})}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Nearest(s.ctx, "wide", leaning(0), index.Filter{}, 10, -1); err != nil && !errors.Is(err, index.ErrNoModel) {
		t.Errorf("another dimension: %v", err)
	}
	// What a note says again has no vector until it gets one.
	s.put(&note.Note{ID: "b", Title: "b", Body: "something else", Project: "p2"})
	nearest("changed", "m", index.Filter{}, 10)
}

// manyVectors compares an answer with that of an exact comparison, before and
// after the backend did what makes later questions cheaper.
func manyVectors(t *testing.T, s *suite) {
	const n = 700
	rng := rand.New(rand.NewPCG(1, 2))
	random := func() []float32 {
		v := make([]float32, dim)
		sum := 0.0
		for i := range v {
			x := rng.NormFloat64()
			v[i], sum = float32(x), sum+x*x
		}
		for i := range v {
			v[i] /= float32(math.Sqrt(sum))
		}
		return v
	}
	var notes []*note.Note
	for i := range n {
		notes = append(notes, &note.Note{ID: note.ID(fmt.Sprintf("n%03d", i)), Title: "t", Body: "b"})
	}
	s.put(notes...)
	given := make(map[int64]index.Vector)
	for _, key := range s.unembedded("m") {
		given[key] = index.Quantize(random())
	}
	if err := s.Embed(s.ctx, "m", given); err != nil {
		t.Fatal(err)
	}
	for _, tidy := range []bool{false, true} {
		if tidy {
			if err := s.Tidy(s.ctx); err != nil {
				t.Fatal(err)
			}
		}
		for range 5 {
			q := random()
			want := slices.Collect(maps.Keys(given))
			slices.SortFunc(want, func(a, b int64) int {
				if x, y := given[a].Cosine(q), given[b].Cosine(q); x != y {
					return map[bool]int{true: -1, false: 1}[x > y]
				}
				return int(a - b)
			})
			got, ok := s.nearest(q, index.Filter{}, -1)
			if !ok {
				t.Skip("it compares no vectors")
			}
			keys := []int64{}
			for _, c := range got {
				keys = append(keys, c.Passage)
			}
			slices.Sort(keys)
			equal(t, "the ten nearest", slices.Sorted(slices.Values(want[:10])), keys)
			least := given[want[4]].Cosine(q)
			if got, _ = s.nearest(q, index.Filter{}, least); len(got) < 5 {
				t.Fatalf("%d that are near enough", len(got))
			}
			for i, c := range got {
				if cosine := c.Vector.Cosine(q); c.Passage != want[i] || cosine < least-0.01 {
					t.Errorf("at least %g: number %d is passage %d at %g, want %d", least, i, c.Passage, cosine, want[i])
				}
			}
		}
	}
}

func passages(t *testing.T, s *suite) {
	long := ""
	for range 60 {
		long += "A line of the note that is long enough to make passages of it.\n\n"
	}
	s.put(&note.Note{ID: "a", Title: "a", Body: long, Project: "p1"}, &note.Note{ID: "b", Title: "b", Body: "short", Project: "p2"})
	all, err := s.Match(s.ctx, []index.Term{{Token: "passag", Weight: 1}, {Token: "short", Weight: 1}}, index.Filter{}, 100)
	if err != nil || len(all) < 3 {
		t.Fatalf("Match = %d passages, %v", len(all), err)
	}
	var keys []int64
	for _, c := range all {
		keys = append(keys, c.Passage)
	}
	slices.Reverse(keys)
	got, err := s.Passages(s.ctx, append([]int64{1 << 40}, keys...), index.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	var order []int64
	for _, c := range got {
		order = append(order, c.Passage)
	}
	equal(t, "in the order asked for", keys, order)
	got, err = s.Passages(s.ctx, keys, index.Filter{Projects: []string{"p2"}})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "that the filter lets through", []note.ID{"b"}, s.notesOf(got))
	got, err = s.First(s.ctx, []int64{s.key("a"), s.key("b"), 1 << 40}, index.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "first passages", []note.ID{"a", "b"}, slices.Sorted(slices.Values(s.notesOf(got))))
	for _, c := range got {
		if c.Start != 0 || len(c.Tokens[index.Body]) == 0 {
			t.Errorf("the first passage begins at %d with %d tokens", c.Start, len(c.Tokens[index.Body]))
		}
	}
	got, err = s.First(s.ctx, []int64{s.key("a"), s.key("b")}, index.Filter{Projects: []string{"p1"}})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "of a project", []note.ID{"a"}, s.notesOf(got))
}

func neighbours(t *testing.T, s *suite) {
	at := func(d time.Duration) note.Stamp { return note.At(noon.Add(d)) }
	breath := note.Provenance{Session: "s"}
	s.put(
		&note.Note{ID: "a", Title: "a", CreatedAt: at(0), Provenance: breath}, &note.Note{
			ID: "b", Title: "b", CreatedAt: at(0),
			Provenance: breath,
		},
		&note.Note{ID: "c", Title: "c", CreatedAt: at(0), Provenance: breath},
		&note.Note{ID: "later", Title: "x", CreatedAt: at(time.Second), Provenance: breath},
		&note.Note{ID: "elsewhere", Title: "x", CreatedAt: at(0), Project: "q", Provenance: breath},
		&note.Note{ID: "undated", Title: "x", Provenance: breath}, &note.Note{ID: "undated2", Title: "x", Provenance: breath},
		&note.Note{ID: "alone", Title: "x", CreatedAt: at(0)}, &note.Note{ID: "alone2", Title: "x", CreatedAt: at(0)},
	)
	with := func(id note.ID, f index.Filter) []note.ID {
		t.Helper()
		got, err := s.Neighbours(s.ctx, []int64{s.key(id)}, f)
		if err != nil {
			t.Fatal(err)
		}
		list := []note.ID{}
		for _, c := range got {
			if c.Of != s.key(id) {
				t.Errorf("neighbour of %d, asked for %d", c.Of, s.key(id))
			}
			rows, _ := s.Rows(s.ctx, []int64{c.With})
			list = append(list, ids(rows)...)
		}
		slices.Sort(list)
		return list
	}
	equal(t, "in the middle", []note.ID{"a", "c"}, with("b", index.Filter{}))
	equal(t, "at the end", []note.ID{"b"}, with("a", index.Filter{}))
	equal(t, "nobody", []note.ID{}, with("later", index.Filter{}))
	equal(t, "of another project", []note.ID{}, with("elsewhere", index.Filter{}))
	equal(t, "without a date", []note.ID{}, with("undated", index.Filter{}))
	equal(t, "without a session", []note.ID{}, with("alone", index.Filter{}))
	equal(t, "filtered", []note.ID{}, with("b", index.Filter{Projects: []string{"q"}}))
}
