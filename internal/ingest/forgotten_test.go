package ingest_test

import (
	"strings"
	"testing"

	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/store/storetest"
	"anamnesis/internal/store/tombstone"
)

const broker = "The queue broker restarts nightly at three because of a memory leak in the consumer."

// forget forgets a note as its owner does.
func (d *door) forget(id note.ID) {
	d.Helper()
	f, err := tombstone.Forget(storetest.Writer(d.store), id)
	if err == nil {
		err = d.index.Refresh(d.Context(), f.Notes...)
	}
	if err != nil {
		d.Fatal(err)
	}
}

// Agents and captures call the same thing by another name each time.
func TestForgottenUnderAnotherTitle(t *testing.T) {
	d := newDoor(t)
	d.forget(d.add(note.Note{Title: "Queue", Body: broker}, false).Note.ID)
	for _, n := range []note.Note{
		{Title: "Nightly broker restart", Body: broker, Provenance: machine(note.Agent)},
		{Title: "Nightly broker restart", Body: broker + "!", Provenance: machine(note.Agent), Scope: note.Local},
		{Title: "Restarts", Body: "the queue broker restarts nightly at three\nbecause of a memory leak in the consumer", Provenance: machine(note.SessionEnd), Type: note.Episodic},
		{Title: "Broker", Body: broker}, // without force
	} {
		if out := d.add(n, false); out.Result != ingest.Dropped || !strings.Contains(out.Why, "was forgotten on 2026-11-20") {
			t.Errorf("%q: %v %s", n.Title, out.Result, out.Why)
		}
	}
	for _, body := range []string{broker + " It was mended by the release of May, and nobody has seen it since.", "restarts nightly"} {
		if out := d.add(note.Note{Title: "Queue", Body: body, Provenance: machine(note.Agent)}, false); out.Result != ingest.Created {
			t.Errorf("%q: %v %s", body, out.Result, out.Why)
		}
	}
	// What a person writes on purpose is welcome from then on, whoever says it.
	if out := d.add(note.Note{Title: "Broker", Body: broker}, true); out.Result != ingest.Created || !out.Revoked {
		t.Errorf("its owner insists: %v, lifted %v", out.Result, out.Revoked)
	}
	if out := d.add(note.Note{Title: "Broker at night", Body: broker, Provenance: machine(note.Agent)}, false); out.Result == ingest.Dropped {
		t.Error("it is forgotten still")
	}
	if erased, err := tombstone.Apply(storetest.Writer(d.store)); err != nil || len(erased) > 0 {
		t.Errorf("erased %v %v", erased, err)
	}
}

// Who edits a note so that it says what was forgotten wants it, under any title.
func TestEditLiftsABody(t *testing.T) {
	d := newDoor(t)
	d.forget(d.add(note.Note{Title: "Queue", Body: broker}, false).Note.ID)
	other := d.add(note.Note{Title: "Broker", Body: "tbd"}, false)
	if out := d.edit(other.Note.ID, "tbd", broker); out.Result != ingest.Updated || !out.Revoked {
		t.Errorf("%v, lifted %v", out.Result, out.Revoked)
	}
	if erased, err := tombstone.Apply(storetest.Writer(d.store)); err != nil || len(erased) > 0 {
		t.Errorf("erased %v %v", erased, err)
	}
}

// Most of what is said of a session is said of others too: that a body nearly says
// what was forgotten is no reason to refuse it, as it is for other notes.
func TestForgottenSession(t *testing.T) {
	d := newDoor(t)
	n := note.Note{Title: "Why the nightly build is red", Body: strings.Replace(long, "everyone who", "anyone who", 1), Provenance: machine(note.SessionEnd)}
	for i := 0; ; i++ { // which copies are near depends on the salt
		stone := tombstone.New("gone", "Generated clients\n"+long, d.now)
		of := stone
		if of.BodySimhash = ""; stone.Recognises(n.Fingerprint()) && !of.Recognises(n.Fingerprint()) {
			if err := tombstone.Write(storetest.Writer(d.store), note.Portable, stone); err != nil {
				t.Fatal(err)
			}
			break
		}
		if i == 100_000 {
			t.Fatal("no salt makes it a near-copy")
		}
	}
	if out := d.add(n, false); out.Result != ingest.Dropped {
		t.Errorf("what an agent learned: %v", out.Result)
	}
	n.Type = note.Episodic
	if out := d.add(n, false); out.Result != ingest.Created {
		t.Errorf("what a session did: %v %s", out.Result, out.Why)
	}
	n.Body = long
	if out := d.add(n, false); out.Result != ingest.Dropped {
		t.Errorf("a session of the very body: %v", out.Result)
	}
}

// What goes with a note is not named among what stays.
func TestAlikeWithoutTheSameBody(t *testing.T) {
	d := newDoor(t)
	n := d.add(note.Note{Title: "grpc clients", Body: long}, false)
	d.add(note.Note{Title: "grpc clients again", Body: long, Type: note.Procedural}, false)
	stays := d.add(note.Note{Title: "grpc clients", Body: long + " or night"}, true)
	all, err := d.Alike(t.Context(), n.Note)
	if err != nil || len(all) != 1 || all[0].ID != stays.Note.ID {
		t.Errorf("%+v %v", all, err)
	}
}
