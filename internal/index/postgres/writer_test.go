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

// What an owner of the workspace wrote stays in force whatever guests and members write, at once and after the
// owner's next sync; and what the owner replaced does not come back.
func TestOwnersNotesStayInForce(t *testing.T) {
	dsn, ctx := migrated(t), t.Context()
	me, _ := login(t, dsn, schema.Owner)
	ci, _ := login(t, dsn, schema.Writer)
	put := func(o postgres.Options, entries ...index.Entry) {
		t.Helper()
		if err := open(t, o).Apply(ctx, index.Batch{Put: entries}); err != nil {
			t.Fatal(err)
		}
	}
	written := func(id, branch string, updated note.Stamp, supersedes ...note.ID) index.Entry {
		return entry(&note.Note{
			ID: note.ID(id), Type: note.Semantic, Title: "Title of " + id, Body: "kestrel " + id, Project: "p", MachineID: "m",
			Scope: note.Portable, Provenance: note.Provenance{Source: note.Agent, Confidence: 1}, UpdatedAt: updated, Branch: branch,
			Supersedes: supersedes,
		}, nil)
	}
	home := postgres.Options{DSN: me, Origin: "home", Vouches: true}
	put(home, trusted("mine", "kestrel", "2026-01-01T00:00:00Z"), written("agents", "", "2026-01-01T00:00:00Z"),
		written("old", "", "2026-01-01T00:00:00Z"), written("new", "", "2026-01-02T00:00:00Z", "old"))
	inForce := func(when string) {
		t.Helper()
		for _, reader := range []postgres.Options{{DSN: ci, Origin: "away/reader"}, home} {
			rows, err := open(t, reader).Select(ctx, index.Filter{Branches: []string{"", "topic"}}, 0)
			if err != nil {
				t.Fatal(err)
			}
			found := make(map[note.ID]int)
			for _, r := range rows {
				found[r.ID]++
			}
			for id, want := range map[note.ID]int{"mine": 1, "agents": 1, "old": 0, "new": 1} {
				if found[id] != want {
					t.Errorf("%s, %s: %q is there %d times, want %d", when, reader.Origin, id, found[id], want)
				}
			}
		}
	}
	inForce("before")
	const later = "2026-03-01T00:00:00Z"
	put(postgres.Options{DSN: ci, Origin: "away/a"}, written("forged", "", later, "mine", "agents"), written("new", "", later))
	put(postgres.Options{DSN: ci, Origin: "member"}, written("topic", "topic", later, "mine", "agents"), written("theirs", "", later))
	put(postgres.Options{DSN: me, Origin: "away/mine"}, written("guest", "", later, "mine", "theirs"))
	inForce("after a guest, a member and the owner's guest wrote")
	put(home, written("another", "", later))
	inForce("after the owner wrote")

	conn, err := schema.Connect(ctx, ci)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, "SELECT set_config('anamnesis.workspace', $1, false)", team); err != nil {
		t.Fatal(err)
	}
	for _, set := range []string{"superseded_by = 'forged'", "superseded_by = ''", "shared = false", "shared = NOT shared", "superseded_by = 'x', shared = true"} {
		if tag, err := conn.Exec(ctx, "UPDATE anamnesis.notes SET "+set+" WHERE origin = 'home'"); err == nil && tag.RowsAffected() > 0 {
			t.Errorf("a writer sets %s of %d rows of the owner", set, tag.RowsAffected())
		}
	}
	inForce("after a writer set the columns")

	// Writers still replace each other's notes, and an owner replaces a writer's.
	put(home, written("last", "", later, "theirs"))
	put(postgres.Options{DSN: ci, Origin: "away/b"}, written("follows", "", later, "forged"))
	rows, err := open(t, home).Select(ctx, index.Filter{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if r.ID == "theirs" || r.ID == "forged" {
			t.Errorf("%q is in force, and was replaced", r.ID)
		}
	}
}
