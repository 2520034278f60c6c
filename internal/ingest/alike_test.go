package ingest_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"anamnesis/internal/index"
	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/store/storetest"
	"anamnesis/internal/store/tombstone"
)

// What nearly says the forgotten lives on under other ids; whoever forgets is shown.
func TestAlike(t *testing.T) {
	near := strings.Replace(long, "day", "date", 1)
	base := note.Note{Title: "grpc clients", Body: long, Project: "p"}
	for _, c := range []struct {
		name   string
		change func(*note.Note)
		want   bool
		state  string
	}{
		{"nearly the same", func(*note.Note) {}, true, ingest.LikeLive},
		{"of another type", func(n *note.Note) { n.Type = note.Episodic }, true, ingest.LikeLive},
		{"on this machine alone", func(n *note.Note) { n.Scope = note.Local }, true, ingest.LikeLive},
		{"of every project", func(n *note.Note) { n.Project = note.Global }, true, ingest.LikeLive},
		{"of another project", func(n *note.Note) { n.Project = "q" }, false, ""},
		{"archived", func(n *note.Note) { n.Status = "archived" }, true, "archived"},
		{"archived, of another project", func(n *note.Note) { n.Status, n.Project = "archived", "q" }, false, ""},
		{"of a time that is over", func(n *note.Note) { n.ForgetAfter = "2020-01-01T00:00:00+00:00" }, true, ingest.LikeExpired},
		{"not read yet", func(n *note.Note) { n.Quarantine = true }, true, ingest.LikeQuarantine},
		{"exactly the same, which goes with it", func(n *note.Note) { n.Body, n.Type = long, note.Procedural }, false, ""},
		{"another number", func(n *note.Note) { n.Body = near + " within 60 minutes" }, false, ""},
		{"something else", func(n *note.Note) { n.Body = "quite another matter altogether" }, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDoor(t)
			gone := d.add(base, false)
			other := base
			other.Body = near
			c.change(&other)
			stays := d.add(other, true)
			rows, err := d.Alike(t.Context(), gone.Note)
			if err != nil {
				t.Fatal(err)
			}
			want := ingest.Like{ID: stays.Note.ID, Title: stays.Note.Title, Project: stays.Note.Project, State: c.state}
			if got := slices.ContainsFunc(rows, func(l ingest.Like) bool { l.Row = index.Row{}; return reflect.DeepEqual(l, want) }); got != c.want || len(rows) > 1 {
				t.Errorf("alike: %+v", rows)
			}
			// The note need not be there any more, nor anything else.
			if _, err := tombstone.Forget(storetest.Writer(d.store), gone.Note.ID); err != nil {
				t.Fatal(err)
			}
			if rows, err := d.Alike(t.Context(), gone.Note); err != nil || (len(rows) > 0) != c.want {
				t.Errorf("afterwards: %+v %v", rows, err)
			}
		})
	}
	d := newDoor(t)
	if rows, err := d.Alike(t.Context(), &note.Note{}); err != nil || len(rows) > 0 {
		t.Errorf("like nothing: %+v %v", rows, err)
	}
	// A note for every project is like one of any.
	one := d.add(base, false)
	all := base
	all.Body, all.Project = near, note.Global
	rows, err := d.Alike(t.Context(), d.add(all, false).Note)
	if err != nil || len(rows) != 1 || rows[0].ID != one.Note.ID {
		t.Errorf("like a global note: %+v %v", rows, err)
	}
}

// A draft that waits would be kept later; a note that was replaced comes back.
func TestAlikeWaiting(t *testing.T) {
	near := strings.Replace(long, "day", "date", 1)
	base := note.Note{Title: "grpc clients", Body: long, Project: "p"}
	d := newDoor(t)
	gone := d.add(base, false)
	draft := base
	draft.Body, draft.Provenance.Source = near, note.Agent
	held := d.add(draft, false)
	if held.Result != ingest.Held {
		t.Fatalf("%+v", held)
	}
	for _, c := range []struct {
		name   string
		change func(old, by *note.Note)
		also   bool // another note supersedes it too
		state  string
	}{
		{"replaced", func(_, _ *note.Note) {}, false, ingest.LikeResurfaced},
		{"replaced by a note of a branch", func(_, by *note.Note) { by.Branch = "next" }, false, ingest.LikeResurfaced},
		{"replaced by two", func(_, _ *note.Note) {}, true, ""},
		{"replaced and archived", func(old, _ *note.Note) { old.Status = "archived" }, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDoor(t)
			old, by := base, base
			old.Body, by.Body = "Quite another text, of which no word is in the new one.", long
			c.change(&old, &by)
			first := d.add(old, true)
			by.Supersedes = []note.ID{first.Note.ID}
			second := d.add(by, true)
			if c.also {
				by.Title, by.Body = "third", "It says it in its own words."
				d.add(by, true)
			}
			got, err := d.Alike(t.Context(), second.Note)
			if err != nil {
				t.Fatal(err)
			}
			if c.state == "" {
				if len(got) > 0 {
					t.Errorf("%+v", got)
				}
			} else if len(got) != 1 || got[0].ID != first.Note.ID || got[0].State != c.state {
				t.Errorf("%+v", got)
			}
		})
	}
	got, err := d.Alike(t.Context(), gone.Note)
	if err != nil || len(got) != 1 || got[0].ID != held.Note.ID || got[0].State != ingest.LikeDraft || got[0].Title != "grpc clients" {
		t.Errorf("%+v %v", got, err)
	}
}

// What a machine says again with a word more is held, however short it is.
func TestRepetitionsAreHeld(t *testing.T) {
	const said = "The harvest planner computes the sowing dates of leeks parsnips carrots onions garlic beans peas kale chard beets from the frost table of the weather service"
	for _, c := range []struct {
		name, body, source string
		want               ingest.Result
	}{
		{"another word", "from 5 to 3 " + said + " nightly", "agent", ingest.Held},
		{"another order", "From 5 to 3 the frost table of the weather service the harvest planner computes the sowing dates of leeks parsnips carrots onions garlic beans peas kale chard beets from", "agent", ingest.Held},
		{"another number", "from 5 to 4 " + said, "agent", ingest.Created},
		{"numbers in another order", "from 3 to 5 " + said, "agent", ingest.Created},
		{"something else", "The harvest planner is written in Go", "agent", ingest.Created},
		{"by a person", "from 5 to 3 " + said + " nightly", note.Human, ingest.Created},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDoor(t)
			base := note.Note{Title: "Planner", Body: "from 5 to 3 " + said, Project: "p", Provenance: note.Provenance{Source: "agent"}}
			d.add(base, false)
			base.Body, base.Provenance.Source = c.body, c.source
			if out := d.add(base, false); out.Result != c.want {
				t.Errorf("%v (%s), want %v", out.Result, out.Why, c.want)
			}
		})
	}
}
