package recall_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"anamnesis/internal/embed"
	"anamnesis/internal/index"
	"anamnesis/internal/index/sqlite"
	"anamnesis/internal/note"
	"anamnesis/internal/recall"
)

// losing is a backend whose vectors are lost to the next questions, as many as times says.
type losing struct {
	index.Backend
	times atomic.Int32
}

func (l *losing) Nearest(ctx context.Context, model string, question []float32, f index.Filter, limit int, least float64) ([]index.Candidate, error) {
	if l.times.Add(-1) >= 0 {
		return nil, index.ErrLost
	}
	return l.Backend.Nearest(ctx, model, question, f, limit, least)
}

// An index that one arm finds lost is filled and asked again by all; one that stays lost is an
// error, and not an answer of the arms that asked it while it was empty.
func TestLostIndex(t *testing.T) {
	_, s := open(t, note.Note{ID: "printer", Title: "The printer jams", Body: "Thick paper jams the printer of floor three."})
	db, err := sqlite.Open(t.Context(), sqlite.Options{Path: s.Path("index.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	words, err := embed.OpenStatic(index.Words)
	if err != nil {
		t.Fatal(err)
	}
	backend := &losing{Backend: db}
	e := recall.New(index.New(backend, s, index.Embedding{Local: words}), s, product, recall.Models{Words: words})
	question := recall.Query{Text: "why does the printer jam on thick paper"}

	backend.times.Store(1)
	res := ask(t, e, question)
	if got := ids(res); len(got) != 1 || got[0] != "printer" || len(res.Failed) > 0 || backend.times.Load() >= 0 {
		t.Errorf("found %v, failed %v", got, res.Failed)
	}
	seen := map[string]bool{}
	for _, a := range res.Arms {
		if seen[a.Name] {
			t.Errorf("arm %s is reported twice", a.Name)
		}
		seen[a.Name] = true
	}

	backend.times.Store(1000)
	if res, err := e.Recall(t.Context(), question); err == nil || !strings.Contains(err.Error(), index.ErrLost.Error()) {
		t.Errorf("an index that stays lost: %+v, %v", res, err)
	}
}
