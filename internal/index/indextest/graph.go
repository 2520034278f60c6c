package indextest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// putWith puts a note with a sidecar.
func (s *suite) putWith(n *note.Note, side *note.Sidecar) {
	s.t.Helper()
	e := entry(n)
	data := n.Format()
	s.apply(index.Batch{Put: []index.Entry{index.NewEntry(n, e.Ref, data, side)}})
}

// entity is the key of a name, as a question that is nothing but it has it.
func entity(name string) index.EntityKey { return index.QuestionEntities(name)[0].Key }

func graph(t *testing.T, s *suite) {
	march, june := note.Stamp("2026-03-01T00:00:00+00:00"), note.Stamp("2026-06-01T00:00:00+00:00")
	edge := note.Edge{
		Source: "gateway timeout", Target: "connection pool", Relation: note.CausedBy, Strength: 7, Committed: june,
		Valid: march, ValidEnd: june,
	}
	s.putWith(&note.Note{ID: "a", Title: "till", Body: "it comes back", Project: "p1", UpdatedAt: march}, &note.Sidecar{
		Entities: []note.Entity{{Name: "Till", Type: note.Concept}}, Edges: []note.Edge{edge, edge},
	})
	s.putWith(&note.Note{ID: "b", Title: "pool", Body: "see internal/db/pool.go", Project: "p2", UpdatedAt: june}, &note.Sidecar{
		Entities: []note.Entity{{Name: "connection-pools", Type: note.Concept}},
	})
	pool := entity("connection pool")
	mentions := func(what string, k index.EntityKey, declared bool, f index.Filter, limit, wantAll int, want ...note.ID) {
		t.Helper()
		keys, all, err := s.Mentions(s.ctx, k, declared, f, limit)
		if err != nil || all != wantAll {
			t.Errorf("%s: %d in all, want %d (%v)", what, all, wantAll, err)
		}
		list := []note.ID{}
		for _, k := range keys {
			rows, _ := s.Rows(s.ctx, []int64{k})
			list = append(list, ids(rows)...)
		}
		equal(t, what, append([]note.ID{}, want...), list)
	}
	mentions("newest first", pool, true, index.Filter{}, 10, 2, "b", "a")
	mentions("limit", pool, true, index.Filter{}, 1, 2, "b")
	mentions("of a project", pool, true, index.Filter{Projects: []string{"p1"}}, 10, 2, "a")
	mentions("nothing of that name", entity("flux capacitor"), false, index.Filter{}, 10, 0)
	file := entity("internal/db/pool.go")
	mentions("found in the text", file, false, index.Filter{}, 10, 1, "b")
	mentions("and not declared", file, true, index.Filter{}, 10, 1)

	declared, err := s.Declared(s.ctx, []index.EntityKey{pool, file, entity("flux capacitor")})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "declared", []index.EntityKey{pool}, declared)
	for most, want := range map[int][]index.EntityKey{1: nil, 2: {pool}, 9: {pool}} { // two notes name it, one the file
		shared, err := s.Shared(s.ctx, []index.EntityKey{file, pool, entity("flux capacitor")}, most)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, fmt.Sprintf("shared by at most %d", most), want, shared)
	}
	of, err := s.Entities(s.ctx, []int64{s.key("b")})
	if err != nil {
		t.Fatal(err)
	}
	if got := of[s.key("b")]; len(got) < 2 || got[0] != pool || !slices.Contains(got, file) {
		t.Errorf("entities of b: %v, want %v first and %v", got, pool, file)
	}

	for _, end := range []string{"gateway timeout", "connection pool"} {
		edges, err := s.Edges(s.ctx, []index.EntityKey{entity(end)}, index.Filter{})
		if err != nil || len(edges) != 1 {
			t.Fatalf("edges at %s: %v, %v", end, edges, err)
		}
		x := edges[0]
		day := func(s note.Stamp) time.Time { at, _ := s.Time(); return at.UTC() }
		equal(t, "edge at "+end, index.Edge{
			From: entity("gateway timeout"), To: pool, FromName: "gateway timeout", ToName: "connection pool", Relation: note.CausedBy, Strength: 7,
			Committed: day(june), Valid: day(march), ValidEnd: day(june), Note: s.key("a"),
		}, x)
	}
	if edges, _ := s.Edges(s.ctx, []index.EntityKey{pool}, index.Filter{Projects: []string{"p2"}}); len(edges) != 0 {
		t.Errorf("edges that no visible note tells: %v", edges)
	}
	s.apply(index.Batch{Drop: []string{store.NotePath(note.Portable, note.Semantic, "a")}})
	if edges, _ := s.Edges(s.ctx, []index.EntityKey{pool}, index.Filter{Dead: true}); len(edges) != 0 {
		t.Errorf("edges of a note that is gone: %v", edges)
	}
	mentions("after the note went", pool, false, index.Filter{}, 10, 1, "b")
}

