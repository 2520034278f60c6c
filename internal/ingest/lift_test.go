package ingest_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/store/storetest"
	"anamnesis/internal/store/tombstone"
)

// edit changes a note as its owner does.
func (d *door) edit(id note.ID, from, to string) ingest.Outcome {
	d.Helper()
	ref, err := d.store.Find(id)
	if err != nil {
		d.Fatal(err)
	}
	was, err := os.ReadFile(d.store.Path(ref.Path))
	if err != nil {
		d.Fatal(err)
	}
	out, err := d.Edit(d.Context(), ingest.Person, id, was, []byte(strings.Replace(string(was), from, to, 1)), ingest.AskFirst)
	if err != nil {
		d.Fatal(err)
	}
	return out
}

// Whoever writes with an editor what was forgotten wants it, as with add --force.
func TestEditLifts(t *testing.T) {
	for _, c := range []struct {
		name     string
		buried   note.Scope
		scope    note.Scope // of the note
		body     string     // before
		from, to string
		lifted   bool
	}{
		{"to what was forgotten", note.Portable, note.Portable, "on tuesday", "on tuesday", "on monday", true},
		{"to something else", note.Portable, note.Portable, "on tuesday", "on tuesday", "on friday", false},
		{"to what was forgotten here alone", note.Local, note.Portable, "on tuesday", "on tuesday", "on monday", false},
		{"a machine-local note to what was forgotten everywhere", note.Portable, note.Local, "on tuesday", "on tuesday", "on monday", true},
		{"another field of a note that stands", note.Portable, note.Portable, "on monday", "tags: []", "tags:\n- a", false},
		{"a scope, so that it travels", note.Portable, note.Local, "on monday", "scope: machine-local", "scope: portable", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDoor(t)
			n := d.add(note.Note{Title: "keys rotate", Body: c.body, Scope: c.scope}, false)
			stone := tombstone.New("gone", "keys rotate\non monday", d.now.Add(-time.Hour))
			if err := tombstone.Write(storetest.Writer(d.store), c.buried, stone); err != nil {
				t.Fatal(err)
			}
			out := d.edit(n.Note.ID, c.from, c.to)
			if out.Result != ingest.Updated || out.Revoked != c.lifted {
				t.Errorf("%v, lifted %v", out.Result, out.Revoked)
			}
			if c.name == "another field of a note that stands" {
				return // what is to be erased is erased
			}
			erased, err := tombstone.Apply(storetest.Writer(d.store))
			if err != nil || len(erased) > 0 {
				t.Errorf("erased %v %v", erased, err)
			}
		})
	}
}

// What is written again for this machine alone stays forgotten for the others.
func TestForgottenForTheOthers(t *testing.T) {
	d := newDoor(t)
	n := note.Note{Title: "release train", Body: "runs each friday and nobody minds the noise"}
	if err := tombstone.Write(storetest.Writer(d.store), note.Portable, tombstone.New("gone", n.Statement(), d.now.Add(-time.Hour))); err != nil {
		t.Fatal(err)
	}
	here := n
	here.Scope = note.Local
	if out := d.add(here, false); out.Result != ingest.Dropped {
		t.Errorf("it comes back as a note of this machine: %v", out.Result)
	}
	local := d.add(here, true)
	if local.Result != ingest.Created || !local.Revoked {
		t.Fatalf("%+v", local)
	}
	if out := d.add(n, false); out.Result != ingest.Dropped {
		t.Errorf("it comes back as a note that travels: %v", out.Result)
	}
	// Now it is to travel after all: the note moves, and the tombstone is lifted for it.
	moved := n
	moved.ID = local.Note.ID
	if out := d.add(moved, true); out.Result != ingest.Updated || !out.Revoked || !strings.HasPrefix(out.Ref.Path, "memory/") {
		t.Fatalf("%+v", out)
	}
	if out := d.add(n, false); out.Result != ingest.Unchanged {
		t.Errorf("%v %s", out.Result, out.Why)
	}
	if erased, err := tombstone.Apply(storetest.Writer(d.store)); err != nil || len(erased) > 0 {
		t.Errorf("erased %v %v", erased, err)
	}
}
