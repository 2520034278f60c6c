package recall_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/index/sqlite"
	"anamnesis/internal/note"
	"anamnesis/internal/recall"
	"anamnesis/internal/store"
	"anamnesis/internal/store/storetest"
)

// engine makes another engine over a store, with an index on other connections.
func engine(t testing.TB, s *store.Store, o recall.Options, m recall.Models) (*recall.Engine, *index.Index) {
	t.Helper()
	db, err := sqlite.Open(t.Context(), sqlite.Options{Path: s.Path("index.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	ix := index.New(db, s, index.Embedding{})
	return recall.New(ix, s, o, m), ix
}

// remembering is product with a memory.
func remembering() recall.Options {
	o := product
	o.LexicalWeight, o.GraphWeight, o.GraphArm, o.TemporalWeight, o.Temporal, o.Rerank = 1, 0.5, true, 0.5, true, true
	o.FuzzyCache, o.FuzzyThreshold, o.CacheTTL = true, 0.85, 3600
	return o
}

func TestCache(t *testing.T) {
	_, s := open(t,
		note.Note{ID: "proxy", Title: "rotate the certificate", Body: "of the staging proxy on port 8080 with tools/rotate.sh"},
		note.Note{ID: "other", Title: "certificate of production", Body: "renewed last year"},
	)
	e, _ := engine(t, s, remembering(), recall.Models{})
	off := remembering()
	off.FuzzyCache = false
	exact, _ := engine(t, s, off, recall.Models{})
	long := "rotate staging proxy certificate port tools renewed production"
	for _, c := range []struct {
		e        *recall.Engine
		question recall.Query
		want     string
	}{
		{e, recall.Query{Text: "rotate the staging certificate"}, ""},
		{e, recall.Query{Text: "the staging certificate: rotate"}, "fuzzy"}, // another order
		{e, recall.Query{Text: "how do I rotate our staging certificates"}, "fuzzy"},
		{e, recall.Query{Text: "production database"}, ""},
		{e, recall.Query{Text: "how do I rotate our staging certificates"}, "fuzzy"},
		{e, recall.Query{Text: "rotate the staging certificate"}, "exact"},
		{e, recall.Query{Text: "rotate the staging certificate", NoCache: true}, ""},
		{e, recall.Query{Text: "rotate the staging certificate", Synthetic: true}, ""},
		// Another question in the same words, or nearly.
		{e, recall.Query{Text: "rotate the staging proxy"}, ""},
		{e, recall.Query{Text: "never rotate the staging certificate"}, ""},
		{e, recall.Query{Text: "without rotate the staging certificate"}, ""},
		{e, recall.Query{Text: "rotate the staging certificate last week"}, ""},
		{e, recall.Query{Text: "rotate the staging certificate last month"}, ""},
		{e, recall.Query{Text: "last month, rotate the staging certificate"}, "fuzzy"},
		{e, recall.Query{Text: "proxy port 8080"}, ""},
		{e, recall.Query{Text: "proxy port 9090"}, ""},
		{e, recall.Query{Text: "rotate.sh tools"}, ""},
		{e, recall.Query{Text: "rotate-sh tools"}, ""},
		// One word.
		{e, recall.Query{Text: "certificate"}, ""},
		{e, recall.Query{Text: "certificates"}, ""},
		{e, recall.Query{Text: "certificate"}, "exact"},
		// What changes what the arms find.
		{e, recall.Query{Text: "rotate the staging certificate", Projects: []string{"p"}}, ""},
		{e, recall.Query{Text: "rotate the staging certificate", Branches: []string{"b"}}, ""},
		{e, recall.Query{Text: "rotate the staging certificate", Arms: []string{"lexical"}}, ""},
		{e, recall.Query{Text: "rotate the staging certificate", AsOf: noon}, ""},
		{e, recall.Query{Text: "rotate the staging certificate", K: 50}, ""},
		{e, recall.Query{Text: "rotate the staging certificate", K: 3}, "exact"},
		// Long questions.
		{e, recall.Query{Text: long}, ""},
		{e, recall.Query{Text: long + " walrus"}, "fuzzy"}, // 8 of 9
		{e, recall.Query{Text: long + " walrus zebra"}, ""},
		{e, recall.Query{Text: long + " never"}, ""},
		// Without the fuzzy tier.
		{exact, recall.Query{Text: "rotate the staging certificate"}, ""},
		{exact, recall.Query{Text: "the staging certificate: rotate"}, ""},
		{exact, recall.Query{Text: "rotate the staging certificate"}, "exact"},
	} {
		got := ask(t, c.e, c.question)
		if got.Cached != c.want {
			t.Errorf("%+v: the memory said %q, want %q", c.question, got.Cached, c.want)
		}
		fresh := c.question
		fresh.NoCache = true
		want := ask(t, c.e, fresh)
		if !slices.Equal(ids(got), ids(want)) || got.Searched != want.Searched || len(got.Arms) != len(want.Arms) || len(got.Terms) != len(want.Terms) {
			t.Errorf("%+v: %v, asked anew %v", c.question, ids(got), ids(want))
		}
		for i, h := range got.Hits {
			if w := want.Hits[i]; h.Score() != w.Score() || h.Coverage != w.Coverage || h.Start != w.Start || h.End != w.End {
				t.Errorf("%+v: %s has %v %v, asked anew %v %v", c.question, h.Row.ID, h.Score(), h.Coverage, w.Score(), w.Coverage)
			}
		}
	}
}

// A change of the store, or of the time, ends what is remembered.
func TestCacheEnds(t *testing.T) {
	now := noon
	s, err := store.Open(store.Options{Root: t.TempDir(), Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	put := func(n note.Note) {
		t.Helper()
		n.Type, n.Scope, n.Project, n.UpdatedAt, n.Provenance = note.Semantic, note.Portable, "p", note.At(noon), note.Provenance{Source: note.Human}
		if _, _, err := storetest.Put(s, &n, store.Ref{}, store.Update); err != nil {
			t.Fatal(err)
		}
	}
	put(note.Note{ID: "a", Title: "staging certificate"})
	put(note.Note{ID: "soon", Title: "staging certificate too", ForgetAfter: note.At(noon.Add(10 * time.Minute))})
	e, ix := engine(t, s, remembering(), recall.Models{})
	if _, err := ix.Sync(t.Context(), index.SyncOptions{}); err != nil {
		t.Fatal(err)
	}
	expect := func(cached string, want ...note.ID) {
		t.Helper()
		res := ask(t, e, recall.Query{Text: "staging certificate"})
		got := ids(res)
		slices.Sort(got)
		if res.Cached != cached || !slices.Equal(got, want) {
			t.Errorf("%q %v, want %q %v", res.Cached, got, cached, want)
		}
	}
	expect("", "a", "soon")
	expect("exact", "a", "soon")
	now = noon.Add(20 * time.Minute)
	expect("exact", "a") // one was forgotten since
	put(note.Note{ID: "b", Title: "staging certificate again"})
	if _, err := ix.Sync(t.Context(), index.SyncOptions{}); err != nil {
		t.Fatal(err)
	}
	expect("", "a", "b")
	expect("exact", "a", "b")
	now = now.Add(2 * time.Hour)
	expect("", "a", "b")
	now = noon.Add(-time.Hour) // the clock was set back
	expect("", "a", "b", "soon")
}

// What is kept holds no word of the question that no note holds: it may be a secret.
func TestCacheKeepsNoText(t *testing.T) {
	_, s := open(t, note.Note{ID: "a", Title: "staging certificate"})
	e, ix := engine(t, s, remembering(), recall.Models{})
	ask(t, e, recall.Query{Text: "staging certificate hunter2hunter2 correct horse battery staple fence"})
	n := 0
	for _, kind := range []string{"recall", "recall-words"} {
		kept, err := ix.Memos(t.Context(), kind, 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range kept {
			n++
			if strings.Contains(string(m.Value)+m.Key, "hunter2") || strings.Contains(string(m.Value), "horse") {
				t.Errorf("%s holds the question: %q", kind, m.Value)
			}
		}
	}
	if n != 2 {
		t.Errorf("%d memories, want two", n)
	}
}

// What is no whole answer, or is of an arm that this program does not have, is none, and the arms are asked.
func TestTornMemory(t *testing.T) {
	_, s := open(t, note.Note{ID: "a", Title: "staging certificate"})
	e, ix := engine(t, s, remembering(), recall.Models{})
	q := recall.Query{Text: "staging certificate"}
	ask(t, e, q)
	kept, err := ix.Memos(t.Context(), "recall", 1)
	if err != nil || len(kept) != 1 {
		t.Fatal(kept, err)
	}
	whole := kept[0].Value
	for _, value := range []string{"", string(whole[:len(whole)/2]), strings.Replace(string(whole), "lexical", "former", 1)} {
		kept[0].Value = []byte(value)
		if err := ix.SetMemo(t.Context(), "recall", kept[0].Key, kept[0], 0); err != nil {
			t.Fatal(err)
		}
		if res := ask(t, e, q); res.Cached != "" || !slices.Equal(ids(res), []note.ID{"a"}) {
			t.Errorf("%q is taken for an answer: %q %v", value, res.Cached, ids(res))
		}
	}
	if res := ask(t, e, q); res.Cached != "exact" {
		t.Errorf("a whole answer is not used: %q", res.Cached)
	}
}

func BenchmarkRecall(b *testing.B) {
	s, err := store.Open(store.Options{Root: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	words := strings.Fields("proxy certificate staging deploy rollback queue worker payment invoice ledger cache index schema migration test flaky timeout retry token login session cookie header gateway cluster node pod volume mount disk backup restore alert metric trace log")
	at := func(i int) string { return words[(i*7919+i/len(words))%len(words)] }
	for i := range 2000 {
		body := ""
		for j := range 90 {
			body += at(i*31+j*j) + " "
		}
		n := note.Note{ID: note.ID(fmt.Sprintf("n%04d", i)), Type: note.Semantic, Scope: note.Portable, Project: "p", UpdatedAt: note.At(noon), Title: at(i) + " " + at(i+5) + " " + at(i*3), Body: body, Provenance: note.Provenance{Source: note.Human}}
		if _, _, err := storetest.Put(s, &n, store.Ref{}, store.Update); err != nil {
			b.Fatal(err)
		}
	}
	e, ix := engine(b, s, remembering(), recall.Models{})
	if _, err := ix.Sync(b.Context(), index.SyncOptions{}); err != nil {
		b.Fatal(err)
	}
	run := func(name string, q func(i int) recall.Query) {
		i := 0
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				i++
				if _, err := e.Recall(b.Context(), q(i)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	text := func(i int) string { return at(i) + " " + at(i/3+7) + " " + at(i*5+1) + fmt.Sprintf(" %d", i) }
	run("cold", func(i int) recall.Query { return recall.Query{Text: text(i), NoCache: true} })
	run("missed", func(i int) recall.Query { return recall.Query{Text: text(i)} })
	run("exact", func(i int) recall.Query { return recall.Query{Text: "staging certificate rollback"} })
	run("fuzzy", func(i int) recall.Query { return recall.Query{Text: "rollback of the staging certificate"} })
}
