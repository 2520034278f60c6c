package postgres_test

import (
	"strings"
	"testing"

	"anamnesis/internal/index"
	"anamnesis/internal/index/postgres"
	"anamnesis/internal/index/postgres/schema"
	"anamnesis/internal/note"
)

// An owner takes one note of others away, and nobody brings it back before it is returned.
func TestWithdraw(t *testing.T) {
	dsn, ctx := migrated(t), t.Context()
	at := func(role schema.Role, origin string) *postgres.DB {
		address, _ := login(t, dsn, role)
		return open(t, postgres.Options{DSN: address, Origin: origin})
	}
	ada, bob, boss := at(schema.Writer, "ada"), at(schema.Writer, "bob"), at(schema.Owner, "boss")
	eve := at(schema.Reader, "eve")
	apply(t, ada, index.Batch{Put: []index.Entry{said("a1", "kestrel alpha"), said("Same", "kestrel both")}})
	apply(t, bob, index.Batch{Put: []index.Entry{said("b1", "kestrel gamma"), said("same", "kestrel mine")}})
	_, since, err := eve.Changes(ctx, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	_, before, _, err := ada.State(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for who, db := range map[string]*postgres.DB{"a writer": bob, "a reader": eve} {
		if all, err := db.Withdraw(ctx, "same", "x", "told"); schema.Code(err) != "42501" {
			t.Errorf("%s takes a note away: %v, %v", who, all, err)
		}
	}
	if all, err := eve.Copies(ctx, "same"); err != nil || len(all) != 2 {
		t.Errorf("%+v, %v", all, err)
	}

	all, err := boss.Withdraw(ctx, "same", "out of date", "taken away")
	if err != nil || len(all) != 2 || all[0].Origin != "ada" || all[1].Title != "Title of same" {
		t.Fatalf("%+v, %v", all, err)
	}
	changes, _, err := eve.Changes(ctx, since, 100)
	if err != nil || strings.Join(changeLines(changes), " ") != "-"+path("Same")+" -"+path("same") {
		t.Errorf("others hear %q, %v", changeLines(changes), err)
	}
	if rows, err := eve.Select(ctx, index.Filter{Dead: true}, 0); err != nil || len(rows) != 2 {
		t.Errorf("%d notes are left, %v", len(rows), err)
	}
	if terms, err := eve.Frequencies(ctx, []string{"kestrel"}); err != nil || terms[0].Frequency != 2 {
		t.Errorf("%+v, %v", terms, err)
	}
	if err := boss.Check(ctx); err != nil {
		t.Error(err)
	}
	files, err := ada.Files(ctx, nil)
	if got := files[path("Same")]; err != nil || got.Problem != "taken away" || got.Hash != all[0].Hash || len(files) != 2 {
		t.Errorf("the author is told %+v, %v", files, err)
	}
	if _, after, _, err := ada.State(ctx); after != before || err != nil {
		t.Errorf("the author has %d files of %d, %v", after, before, err)
	}
	for _, db := range []*postgres.DB{ada, bob, boss} {
		if err := db.Apply(ctx, index.Batch{Put: []index.Entry{said("x", "y"), said("SAME", "kestrel in other words")}}); schema.Code(err) != "42501" {
			t.Errorf("%s brings it back: %v", db.Origin(), err)
		}
	}
	standing, err := ada.Standing(ctx)
	if err != nil || len(standing.Withdrawn) != 1 || standing.Withdrawn[0].ID != "same" || standing.Withdrawn[0].Reason != "out of date" ||
		standing.Withdrawn[0].At.IsZero() || standing.Withdrawn[0].Member == "" {
		t.Errorf("%+v, %v", standing, err)
	}
	if again, err := boss.Withdraw(ctx, "same", "twice", "x"); err != nil || len(again) != 0 {
		t.Errorf("again: %+v, %v", again, err)
	}

	if _, err := bob.Return(ctx, "same"); schema.Code(err) != "42501" {
		t.Errorf("a writer returns it: %v", err)
	}
	if there, err := boss.Return(ctx, "Same"); err != nil || !there {
		t.Errorf("the owner returns it: %v, %v", there, err)
	}
	if there, err := boss.Return(ctx, "same"); err != nil || there {
		t.Errorf("twice: %v, %v", there, err)
	}
	apply(t, ada, index.Batch{Put: []index.Entry{said("Same", "kestrel both")}})
	if files, err := ada.Files(ctx, nil); err != nil || files[path("Same")].Problem != "" {
		t.Errorf("%+v, %v", files, err)
	}
	if err := boss.Check(ctx); err != nil {
		t.Error(err)
	}
}

// Who writes an origin leaves a mark there, which its owner alone reads and which stays.
func TestSign(t *testing.T) {
	dsn, ctx := migrated(t), t.Context()
	ada, adaName := login(t, dsn, schema.Writer)
	bob, _ := login(t, dsn, schema.Writer)
	one, two := open(t, postgres.Options{DSN: ada, Origin: "here"}), open(t, postgres.Options{DSN: ada, Origin: "here"})
	mark := func(db *postgres.DB) string {
		t.Helper()
		s, err := db.Standing(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return s.Mark
	}
	put(t, one, &note.Note{ID: "a", Title: "x"})
	if m := mark(one); m != "" {
		t.Errorf("nobody has signed, and the mark is %q", m)
	}
	one.Sign("first")
	put(t, one, &note.Note{ID: "b", Title: "x"})
	put(t, two, &note.Note{ID: "c", Title: "x"})
	if m := mark(two); m != "first" {
		t.Errorf("the mark is %q", m)
	}
	two.Sign("second")
	if err := two.Reset(ctx); err != nil {
		t.Fatal(err)
	}
	put(t, two, &note.Note{ID: "c", Title: "x"})
	if err := two.Purge(ctx, 0); err != nil {
		t.Fatal(err)
	}
	if m := mark(one); m != "second" {
		t.Errorf("the mark is %q", m)
	}
	other := open(t, postgres.Options{DSN: bob, Origin: "here"})
	if m := mark(other); m != "" {
		t.Errorf("another member reads the mark %q", m)
	}
	standing, err := other.Standing(ctx)
	if err != nil || standing.Holder != adaName {
		t.Errorf("the origin is of %q for another one, %v", standing.Holder, err)
	}
	if standing, err := one.Standing(ctx); err != nil || standing.Holder != "" {
		t.Errorf("the origin is of %q for its writer, %v", standing.Holder, err)
	}
}
