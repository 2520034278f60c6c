package ingest_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

func (d *door) named(id note.ID, n note.Note) note.ID {
	d.Helper()
	n.ID = id
	if n.Title == "" {
		n.Title = "note " + string(id)
	}
	d.add(n, true)
	return id
}

func TestSupersede(t *testing.T) {
	d := newDoor(t)
	a, b, c := d.named("a", note.Note{}), d.named("b", note.Note{}), d.named("c", note.Note{})
	supersede := func(old, by note.ID, undo bool, want ingest.Result) {
		t.Helper()
		out, err := d.Supersede(t.Context(), old, by, undo)
		if err != nil || out.Result != want {
			t.Fatalf("Supersede(%s, %s, %v) = %v, %v; want %v", old, by, undo, out.Result, err, want)
		}
	}
	supersede(a, b, false, ingest.Updated)
	supersede(a, b, false, ingest.Unchanged)
	supersede(b, c, false, ingest.Updated)
	for _, pair := range [][2]note.ID{{a, a}, {b, a}, {c, a}, {"gone", a}, {a, "gone"}} {
		if _, err := d.Supersede(t.Context(), pair[0], pair[1], false); err == nil {
			t.Errorf("Supersede(%s, %s) was allowed", pair[0], pair[1])
		}
	}
	row, _, _ := d.index.Lookup(t.Context(), a)
	if row.SupersededBy != b {
		t.Errorf("a is superseded by %q", row.SupersededBy)
	}
	supersede(a, b, true, ingest.Updated)
	supersede(a, b, true, ingest.Unchanged)
	if row, _, _ = d.index.Lookup(t.Context(), a); row.SupersededBy != "" {
		t.Errorf("a is still superseded by %q", row.SupersededBy)
	}
}

func TestEdit(t *testing.T) {
	d := newDoor(t)
	id := d.named("a", note.Note{Type: note.Episodic, Body: "one", Tags: []string{"session", "reflected"}})
	ref, _ := d.store.Find(id)
	_, was, _, _ := d.store.Read(ref.Path)
	d.now = d.now.Add(time.Hour)
	edit := func(from, to string) (ingest.Outcome, error) {
		return d.Edit(t.Context(), ingest.Person, id, was, []byte(strings.Replace(string(was), from, to, 1)), ingest.AskFirst)
	}
	for _, bad := range [][2]string{{"id: a", "id: b"}, {"---\n", ""}, {"type: episodic", "type: poem"}, {"title: note a", "title: ''"}} {
		if out, err := edit(bad[0], bad[1]); err == nil {
			t.Errorf("%q instead of %q was taken: %v", bad[1], bad[0], out.Result)
		}
	}
	if out, err := edit("nothing", "something"); err != nil || out.Result != ingest.Unchanged {
		t.Errorf("an edit that changes nothing: %v, %v", out.Result, err)
	}
	if out, err := edit("one", "two"); err != nil || out.Result != ingest.Updated {
		t.Fatalf("Edit = %v, %v", out.Result, err)
	}
	n := d.read(id)
	if n.Body != "two" || n.HasTag("reflected") || n.UpdatedAt != note.At(d.now) {
		t.Errorf("after the edit: %q, tags %v, updated %s", n.Body, n.Tags, n.UpdatedAt)
	}
	ref, _ = d.store.Find(id)
	_, was, _, _ = d.store.Read(ref.Path)
	if out, err := edit("scope: portable", "scope: machine-local"); err != nil || out.Ref.Path != "local/episodic/a.md" {
		t.Errorf("a note that was made local stands in %s, %v", out.Ref.Path, err)
	}
	was = append(was, " and more"...)
	if _, err := edit("one", "three"); !errors.Is(err, ingest.ErrChanged) {
		t.Errorf("an edit of what is not there any more: %v, want ErrChanged", err)
	}
}

