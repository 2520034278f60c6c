package postgres_test

import (
	"context"
	"fmt"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/index/indextest"
	"anamnesis/internal/index/postgres"
	"anamnesis/internal/index/postgres/schema"
	"anamnesis/internal/note"
)

var logins atomic.Int64

// login makes a login that is a member of the workspace of the tests, and returns its
// address and its name.
func login(t testing.TB, dsn string, role schema.Role) (address, name string) {
	t.Helper()
	name = fmt.Sprintf("m%d", logins.Add(1))
	administer(t, dsn, "CREATE ROLE "+name+" LOGIN PASSWORD 'pw'")
	t.Cleanup(func() { administer(t, dsn, "DROP OWNED BY "+name+"; DROP ROLE "+name) })
	if grant, err := schema.AddMember(t.Context(), dsn, team, name, role); err != nil || grant != "" {
		t.Fatalf("%q, %v", grant, err)
	}
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(name, "pw")
	return u.String(), name
}

func administer(t testing.TB, dsn, text string) {
	t.Helper()
	ctx := context.Background()
	conn, err := schema.Connect(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, text); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

// The whole contract holds for a writer, to whom the rules of rows apply; with pgvector
// where the server has it.
func TestContractAsWriter(t *testing.T) {
	indextest.Run(t, func(t *testing.T) indextest.Database {
		dsn := migrated(t)
		if _, err := schema.UseVector(t.Context(), dsn, schema.VectorOptions{}); err != nil {
			t.Fatal(err)
		}
		writer, _ := login(t, dsn, schema.Writer)
		return indextest.Database{
			Open: func(t *testing.T, origin string) index.Backend {
				return open(t, postgres.Options{DSN: writer, Origin: origin, Busy: 50 * time.Millisecond})
			},
			Hold: func(t *testing.T) func() { return hold(t, dsn) },
		}
	})
}

func said(id, body string) index.Entry {
	return entry(&note.Note{
		ID: note.ID(id), Type: note.Semantic, Title: "Title of " + id, Body: body, Project: "p", MachineID: "m", Scope: note.Portable,
		Provenance: note.Provenance{Source: note.Human, Confidence: 1},
	}, nil)
}

// Members write their own origins, read all, and see what an owner takes away as gone.
func TestMembersOfOneWorkspace(t *testing.T) {
	dsn, ctx := migrated(t), t.Context()
	ada, adaName := login(t, dsn, schema.Writer)
	bob, _ := login(t, dsn, schema.Writer)
	eve, _ := login(t, dsn, schema.Reader)
	boss, _ := login(t, dsn, schema.Owner)
	put := func(address, origin string, entries ...index.Entry) error {
		t.Helper()
		db := open(t, postgres.Options{DSN: address, Origin: origin})
		return db.Apply(ctx, index.Batch{Put: entries})
	}
	for _, err := range []error{
		put(ada, "ada 1", said("a1", "kestrel alpha"), said("same", "kestrel both")), put(ada, "ada 2", said("a2", "kestrel beta")),
		put(bob, "bob", said("b1", "kestrel gamma"), said("same", "kestrel both")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := put(bob, "ada 1", said("x", "kestrel forged")); err == nil {
		t.Error("a writer writes the origin of another")
	}
	if err := put(eve, "eve", said("x", "kestrel forged")); err == nil {
		t.Error("a reader writes")
	}
	count := func(address string) (n int) {
		t.Helper()
		db := open(t, postgres.Options{DSN: address, Origin: "looking", ReadOnly: true})
		rows, err := db.Select(ctx, index.Filter{Dead: true}, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Check(ctx); err != nil {
			t.Error(err)
		}
		return len(rows)
	}
	if n := count(eve); n != 4 {
		t.Errorf("a reader sees %d notes, want 4", n)
	}
	for _, address := range []string{bob, eve} {
		if done, err := postgres.RemoveNotes(ctx, postgres.Options{DSN: address, Workspace: team}, adaName); err == nil {
			t.Errorf("who owns nothing removes %+v", done)
		}
	}
	if n := count(eve); n != 4 {
		t.Errorf("%d notes are left, want 4", n)
	}
	if err := schema.RemoveMember(ctx, boss, team, adaName); err != nil {
		t.Fatal(err)
	}
	if _, err := postgres.Open(ctx, postgres.Options{DSN: ada, Workspace: team, Origin: "ada 1"}); err == nil {
		t.Error("who has left opens the index")
	}
	if n := count(eve); n != 4 {
		t.Errorf("with the member %d notes went", 4-n)
	}
	done, err := postgres.RemoveNotes(ctx, postgres.Options{DSN: boss, Workspace: team}, adaName)
	if err != nil || done != (postgres.Removed{Origins: 2, Notes: 3}) {
		t.Errorf("%+v, %v", done, err)
	}
	if n := count(eve); n != 2 {
		t.Errorf("%d notes are left, want 2", n)
	}
	if done, err := postgres.RemoveNotes(ctx, postgres.Options{DSN: boss, Workspace: team}, adaName); err != nil || done != (postgres.Removed{}) {
		t.Errorf("again: %+v, %v", done, err)
	}
	// Who comes back does not fill the origins again that the owner emptied.
	if _, err := schema.AddMember(ctx, boss, team, adaName, schema.Writer); err != nil {
		t.Fatal(err)
	}
	if err := put(ada, "ada 1", said("a1", "kestrel alpha")); err == nil {
		t.Error("the origin that was taken away is written by its former member")
	}
	if err := put(bob, "bob", said("b2", "kestrel delta")); err != nil {
		t.Error(err)
	}
}
