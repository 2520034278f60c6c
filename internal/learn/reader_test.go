package learn_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/index/sqlite"
	"anamnesis/internal/ingest"
	"anamnesis/internal/learn"
	"anamnesis/internal/llm"
	"anamnesis/internal/note"
	"anamnesis/internal/redact"
	"anamnesis/internal/store"
	"anamnesis/internal/store/queue"
)

// A reading room is a store with a model that answers with rules.
type readingRoom struct {
	*testing.T
	reader *learn.Reader
	store  *store.Store
	door   *ingest.Ingester
	rules  []learn.Rule
	err    error
	asked  int
}

func (w *readingRoom) Name() string { return "test/m" }

func (w *readingRoom) Generate(context.Context, llm.Prompt) (string, error) {
	w.asked++
	text, err := json.Marshal(map[string]any{"rules": w.rules})
	return string(text), errors.Join(err, w.err)
}

func newReadingRoom(t *testing.T) *readingRoom {
	t.Helper()
	s, err := store.Open(store.Options{Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	db, err := sqlite.Open(t.Context(), sqlite.Options{Path: s.Path("index.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	r, err := redact.New()
	if err != nil {
		t.Fatal(err)
	}
	w := &readingRoom{T: t, store: s}
	w.door = ingest.New(s, index.New(db, s, index.Embedding{}), r, ingest.Options{MachineID: "box"})
	w.reader = learn.NewReader(learn.Rewriter{Store: s, Redactor: r, Model: w}, w.door, nil)
	return w
}

// waits leaves a session to the reader.
func (w *readingRoom) waits(id note.ID, lines ...string) {
	w.Helper()
	s := talk(lines...)
	slice := learn.SliceOf(s, nil, learn.SliceOptions{})
	_, err := queue.Of(w.store).Enqueue(queue.Read, id, learn.Reading{
		Origin: learn.Origin{Harness: "claude", Session: string(id), Project: "app", Machine: "box", Started: at(0)},
		Slice:  slice.Text, Said: slice.Said, Fixes: slice.Fixes,
	}, time.Time{})
	if err != nil {
		w.Fatal(err)
	}
}

func (w *readingRoom) note(id note.ID) *note.Note {
	w.Helper()
	ref, err := w.store.Find(id)
	if err != nil {
		w.Fatal(err)
	}
	n, _, _, err := w.store.Read(ref.Path)
	if err != nil {
		w.Fatal(err)
	}
	return n
}

// A rule replaces the note that the model names, in words that nothing here could compare; one
// that the model is not sure of waits for the user, and one that nobody typed is dropped.
func TestReader(t *testing.T) {
	w := newReadingRoom(t)
	made, err := w.door.Admit(t.Context(), ingest.Draft{By: ingest.Order, Here: "app", Once: true, Note: &note.Note{
		Type: note.Semantic, Project: "app", Title: "Indent with tabs", ProofCount: 1, CreatedAt: note.At(at(0).AddDate(0, 0, -1)),
		Provenance: note.Provenance{Source: note.User, Confidence: 0.9}, Evidence: []note.Evidence{{Session: "claude/s0", Chunk: "c0"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	w.rules = []learn.Rule{
		{Title: "Four spaces are the indentation here", Quote: "four spaces are the indentation here", Replaces: string(made.Note.ID), Sure: 0.9},
		{Title: "Prices may be integers", Quote: "maybe prices should be integers", Sure: 0.3},
		{Title: "Prices are logged", Quote: "the user wants all prices logged", Sure: 0.9},
	}
	w.waits("s1", "> format it", "I used tabs.", "> no, four spaces are the indentation here. Maybe prices should be integers")
	done, err := w.reader.Run(t.Context(), 0, nil)
	if err != nil || done.Err != nil || done.Sessions != 1 || len(done.Learnt) != 1 || done.Held != 1 || done.Dropped != 1 {
		t.Fatalf("%+v, %v", done, err)
	}
	n := w.note(done.Learnt[0])
	if n.Title != "Four spaces are the indentation here" || len(n.Supersedes) != 1 || n.Supersedes[0] != made.Note.ID || n.Provenance.Model != "test/m" {
		t.Errorf("%q replaces %q, by %q", n.Title, n.Supersedes, n.Provenance.Model)
	}
	if held := w.store.Spool().Held(); len(held) != 1 || held[0].Title != "Prices may be integers" {
		t.Errorf("%d drafts wait", len(held))
	}
	if again, err := w.reader.Run(t.Context(), 0, nil); err != nil || again.Sessions != 0 || w.asked != 1 {
		t.Errorf("it is read again: %+v, %v", again, err)
	}
}

// While the budget refuses, no session that waits is touched. A model that fails leaves it for
// later.
func TestReaderWaits(t *testing.T) {
	w := newReadingRoom(t)
	w.waits("s1", "> format it", "I used tabs.", "> no, never use tabs here")
	w.reader.Budget = &llm.Budget{Allow: func(context.Context) error { return llm.ErrSpent }}
	done, err := w.reader.Run(t.Context(), 0, nil)
	w.reader.Budget = nil
	if err != nil || !errors.Is(done.Err, llm.ErrSpent) || w.asked != 0 || done.Left != 1 {
		t.Fatalf("%+v, %v, %d requests", done, err, w.asked)
	}
	jobs, err := queue.Jobs[learn.Reading](queue.Of(w.store), queue.Read)
	if err != nil || len(jobs) != 1 || jobs[0].Attempts != 0 || !jobs[0].NotBefore.IsZero() {
		t.Fatalf("%+v, %v", jobs, err)
	}
	w.err = errors.New("the model is down")
	if done, err := w.reader.Run(t.Context(), 0, nil); err != nil || done.Err == nil || done.Left != 1 {
		t.Fatalf("down: %+v, %v", done, err)
	}
	if jobs, err = queue.Jobs[learn.Reading](queue.Of(w.store), queue.Read); err != nil || len(jobs) != 1 || jobs[0].NotBefore.IsZero() {
		t.Errorf("%+v, %v", jobs, err)
	}
}