func branches(t *testing.T, s *suite) {
	s.put(
		&note.Note{ID: "trunk", Title: "x"},
		&note.Note{ID: "a", Title: "x", Branch: "feature/a"},
		&note.Note{ID: "b", Title: "x", Branch: "feature/b", Supersedes: []note.ID{"trunk"}},
		&note.Note{ID: "q", Title: "x", Branch: "other", Project: "q"},
		&note.Note{ID: "dead", Title: "x", Branch: "gone", Status: "archived"},
	)
	list := func(what string, projects []string, want ...string) {
		t.Helper()
		got, err := s.Branches(s.ctx, projects)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, what, want, got)
	}
	list("of a project", []string{"p"}, "feature/a", "feature/b")
	list("of all", nil, "feature/a", "feature/b", "other")
	row, _, _ := s.Lookup(s.ctx, "a")
	equal(t, "branch of a row", "feature/a", row.Branch)
	chosen := func(what string, f index.Filter, want ...note.ID) {
		t.Helper()
		equal(t, what, want, slices.Sorted(slices.Values(s.selected(f))))
	}
	p := []string{"p"}
	chosen("all branches", index.Filter{Projects: p}, "a", "b", "trunk")
	chosen("the trunk", index.Filter{Projects: p, Branches: []string{""}}, "trunk")
	chosen("a branch", index.Filter{Projects: p, Branches: []string{"feature/a"}}, "a", "trunk")
	chosen("what a branch supersedes is superseded for its readers", index.Filter{Projects: p, Branches: []string{"feature/b"}}, "b")
	chosen("two", index.Filter{Projects: p, Branches: []string{"feature/a", "other"}}, "a", "trunk")
	chosen("unknown", index.Filter{Projects: p, Branches: []string{"none"}}, "trunk")
}

func ranges(t *testing.T, s *suite) {
	day := func(d int) time.Time { return time.Date(2026, 3, d, 12, 0, 0, 0, time.UTC) }
	for d := range 5 {
		s.put(&note.Note{
			ID: note.ID("d" + string(rune('1'+d))), Title: "x", UpdatedAt: note.At(day(d + 1)),
			Provenance: note.Provenance{Confidence: float64(d) / 4},
		})
	}
	for _, c := range []struct {
		name string
		f    index.Filter
		want []note.ID
	}{
		{"from, included", index.Filter{From: day(4)}, []note.ID{"d4", "d5"}},
		{"to, included", index.Filter{To: day(2)}, []note.ID{"d1", "d2"}},
		{"between", index.Filter{From: day(2), To: day(3)}, []note.ID{"d2", "d3"}},
		{"nothing between", index.Filter{From: day(3).Add(time.Second), To: day(4).Add(-time.Second)}, nil},
		{"these alone", index.Filter{Only: []note.ID{"d5", "d1", "absent"}}, []note.ID{"d1", "d5"}},
		{"nobody", index.Filter{Only: []note.ID{""}}, nil},
		{"confident ones", index.Filter{Confidence: 0.75}, []note.ID{"d4", "d5"}},
	} {
		got := slices.Sorted(slices.Values(s.selected(c.f)))
		equal(t, c.name, c.want, got)
		matched := slices.Sorted(slices.Values(s.found("x", c.f)))
		equal(t, c.name+", by words", c.want, matched)
	}
}