func TestDedup(t *testing.T) {
	const body = "The staging database is shared by both teams, so announce it."
	d := newDoor(t)
	d.named("a", note.Note{Project: "p", Body: body, Tags: []string{"x"}})
	d.now = d.now.Add(time.Hour)
	d.named("b", note.Note{Project: "p", Body: body, Tags: []string{"y"}, Supersedes: []note.ID{"old"}})
	d.named("g", note.Note{Project: note.Global, Body: body})
	d.named("q", note.Note{Project: "q", Body: body})
	d.named("how", note.Note{Project: "p", Body: body, Type: note.Procedural})
	d.named("s1", note.Note{Project: "p", Body: "Never."})
	d.named("s2", note.Note{Project: "p", Body: "Never."})
	d.named("refers", note.Note{Project: "p", Body: "refers", DerivedFrom: []note.ID{"b", "a", "how"}})
	plan, err := d.PlanDedup(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range plan {
		got = append(got, string(p.Drop.ID)+">"+string(p.Keep.ID))
	}
	if want := []string{"a>g", "b>g", "q>g"}; !slices.Equal(got, want) {
		t.Fatalf("plan %v, want %v", got, want)
	}
	if n, err := d.Dedup(t.Context(), plan); n != 3 || err != nil {
		t.Fatalf("Dedup = %d, %v", n, err)
	}
	kept := d.read("g")
	if !slices.Equal(kept.Tags, []string{"x", "y"}) || !slices.Equal(kept.Supersedes, []note.ID{"old"}) {
		t.Errorf("kept: tags %v, supersedes %v", kept.Tags, kept.Supersedes)
	}
	if from := d.read("refers").DerivedFrom; !slices.Equal(from, []note.ID{"g", "how"}) {
		t.Errorf("references: %v", from)
	}
	if row, ok, err := d.index.Lookup(t.Context(), "g"); err != nil || !ok || row.Dead {
		t.Errorf("the index lost what stays: %v, %v, %v", row.ID, ok, err)
	}
	if n, err := d.Dedup(t.Context(), plan); n != 0 || err != nil {
		t.Errorf("a plan that is carried out: %d, %v", n, err)
	}
	for _, id := range []note.ID{"a", "b", "q"} {
		revs, err := d.store.History(id)
		if err != nil || len(revs) == 0 || revs[0].Reason != store.Deleted {
			t.Errorf("%s has no former form to come back to: %v, %v", id, revs, err)
		}
	}
}

func TestHandoff(t *testing.T) {
	d := newDoor(t)
	out, err := d.LeaveHandoff(t.Context(), ingest.Handoff{Project: "p", Title: "half done", Body: "key " + secret, By: ingest.Agent, Here: "p"})
	if err != nil {
		t.Fatal(err)
	}
	id := out.Note.ID
	if n := d.read(id); n.Provenance.Source != note.Agent || strings.Contains(n.Body, secret) || n.Kind != note.Handoff {
		t.Errorf("the handoff is %+v", n)
	}
	for _, bad := range []ingest.Handoff{{Title: "x"}, {Project: note.Global, Title: "x"}, {Project: "p"}, {Project: "p", Title: "x", Days: 31}, {Project: "p", Title: "x", Days: -1}} {
		if _, err := d.LeaveHandoff(t.Context(), bad); err == nil {
			t.Errorf("%+v was taken", bad)
		}
	}
	waits := func(want int) {
		t.Helper()
		if rows, err := d.Handoffs(t.Context(), []string{"p"}); err != nil || len(rows) != want {
			t.Errorf("%d wait (%v), want %d", len(rows), err, want)
		}
	}
	waits(1)
	taken := func(session string, want int) {
		t.Helper()
		if err := d.AcknowledgeHandoffs(t.Context(), session, []string{"p"}); err != nil {
			t.Error(err)
		}
		waits(want)
	}
	taken("s1", 1) // it was never shown
	if err := d.store.Events().Log(store.Record{Kind: store.Injected, Session: "s1", Notes: []note.ID{id}}); err != nil {
		t.Fatal(err)
	}
	taken("", 1)
	taken("s2", 1)
	taken("s1", 0)
	taken("s1", 0)
	if n := d.read(id); n.Status != "archived" || n.StatusReason != "taken over by session s1" {
		t.Errorf("status %q (%q)", n.Status, n.StatusReason)
	}

	other, err := d.LeaveHandoff(t.Context(), ingest.Handoff{Project: "p", Title: "later", Days: 1, By: ingest.Agent, Here: "p"})
	if err != nil {
		t.Fatal(err)
	}
	waits(1)
	d.now = d.now.Add(25 * time.Hour)
	waits(0) // its day is over
	if out, err := d.AcknowledgeHandoff(t.Context(), other.Note.ID, ""); err != nil || out.Result != ingest.Updated {
		t.Errorf("Acknowledge = %v, %v", out.Result, err)
	}
	if _, err := d.AcknowledgeHandoff(t.Context(), d.named("plain", note.Note{}), ""); err == nil {
		t.Error("a note that is no handoff was acknowledged")
	}
}
