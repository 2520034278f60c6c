package postgres_test

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/index/postgres"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

var noon = time.Date(2026, 7, 2, 12, 0, 0, 0, time.UTC)

// entry makes the entry of a note, as Sync would.
func entry(n *note.Note, side *note.Sidecar) index.Entry {
	n.Type, n.Scope, n.Project = cmp.Or(n.Type, note.Semantic), cmp.Or(n.Scope, note.Portable), cmp.Or(n.Project, "p")
	if n.UpdatedAt == "" {
		n.UpdatedAt = note.At(noon)
	}
	data := n.Format()
	return index.NewEntry(n, store.Ref{
		Path: store.NotePath(n.Scope, n.Type, n.ID), Scope: n.Scope, Size: int64(len(data)), ModTime: noon,
	}, data, side)
}

func put(t testing.TB, db *postgres.DB, notes ...*note.Note) {
	t.Helper()
	var b index.Batch
	for _, n := range notes {
		b.Put = append(b.Put, entry(n, nil))
	}
	apply(t, db, b)
}

func apply(t testing.TB, db *postgres.DB, b index.Batch) {
	t.Helper()
	if err := db.Apply(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

// changeLines returns changes as text: "+path" or "-path".
func changeLines(all []index.Change) (out []string) {
	for _, c := range all {
		out = append(out, map[bool]string{false: "+", true: "-"}[c.Dropped]+c.Path)
	}
	return out
}

func path(id note.ID) string { return store.NotePath(note.Portable, note.Semantic, id) }

func TestChanges(t *testing.T) {
	dsn := migrated(t)
	here, there := open(t, postgres.Options{DSN: dsn, Origin: "here"}), open(t, postgres.Options{DSN: dsn, Origin: "there"})
	since := int64(0)
	ask := func(what string, limit int, want ...string) []index.Change {
		t.Helper()
		got, next, err := here.Changes(t.Context(), since, limit)
		if err != nil || !slices.Equal(changeLines(got), want) {
			t.Fatalf("%s: %q, %v; want %q", what, changeLines(got), err, want)
		}
		if next < since {
			t.Errorf("%s: %d comes after %d", what, next, since)
		}
		since = next
		return got
	}
	ask("nothing yet", 10)
	side := &note.Sidecar{
		Entities: []note.Entity{{Name: "pool", Type: note.Concept}},
		Edges:    []note.Edge{{Source: "timeout", Target: "pool", Relation: note.CausedBy, Strength: 7}},
	}
	b := entry(&note.Note{ID: "b", Title: "b"}, side)
	put(t, here, &note.Note{ID: "ours", Title: "x"})
	apply(t, there, index.Batch{Put: []index.Entry{b}})
	got := ask("of others only", 10, "+"+path("b"))[0]
	if got.Origin != "there" || got.Member != "postgres" || string(got.Text) != string(b.Text) || got.Hash != b.Hash || got.Size != b.Ref.Size ||
		got.ModTime != noon.UnixNano() || !slices.Equal(got.Entities, b.Entities) || got.Declared != b.Declared || len(got.Edges) != 1 ||
		got.Edges[0].FromName != "timeout" {
		t.Errorf("the change is %+v, want what was put: %+v", got, b)
	}
	ask("nothing new", 10)
	put(t, there, &note.Note{ID: "c", Title: "c"})
	put(t, there, &note.Note{ID: "d", Title: "d"})
	apply(t, there, index.Batch{Drop: []string{path("b")}})
	ask("limit", 1, "+"+path("c"))
	ask("the rest", 10, "+"+path("d"), "-"+path("b"))
	var many []*note.Note
	for i := range 5 {
		many = append(many, &note.Note{ID: note.ID(fmt.Sprintf("m%d", i)), Title: "x"})
	}
	put(t, there, many...)
	if got, _, err := here.Changes(t.Context(), since, 2); len(got) != 5 || err != nil {
		t.Errorf("%d changes of one generation, %v; want all 5", len(got), err)
	}
	moved := entry(&note.Note{ID: "c", Title: "moved"}, nil)
	moved.Ref.Path = "memory/semantic/deep/c.md"
	apply(t, there, index.Batch{Put: []index.Entry{moved}})
	put(t, there, &note.Note{ID: "b", Title: "again"})
	_, since, _ = here.Changes(t.Context(), since, 5)
	ask("what moved, and what came back", 10, "-"+path("c"), "+"+moved.Ref.Path, "+"+path("b"))
	if err := there.Reset(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, _, err := here.Changes(t.Context(), since, 100); len(got) != 8 || err != nil {
		t.Errorf("a reset: %q, %v; want 8 files gone", changeLines(got), err)
	}
	if _, _, err := here.Changes(t.Context(), since+1000, 10); !errors.Is(err, postgres.ErrRewound) {
		t.Errorf("from a generation that is not there yet: %v, want ErrRewound", err)
	}
}

func TestConflicts(t *testing.T) {
	dsn := migrated(t)
	here, there := open(t, postgres.Options{DSN: dsn, Origin: "here"}), open(t, postgres.Options{DSN: dsn, Origin: "there"})
	for _, db := range []*postgres.DB{here, there} {
		put(t, db, &note.Note{ID: "same", Title: "x"}, &note.Note{ID: "a", Title: db.Origin()}, &note.Note{ID: note.ID("of-" + db.Origin()), Title: "x"})
	}
	got, err := here.Conflicts(t.Context())
	if err != nil || len(got) != 1 || got[0].ID != "a" || len(got[0].Copies) != 2 {
		t.Fatalf("Conflicts = %+v, %v; want the note a of two origins", got, err)
	}
	for i, origin := range []string{"here", "there"} {
		c := got[0].Copies[i]
		if c.Origin != origin || c.Member != "postgres" || c.Path != path("a") || !c.Updated.Equal(noon) || c.Hash == (index.Digest{}) {
			t.Errorf("copy %d: %+v", i, c)
		}
	}
	put(t, there, &note.Note{ID: "a", Title: "here"})
	if got, err := here.Conflicts(t.Context()); len(got) != 0 || err != nil {
		t.Errorf("copies that agree: %+v, %v", got, err)
	}
}

// A machine that was copied writes the same origin: the one that compared before gets an error.
func TestConflictingWriters(t *testing.T) {
	dsn := migrated(t)
	one, two := open(t, postgres.Options{DSN: dsn, Origin: "here"}), open(t, postgres.Options{DSN: dsn, Origin: "here"})
	state := func(db *postgres.DB) {
		t.Helper()
		if _, _, _, err := db.State(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	state(one)
	state(two)
	put(t, one, &note.Note{ID: "a", Title: "one"})
	put(t, one, &note.Note{ID: "b", Title: "its own changes are none of others"})
	late := index.Batch{Put: []index.Entry{entry(&note.Note{ID: "a", Title: "two"}, nil)}}
	for range 2 {
		if err := two.Apply(t.Context(), late); !errors.Is(err, postgres.ErrConflict) || !errors.Is(err, index.ErrBusy) {
			t.Fatalf("Apply after another one's: %v, want ErrConflict", err)
		}
	}
	row, _, err := one.Lookup(t.Context(), "a")
	if err != nil || row.Title != "one" {
		t.Errorf("the note says %q, %v", row.Title, err)
	}
	state(two)
	apply(t, two, late)
}
