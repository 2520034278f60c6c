package reflection_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/note"
	"anamnesis/internal/reflection"
	"anamnesis/internal/store/queue"
	"anamnesis/internal/store/storetest"
)

const other = `[{"type": "semantic", "title": "Something else", "body": "Said by a model in another mood."},
	{"type": "semantic", "title": "And more", "body": "Of the same mood."}, {"type": "semantic", "title": "And even more", "body": "Still in it."}]`

// The run is stopped at its first, second … change of the disk. The next run,
// whose model would say something else, leaves what one run would have left:
// all notes of one answer, each once, and every session tagged.
func TestStoppedAtEveryWrite(t *testing.T) {
	t.Parallel()
	template, o := t.TempDir(), plain
	o.MinSessions = 2
	w := openWorld(t, template, nil, o)
	sources := w.sessions("p", 2)
	if err := w.index.Close(); err != nil {
		t.Fatal(err)
	}
	steps, resumed := 0, 0
	for at := 0; ; at++ {
		root := filepath.Join(t.TempDir(), "store")
		if err := os.CopyFS(root, os.DirFS(template)); err != nil {
			t.Fatal(err)
		}
		left := at
		stopped := openWorld(t, root, stopDisk{left: &left}, o)
		stopped.answers(good)
		_, err := stopped.Apply(t.Context(), "p")
		if err := stopped.index.Close(); err != nil {
			t.Fatal(err)
		}
		healthy := openWorld(t, root, nil, o)
		healthy.answers(other)
		rep, again := healthy.Apply(t.Context(), "p")
		if again != nil || rep.Stale != nil {
			t.Fatalf("stopped at %d (%v): the next run fails: %v, %v", at, err, again, rep.Stale)
		}
		if rep.Resumed {
			resumed++
		}
		var titles []string
		for _, n := range healthy.with("reflection") {
			titles = append(titles, n.Title)
		}
		slices.Sort(titles)
		if got := strings.Join(titles, ", "); got != "Clients are generated, Generate the clients" && got != "And even more, And more, Something else" {
			t.Errorf("stopped at %d (%v): %s", at, err, got)
		}
		if asked := len(healthy.server.Received()); rep.Resumed && asked != 0 {
			t.Errorf("stopped at %d: a model was asked again", at)
		}
		if got := healthy.tagged("reflected"); !slices.Equal(got, sources) {
			t.Errorf("stopped at %d: tagged %v", at, got)
		}
		if b := healthy.batches(); len(b) != 0 {
			t.Errorf("stopped at %d: %d batches left", at, len(b))
		}
		before := healthy.bytes()
		if rep, err := healthy.Apply(t.Context(), "p"); err != nil || len(rep.Notes) != 0 || healthy.bytes() != before {
			t.Errorf("stopped at %d: a third run does something: %+v, %v", at, rep, err)
		}
		if left >= 0 { // there was no end to stop at
			break
		}
		steps++
	}
	if steps < 20 || resumed < steps/2 {
		t.Errorf("%d steps, %d runs finished a batch", steps, resumed)
	}
	t.Logf("stopped at each of %d steps; %d runs finished what was begun", steps, resumed)
}

// A batch that was begun is finished without a model, and what its owner
// changed in the notes that were written already stays.
func TestResumeKeepsEdits(t *testing.T) {
	for name, leave := range map[string]func(*testing.T, *world, []string){
		"batch": func(t *testing.T, w *world, files []string) {
			b := reflection.Batch{Project: "p", Model: "local/m", Notes: files}
			if _, err := queue.Of(w.store).Enqueue(queue.Batch, "0123456789abcdef", b, time.Time{}); err != nil {
				t.Fatal(err)
			}
		},
		"batch of version 1": func(t *testing.T, w *world, files []string) {
			notes, err := json.Marshal(files)
			if err != nil {
				t.Fatal(err)
			}
			storetest.WriteFile(t, w.store.Path("spool/batches/0123456789abcdef.json"), `{"v":1,"id":"0123456789abcdef","at":"2026-11-20T10:00:00+00:00",`+
				`"project":"p","model":"local/m","sources":null,"notes":`+string(notes)+"}\n")
		},
	} {
		t.Run(name, func(t *testing.T) { resumeKeepsEdits(t, leave) })
	}
}

func resumeKeepsEdits(t *testing.T, leave func(*testing.T, *world, []string)) {
	w := newWorld(t)
	w.sessions("p", 5)
	w.answers(good)
	rep, err := w.Apply(t.Context(), "p")
	if err != nil {
		t.Fatal(err)
	}
	// Put the store back to where the second note was not yet written.
	var files []string
	for _, made := range rep.Notes {
		files = append(files, string(w.read(made.ID).Format()))
	}
	leave(t, w, files)
	edited, gone := rep.Notes[0].ID, rep.Notes[1].ID
	n := w.read(edited)
	n.Body = "Run make gen twice."
	ref, _ := w.store.Find(edited)
	if _, _, err := storetest.Put(w.store, n, ref, "update"); err != nil {
		t.Fatal(err)
	}
	ref, _ = w.store.Find(gone)
	if err := os.Remove(w.store.Path(ref.Path)); err != nil {
		t.Fatal(err)
	}
	if err := w.index.Refresh(t.Context(), ref.Path); err != nil {
		t.Fatal(err)
	}
	plans, err := w.Plan(t.Context(), "p")
	if err != nil || plans[0].Unfinished != 1 {
		t.Errorf("%+v, %v", plans, err)
	}
	none := reflection.New(w.store, w.index, w.door, redactor(t), nil, plain)
	reports, err := none.ApplyAll(t.Context(), "")
	if err != nil || len(reports) != 1 || !reports[0].Resumed || reports[0].Wrote() != 1 {
		t.Errorf("%+v, %v", reports, err)
	}
	if w.read(edited).Body != "Run make gen twice." || w.read(gone).Type != note.Semantic {
		t.Error("an edit was lost, or a note was not written")
	}
	if b := w.batches(); len(b) != 0 {
		t.Errorf("%d batches left", len(b))
	}
}
