package postgres_test

import (
	"testing"

	"anamnesis/internal/index"
	"anamnesis/internal/index/postgres"
	"anamnesis/internal/index/postgres/schema"
	"anamnesis/internal/note"
)

// trusted is an entry of a note for which its writer says that the user vouches.
func trusted(id, body string, updated note.Stamp) index.Entry {
	return entry(&note.Note{
		ID: note.ID(id), Type: note.Semantic, Title: "Title of " + id, Body: body, Project: "p", MachineID: "m", Scope: note.Portable,
		Provenance: note.Provenance{Source: note.Human, Confidence: 1}, UpdatedAt: updated, Reviewed: updated, Trusted: true,
	}, nil)
}

// Machines without a store believe a row that says that the user vouches when an owner of the
// workspace wrote it for a store, and no other.
func TestVouchedRows(t *testing.T) {
	dsn, ctx := migrated(t), t.Context()
	me, _ := login(t, dsn, schema.Owner)
	ci, ciName := login(t, dsn, schema.Writer)
	put := func(o postgres.Options, entries ...index.Entry) {
		t.Helper()
		if err := open(t, o).Apply(ctx, index.Batch{Put: entries}); err != nil {
			t.Fatal(err)
		}
	}
	put(postgres.Options{DSN: me, Origin: "home", Vouches: true}, trusted("mine", "kestrel", "2026-01-01T00:00:00Z"))
	put(postgres.Options{DSN: me, Origin: "shares"}, trusted("shared", "kestrel", "2026-01-01T00:00:00Z"))
	for i, id := range []string{"guest", "mine"} { // the second has the id of the user's note, and is newer
		put(postgres.Options{DSN: ci, Origin: []string{"away/a", "away/b"}[i], Vouches: true}, trusted(id, "merlin", "2026-02-01T00:00:00Z"))
	}
	guest := open(t, postgres.Options{DSN: ci, Origin: "away/reader"})
	rows, err := guest.Select(ctx, index.Filter{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	vouched := make(map[note.ID]bool)
	for _, r := range rows {
		vouched[r.ID] = r.Vouched()
		if r.ID == "mine" && r.Origin != "home" {
			t.Errorf("a row of %s stands in the place of the user's note", r.Origin)
		}
	}
	if len(rows) != 3 || !vouched["mine"] || vouched["shared"] || vouched["guest"] {
		t.Errorf("%d rows, vouched for %v", len(rows), vouched)
	}
	all, err := guest.Found(ctx, "away/", 10)
	if err != nil || len(all) != 2 || all[0].Writer != ciName || all[1].Writer != ciName {
		t.Errorf("%+v, %v", all, err)
	}
}

// A row of before the server wrote logins down proves nothing, and is sent again.
func TestRowsOfBefore(t *testing.T) {
	dsn, ctx := migrated(t), t.Context()
	me, name := login(t, dsn, schema.Owner)
	home := open(t, postgres.Options{DSN: me, Origin: "home", Vouches: true})
	e := trusted("mine", "kestrel", "2026-01-01T00:00:00Z")
	writer := func() string {
		t.Helper()
		reader := open(t, postgres.Options{DSN: me, Origin: "reader"})
		all, _, err := reader.Changes(ctx, 0, 10)
		rows, rerr := reader.Select(ctx, index.Filter{}, 0)
		if err != nil || rerr != nil || len(all) != 1 || len(rows) != 1 || rows[0].Vouched() != (all[0].Writer != "") {
			t.Fatalf("%+v, %v, %+v, %v", all, err, rows, rerr)
		}
		return all[0].Writer
	}
	for range 2 {
		known, err := home.Files(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		if known[e.Ref.Path].Hash == e.Hash {
			t.Fatal("a row that says nothing of its login counts as known")
		}
		if err := home.Apply(ctx, index.Batch{Put: []index.Entry{e}}); err != nil {
			t.Fatal(err)
		}
		if got := writer(); got != name {
			t.Errorf("the row is of %q, want %q", got, name)
		}
		administer(t, dsn, "UPDATE anamnesis.notes SET writer = NULL")
		if got := writer(); got != "" {
			t.Errorf("a row of before is of %q", got)
		}
	}
}
