package postgres_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/index/postgres"
	"anamnesis/internal/index/postgres/postgrestest"
	"anamnesis/internal/index/postgres/schema"
	"anamnesis/internal/note"
)

// asked asks as the lexical arm does, and returns the ids of the notes, the best first.
func asked(t *testing.T, db *postgres.DB, question string, f index.Filter) (ids []note.ID) {
	t.Helper()
	ctx := t.Context()
	m, err := index.New(db, nil, index.Embedding{}).Ask(ctx, question, f, 20)
	if err != nil {
		t.Fatalf("%q: %v", question, err)
	}
	for _, c := range m.Candidates {
		rows, err := db.Rows(ctx, []int64{c.Key})
		if err != nil || len(rows) != 1 {
			t.Fatalf("%d rows, %v", len(rows), err)
		}
		if !slices.Contains(ids, rows[0].ID) {
			ids = append(ids, rows[0].ID)
		}
	}
	return ids
}

// A member, to whom the rules of rows apply, finds the wanted note first among 400 of the same words:
// by inflected words, an identifier, a part of one, a path, words of a language without spaces, its title and
// its tags. Notes that are forgotten, archived, over, of another team or outside of the filter are not found.
func TestServerRanks(t *testing.T) {
	dsn, ctx := migrated(t), t.Context()
	me, _ := login(t, dsn, schema.Writer)
	db := open(t, postgres.Options{DSN: me, Origin: "here"})
	var all []index.Entry
	add := func(n *note.Note) {
		n.Project = cmp.Or(n.Project, "shop")
		all = append(all, entry(n, nil))
	}
	for i := range 400 {
		add(&note.Note{
			ID: note.ID(fmt.Sprintf("n%03d", i)), Title: fmt.Sprintf("Notes on the service %d", i),
			Body: "The service runs on the host, and the tests run the deploy of the build.",
		})
	}
	add(&note.Note{ID: "migrate", Title: "Run migrations before deploying", Body: "The deployed service waits for its tables."})
	add(&note.Note{ID: "identifier", Title: "Rounding", Body: "recalcTaxTotals rounds half to even."})
	add(&note.Note{ID: "path", Title: "Generated clients", Body: "Edit internal/payments/payments.proto, then run make."})
	add(&note.Note{ID: "japanese", Title: "言語", Body: "税込価格は整数で保存する"})
	add(&note.Note{ID: "tag", Title: "On call", Tags: []string{"pagerduty"}, Body: "The service has a rota."})
	add(&note.Note{ID: "archived", Title: "Zebrafish", Body: "zebrafish", Status: "archived"})
	add(&note.Note{ID: "over", Title: "Zebrafish", Body: "zebrafish", ForgetAfter: note.At(noon)})
	add(&note.Note{ID: "forgotten", Title: "Zebrafish", Body: "zebrafish"})
	add(&note.Note{ID: "other", Project: "bank", Type: note.Procedural, Title: "Otters", Body: "otters", Tags: []string{"river"}})
	add(&note.Note{ID: "early", Title: "Otters", Body: "otters", UpdatedAt: note.At(noon.Add(-48 * time.Hour))})
	apply(t, db, index.Batch{Put: all})
	apply(t, db, index.Batch{Drop: []string{path("forgotten")}})
	now := index.Filter{Now: noon}
	for question, want := range map[string]note.ID{
		"which migration do we run when we deploy": "migrate", "table of a service that waited": "migrate",
		"recalcTaxTotals": "identifier", "tax totals": "identifier", "how are totals rounded": "identifier",
		"internal/payments/payments.proto": "path", "payments.proto": "path", "clients that were generating": "path",
		"整数": "japanese", "pagerduty": "tag",
	} {
		if got := asked(t, db, question, now); len(got) == 0 || got[0] != want {
			t.Errorf("%q finds %v, want %s first", question, got[:min(5, len(got))], want)
		}
	}
	with := func(f index.Filter) index.Filter { f.Now = noon; return f }
	for _, c := range []struct {
		name, question string
		f              index.Filter
		want           []note.ID
	}{
		{"nothing that is over", "zebrafish", now, nil},
		{"archived on demand", "zebrafish", with(index.Filter{Dead: true}), []note.ID{"archived", "over"}},
		{"all projects", "otters", now, []note.ID{"early", "other"}},
		{"a project", "otters", with(index.Filter{Projects: []string{"bank"}}), []note.ID{"other"}},
		{"a type", "otters", with(index.Filter{Types: []note.Type{note.Procedural}}), []note.ID{"other"}},
		{"a tag", "otters", with(index.Filter{Tags: []string{"river"}}), []note.ID{"other"}},
		{"a time", "otters", with(index.Filter{To: noon.Add(-24 * time.Hour)}), []note.ID{"early"}},
		{"a scope", "otters", with(index.Filter{Scope: note.Local}), nil},
		{"an id", "otters", with(index.Filter{Only: []note.ID{"early"}}), []note.ID{"early"}},
	} {
		got := asked(t, db, c.question, c.f)
		slices.Sort(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	for _, hostile := range []string{
		"'; DROP TABLE anamnesis.notes; --", "' | '", "a & ! ( b <-> c", "otters:*", "%_%", `\\' \0 \\`, "$1 {cond} {near} %[1]s", "a\x00b\xff\xfe",
		strings.Repeat("otters ' \\ % ", 800), strings.Repeat("x", 10_000), "\U0010FF00 日本\u2028", "", "   ",
	} {
		_ = asked(t, db, hostile, now)
		if _, err := db.Select(ctx, with(index.Filter{Projects: []string{hostile}, Tags: []string{hostile}, Part: hostile}), 5); err != nil {
			t.Errorf("a filter of %q: %v", hostile[:min(40, len(hostile))], err)
		}
	}
	if got := asked(t, db, "otters", now); len(got) != 2 {
		t.Errorf("after that %v is found", got)
	}
	// Another team's member finds nothing of it.
	const other = "7c1f0f7e-6f0a-4a38-9f5c-0d1f6c1f2a33"
	if err := schema.AddWorkspace(ctx, dsn, other, "other"); err != nil {
		t.Fatal(err)
	}
	if got := asked(t, open(t, postgres.Options{DSN: dsn, Workspace: other, Origin: "there"}), "otters", now); len(got) != 0 {
		t.Errorf("another team finds %v", got)
	}
}

// Where the server has pgvector, a note is found by its meaning, through the filter.
func TestServerRanksVectors(t *testing.T) {
	dsn := postgrestest.PGlite(t)
	prepare(t, dsn)
	useVector(t, dsn, schema.VectorOptions{}, "pgvector")
	db := open(t, postgres.Options{DSN: dsn, Origin: "here"})
	put(t, db, &note.Note{ID: "near", Title: "a", Project: "p"}, &note.Note{ID: "far", Title: "b", Project: "p"},
		&note.Note{ID: "elsewhere", Title: "c", Project: "q"}, &note.Note{ID: "dead", Title: "d", Project: "p", Status: "archived"})
	vectors := map[string][]float32{"near": {1, 0.1, 0}, "far": {0, 0.1, 1}, "elsewhere": {1, 0, 0}, "dead": {1, 0, 0}}
	some, _, _, err := db.Unembedded(t.Context(), "m", 10)
	if err != nil || len(some) != len(vectors) {
		t.Fatal(len(some), err)
	}
	given := make(map[int64]index.Vector)
	for _, u := range some {
		for id, v := range vectors {
			if u.Path == path(note.ID(id)) {
				given[u.Passage] = index.Quantize(v)
			}
		}
	}
	if err := db.Embed(t.Context(), "m", given); err != nil {
		t.Fatal(err)
	}
	got, err := db.Nearest(t.Context(), "m", []float32{1, 0, 0}, index.Filter{Projects: []string{"p"}}, 10, 0.25)
	if err != nil || len(got) != 1 {
		t.Fatalf("%d passages, %v", len(got), err)
	}
	if rows, err := db.Rows(t.Context(), []int64{got[0].Key}); err != nil || rows[0].ID != "near" {
		t.Errorf("%+v, %v", rows, err)
	}
}