func memos(t *testing.T, s *suite) {
	generation := func() int64 {
		t.Helper()
		g, err := s.Generation(s.ctx)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	before := generation()
	set := func(key, value string, at time.Duration, keep int) {
		t.Helper()
		if err := s.SetMemo(s.ctx, "kind", key, index.Memo{Value: []byte(value), Generation: generation(), At: noon.Add(at)}, keep); err != nil {
			t.Fatal(err)
		}
	}
	set("a", "1", 0, 0)
	set("b", "2", time.Second, 0)
	if err := s.SetMemo(s.ctx, "other", "a", index.Memo{Value: []byte("9"), At: noon}, 1); err != nil {
		t.Fatal(err)
	}
	m, ok, err := s.Memo(s.ctx, "kind", "a")
	if err == nil && !ok {
		t.Skip("a backend that is only read keeps nothing")
	}
	if err != nil || !ok || string(m.Value) != "1" || m.Generation != before || !m.At.Equal(noon) {
		t.Errorf("Memo = %+v, %v, %v", m, ok, err)
	}
	set("a", "3", 2*time.Second, 0)
	if m, _, _ := s.Memo(s.ctx, "kind", "a"); string(m.Value) != "3" {
		t.Errorf("a memo that was replaced: %q", m.Value)
	}
	if _, ok, err := s.Memo(s.ctx, "kind", "none"); ok || err != nil {
		t.Errorf("a memo that is not there: %v, %v", ok, err)
	}
	names := func(limit int) (keys []string) {
		t.Helper()
		got, err := s.Memos(s.ctx, "kind", limit)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range got {
			keys = append(keys, m.Key)
		}
		return keys
	}
	equal(t, "newest first", []string{"a", "b"}, names(10))
	equal(t, "limit", []string{"a"}, names(1))
	set("c", "4", 3*time.Second, 2)
	equal(t, "the newest are kept", []string{"c", "a"}, names(10))
	if g := generation(); g != before {
		t.Errorf("a memo made generation %d of %d", g, before)
	}
	s.put(&note.Note{ID: "n", Title: "x"})
	if g := generation(); g <= before {
		t.Errorf("a change left generation %d at %d", before, g)
	}
	if m, ok, _ := s.Memo(s.ctx, "kind", "a"); !ok || m.Generation != before {
		t.Errorf("a change took a memo away, or made it newer: %+v, %v", m, ok)
	}
}

// keeps reports whether the backend keeps memos: one that is only read does not.
func (s *suite) keeps() bool {
	s.t.Helper()
	if err := s.SetMemo(s.ctx, "keeps", "key", index.Memo{Value: []byte("x"), At: noon}, 0); err != nil {
		s.t.Fatal(err)
	}
	_, ok, err := s.Memo(s.ctx, "keeps", "key")
	if err != nil {
		s.t.Fatal(err)
	}
	return ok
}

// purge: what is left of dropped notes goes, and nothing else.
func purge(t *testing.T, s *suite) {
	s.put(&note.Note{ID: "a", Title: "apple", Body: "tree and cider"}, &note.Note{ID: "b", Title: "plum", Body: "tree and jam"})
	keep := func(key string, generation int64) {
		if err := s.SetMemo(s.ctx, "kind", key, index.Memo{Value: []byte("x"), Generation: generation, At: noon}, 0); err != nil {
			t.Fatal(err)
		}
	}
	before, _ := s.Generation(s.ctx)
	keep("old", before)
	keep("lasting", 0)
	row, _, _ := s.Lookup(s.ctx, "a")
	said, err := s.Hashes(s.ctx, []int64{row.Key})
	if err != nil || !slices.Contains(said, index.TokenHash("cider")) || slices.Contains(said, index.TokenHash("jam")) {
		t.Errorf("Hashes = %v, %v; want those of a alone", said, err)
	}
	s.apply(index.Batch{Drop: []string{row.Ref.Path}})
	now, _ := s.Generation(s.ctx)
	keep("new", now)
	for range 2 {
		if err := s.Purge(s.ctx, 0); err != nil {
			t.Fatal(err)
		}
	}
	keeps := s.keeps()
	for key, want := range map[string]bool{"old": false, "new": keeps, "lasting": keeps} {
		if _, ok, err := s.Memo(s.ctx, "kind", key); ok != want || err != nil {
			t.Errorf("the memo %q is there: %v, %v; want %v", key, ok, err, want)
		}
	}
	terms, err := s.Frequencies(s.ctx, []string{"cider", "jam", "tree"})
	if err != nil || terms[0].Frequency != 0 || terms[1].Frequency != 1 || terms[2].Frequency != 1 {
		t.Errorf("Frequencies = %+v, %v after a purge", terms, err)
	}
	if err := s.Check(s.ctx); err != nil {
		t.Error(err)
	}
}

// reset: the own origin is empty, those of others are as they were.
func reset(t *testing.T, s *suite) {
	s.put(&note.Note{ID: "a", Title: "apple"})
	s.apply(index.Batch{Walked: noon})
	before, _ := s.Generation(s.ctx)
	if err := s.SetMemo(s.ctx, "kind", "lasting", index.Memo{Value: []byte("x"), At: noon}, 0); err != nil {
		t.Fatal(err)
	}
	if !s.db.Private {
		other := s.there()
		other.put(&note.Note{ID: "b", Title: "plum"})
	}
	if err := s.Reset(s.ctx); err != nil {
		t.Fatal(err)
	}
	if sum, files, walked, err := s.State(s.ctx); sum != 0 || files != 0 || !walked.IsZero() || err != nil {
		t.Errorf("State = %d, %d, %v, %v after a reset", sum, files, walked, err)
	}
	if after, _ := s.Generation(s.ctx); after == before {
		t.Error("the generation is the same after a reset")
	}
	if _, ok, err := s.Memo(s.ctx, "kind", "lasting"); ok != s.keeps() || err != nil {
		t.Errorf("a memo went with a reset (%v)", err)
	}
	want := 1
	if s.db.Private {
		want = 0
	}
	if rows, err := s.Select(s.ctx, index.Filter{}, 0); len(rows) != want || err != nil {
		t.Errorf("%d notes are left, %v; want %d", len(rows), err, want)
	}
	s.put(&note.Note{ID: "a", Title: "apple"})
	if _, ok, err := s.Lookup(s.ctx, "a"); !ok || err != nil {
		t.Errorf("a note cannot be put after a reset: %v", err)
	}
}
