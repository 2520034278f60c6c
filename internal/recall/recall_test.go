package recall_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/embed"
	"anamnesis/internal/index"
	"anamnesis/internal/index/sqlite"
	"anamnesis/internal/note"
	"anamnesis/internal/recall"
	"anamnesis/internal/store"
	"anamnesis/internal/store/storetest"

	"github.com/google/go-cmp/cmp"
)

var noon = time.Date(2026, 7, 2, 12, 0, 0, 0, time.UTC)

// product is what package config sets, without gate, gaps and memory.
var product = recall.Options{
	Tuning:      tuned(),
	SemanticArm: true, GraphArm: true, Temporal: true, BitemporalEdges: true, Rerank: true, MMR: true, Patience: 100,
}

func tuned() recall.Tuning {
	t := recall.Tuned()
	t.CacheTTL, t.FuzzyThreshold, t.FollowUpAlpha = 0, 0, 0
	return t
}

// open makes an engine over notes. What a note leaves out is filled in.
func open(t *testing.T, notes ...note.Note) (*recall.Engine, *store.Store) {
	t.Helper()
	return openWith(t, product, notes...)
}

// openWith is open with its own options.
func openWith(t *testing.T, o recall.Options, notes ...note.Note) (*recall.Engine, *store.Store) {
	t.Helper()
	s, err := store.Open(store.Options{Root: t.TempDir(), Now: func() time.Time { return noon }})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range notes {
		if n.Type == "" {
			n.Type = note.Semantic
		}
		if n.Scope == "" {
			n.Scope = note.Portable
		}
		if n.Project == "" {
			n.Project = "p"
		}
		if n.UpdatedAt == "" {
			n.UpdatedAt = note.At(noon.Add(-time.Hour))
		}
		if n.Provenance.Source == "" {
			n.Provenance = note.Provenance{Source: note.Human, Confidence: 1}
		}
		if _, _, err := storetest.Put(s, &n, store.Ref{}, store.Update); err != nil {
			t.Fatal(err)
		}
	}
	db, err := sqlite.Open(t.Context(), sqlite.Options{Path: s.Path("index.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	words, err := embed.OpenStatic(index.Words)
	if err != nil {
		t.Fatal(err)
	}
	ix := index.New(db, s, index.Embedding{Local: words})
	if _, err := ix.Sync(t.Context(), index.SyncOptions{}); err != nil {
		t.Fatal(err)
	}
	return recall.New(ix, s, o, recall.Models{Words: words}), s
}

func ask(t *testing.T, e *recall.Engine, q recall.Query) *recall.Result {
	t.Helper()
	res, err := e.Recall(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func ids(res *recall.Result) []note.ID {
	got := []note.ID{}
	for _, h := range res.Hits {
		got = append(got, h.Row.ID)
	}
	return got
}

func TestRanking(t *testing.T) {
	filler := strings.Repeat("lorem ipsum dolor sit amet consectetur ", 20)
	other := strings.Repeat("sed eiusmod tempor incididunt labore magna ", 20) // or the two would be copies
	e, _ := open(t,
		note.Note{ID: "title", Title: "rotate the certificate", Body: filler},
		note.Note{ID: "body", Title: "staging", Body: "rotate the certificate " + other},
		note.Note{ID: "short", Title: "certificate", Body: "renew it"},
		note.Note{ID: "tag", Title: "proxy", Body: "restart", Tags: []string{"certificate"}},
		note.Note{ID: "ident", Title: "clients", Body: "edit payments.proto, then run make proto-gen"},
		note.Note{ID: "camel", Title: "totals", Body: "recalcTaxForOrder is slow"},
		note.Note{ID: "cjk", Title: "数据库", Body: "索引が遅い"},
		note.Note{ID: "accent", Title: "Résumé parser", Body: "x"},
		note.Note{ID: "long", Title: "long note", Body: strings.Repeat(filler+"\n\n", 5) + "the last paragraph names the walrus\n"},
	)
	for _, c := range []struct {
		question string
		first    string // ids expected at the top, in order
	}{
		{"rotate certificate", "body title"},
		{"rotating certificates", "body title"}, // stems
		{"payments.proto", "ident"},
		{"proto", "ident"},
		{"recalcTax", "camel"},
		{"recalctaxfororder", "camel"},
		{"数据", "cjk"},
		{"据库", "cjk"},
		{"resume", "accent"},
		{"walrus", "long"},
		{`"state-of-the-art" 16:9 NEAR( * ^ walrus`, "long"},
	} {
		got := ids(ask(t, e, recall.Query{Text: c.question}))
		var want []note.ID
		for _, w := range strings.Fields(c.first) {
			want = append(want, note.ID(w))
		}
		if len(got) < len(want) || !slices.Equal(got[:len(want)], want) {
			t.Errorf("%q: got %v, want %v first", c.question, got, want)
		}
	}
	for _, q := range []string{"", "-", "***", "zebra"} {
		if got := ids(ask(t, e, recall.Query{Text: q})); len(got) != 0 {
			t.Errorf("%q found %v", q, got)
		}
	}
	walrus := ask(t, e, recall.Query{Text: "walrus"}).Hits[0]
	if got := walrus.Note.Body[walrus.Start:walrus.End]; !strings.Contains(got, "walrus") || len(got) == len(walrus.Note.Body) {
		t.Errorf("the passage shown is %q", got)
	}
}

// The score of a hit is the sum of its reasons, always.
func TestExplanationIsTheScore(t *testing.T) {
	e, _ := open(t, note.Note{ID: "a", Title: "one two"}, note.Note{ID: "b", Title: "two three", Body: "one"})
	for _, h := range ask(t, e, recall.Query{Text: "one two three"}).Hits {
		sum := 0.0
		for _, r := range h.Reasons {
			sum += r.Delta
		}
		if sum != h.Score() || h.Score() <= 0 || h.Coverage <= 0 || h.Coverage > 1 {
			t.Errorf("%s: score %v, reasons %v, coverage %v", h.Row.ID, h.Score(), h.Reasons, h.Coverage)
		}
	}
}

// Two runs over the same notes answer alike, whatever order the notes came in.
func TestDeterministic(t *testing.T) {
	var notes []note.Note
	for i := range 60 {
		notes = append(notes, note.Note{ID: note.ID(fmt.Sprintf("n%02d", i)), Title: "same words", UpdatedAt: note.At(noon.Add(-time.Duration(i%7) * time.Hour))})
	}
	e, _ := open(t, notes...)
	want := ids(ask(t, e, recall.Query{Text: "same words", K: 60}))
	slices.Reverse(notes)
	e, _ = open(t, notes...)
	if d := cmp.Diff(want, ids(ask(t, e, recall.Query{Text: "same words", K: 60}))); d != "" {
		t.Error(d)
	}
	if want[0] != "n00" {
		t.Errorf("of equal scores the newest comes first, not %s", want[0])
	}
}

func TestPredicates(t *testing.T) {
	e, _ := open(t,
		note.Note{ID: "a", Title: "fox", Project: "p1"},
		note.Note{ID: "b", Title: "fox", Project: "p2", Type: note.Procedural},
		note.Note{ID: "c", Title: "fox", Project: "p1", Scope: note.Local},
		note.Note{ID: "new", Title: "fox", Project: "p3", Supersedes: []note.ID{"old"}},
		note.Note{ID: "old", Title: "fox", Project: "p3"},
		note.Note{ID: "archived", Title: "fox", Status: "archived"},
		note.Note{ID: "expired", Title: "fox", ForgetAfter: note.At(noon.Add(-time.Minute))},
		note.Note{ID: "quarantined", Title: "fox", Quarantine: true},
	)
	for _, c := range []struct {
		name string
		q    recall.Query
		want []note.ID
	}{
		{"live notes of all projects and both trees", recall.Query{}, []note.ID{"a", "b", "c", "new"}},
		{"project", recall.Query{Projects: []string{"p1"}}, []note.ID{"a", "c"}},
		{"type", recall.Query{Types: []note.Type{note.Procedural}}, []note.ID{"b"}},
		{"scope", recall.Query{Scope: note.Local}, []note.ID{"c"}},
		{"k", recall.Query{K: 1}, []note.ID{"a"}},
	} {
		c.q.Text = "fox"
		got := ids(ask(t, e, c.q))
		if c.q.K == 0 {
			slices.Sort(got)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
	if got := ids(ask(t, e, recall.Query{Text: "fox", Dead: true})); len(got) != 8 {
		t.Errorf("with the dead: %v", got)
	}
	for k, want := range map[int]int{-5: 1, 0: recall.DefaultK, 1000: recall.MaxK} {
		if got := ask(t, e, recall.Query{Text: "fox", K: k}).Query.K; got != want {
			t.Errorf("k %d becomes %d, want %d", k, got, want)
		}
	}
}

func TestPackBudget(t *testing.T) {
	body := func(n int) string { return "fox " + strings.Repeat("x", n) }
	e, _ := open(t,
		note.Note{ID: "a", Title: "fox fox fox", Body: body(400)},
		note.Note{ID: "b", Title: "fox fox", Body: body(4000)},
		note.Note{ID: "c", Title: "fox", Body: body(400)},
	)
	for _, c := range []struct{ budget, want int }{{0, 3}, {300, 2}, {1, 1}} {
		res := ask(t, e, recall.Query{Text: "fox", MaxTokens: c.budget})
		if len(res.Hits) != c.want {
			t.Errorf("budget %d: %v", c.budget, ids(res))
		}
		if c.budget > 0 && len(res.Hits) > 1 && res.Tokens > c.budget {
			t.Errorf("%d tokens are over the budget of %d", res.Tokens, c.budget)
		}
	}
}

// A file that went or broke behind the index is left out and named.
func TestMissingFile(t *testing.T) {
	e, s := open(t, note.Note{ID: "a", Title: "fox"}, note.Note{ID: "b", Title: "fox"}, note.Note{ID: "c", Title: "fox"})
	if err := os.Remove(s.Path("memory/semantic/a.md")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.Path("memory/semantic/b.md"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	res := ask(t, e, recall.Query{Text: "fox"})
	if d := cmp.Diff([]note.ID{"c"}, ids(res)); d != "" || len(res.Missing) != 2 || !strings.Contains(strings.Join(res.Missing, " "), "a.md") {
		t.Errorf("%s %v", d, res.Missing)
	}
}

func TestTokens(t *testing.T) {
	for text, want := range map[string]int{"": 0, "a": 1, "abcd": 1, "abcde": 2, "日本語日本": 2} {
		if got := recall.Tokens(text); got != want {
			t.Errorf("Tokens(%q) = %d, want %d", text, got, want)
		}
	}
}

// Recall finds what took the place of an answer, whatever words it uses.
func TestSuccessor(t *testing.T) {
	e, _ := open(t,
		note.Note{ID: "jwt", Title: "API auth uses JWT", Body: "Tokens are signed by the gateway."},
		note.Note{ID: "sessions", Title: "Server-side sessions", Body: "The cookie names a row in redis.", Supersedes: []note.ID{"jwt"}},
		note.Note{ID: "other", Title: "Pool sizes", Body: "Redis has ten."},
	)
	for question, want := range map[string]bool{"what is our current API auth": true, "JWT signed tokens": true, "parsnips": false} {
		got := ids(ask(t, e, recall.Query{Text: question}))
		if found := len(got) > 0 && got[0] == "sessions"; found != want || slices.Contains(got, "jwt") {
			t.Errorf("%q: %v", question, got)
		}
	}
}
