package recall_test

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"anamnesis/internal/embed"
	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/recall"

	"github.com/google/go-cmp/cmp"
)

// A reading is a reranker of this machine that prefers texts with a word.
type reading struct {
	word  string
	slow  bool // it waits until nobody waits for it
	asked []string
}

func (*reading) Name() string { return "local/reading" }

func (r *reading) Rerank(ctx context.Context, question string, texts []string) ([]float64, error) {
	r.asked = append(append(r.asked, question), texts...)
	if r.slow {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	scores := make([]float64, len(texts))
	for i, text := range texts {
		if scores[i] = -5; strings.Contains(text, r.word) {
			scores[i] = 5
		}
	}
	return scores, nil
}

// An encoder is an embedder of this machine that takes its time: a text has a direction
// for each of some words.
type encoder struct {
	slow  atomic.Bool // it waits until nobody waits for it
	asked atomic.Int32
}

func (*encoder) Name() string         { return "local/encoder" }
func (*encoder) Traits() embed.Traits { return embed.Traits{Deferred: true} }

func (e *encoder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	e.asked.Add(1)
	if e.slow.Load() {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	all := make([][]float32, len(texts))
	for i, text := range texts {
		all[i] = make([]float32, 3)
		text = strings.ToLower(text)
		for d, words := range [][]string{{"timeout", "deadline"}, {"invoice", "billing"}, {"colour", "logo", "green"}} {
			if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) }) {
				all[i][d] = 1
			}
		}
	}
	return all, nil
}

func (w *world) local(e embed.Embedder) *index.Index {
	w.t.Helper()
	ix := index.New(w.db, w.store, index.Embedding{Local: e, Redact: w.redactor.Redact})
	if _, err := ix.Sync(w.t.Context(), index.SyncOptions{}); err != nil {
		w.t.Fatal(err)
	}
	return ix
}

// A reranker of this machine reads texts as they are, and one that fails leaves the order
// of the built-in reader.
func TestLocalReranker(t *testing.T) {
	const secret = "password=Xk29fQz77vLmP3qR"
	w := newWorld(t, withWord, withMeaning, other, note.Note{ID: "second", Title: "Invoice", Body: "An invoice is sent on Monday. " + secret})
	ix := w.local(w.words)
	without := ask(t, w.engine(ix, recall.Models{}, product), recall.Query{Text: question})
	r := &reading{word: "Monday"}
	res := ask(t, w.engine(ix, recall.Models{Local: r}, product), recall.Query{Text: question})
	if got := ids(res); got[0] != "second" || res.Reranker != "local/reading" || len(res.Failed) > 0 {
		t.Errorf("%v by %s, failed %v", got, res.Reranker, res.Failed)
	}
	if !slices.ContainsFunc(r.asked, func(s string) bool { return strings.Contains(s, secret) }) || r.asked[0] != question {
		t.Errorf("it was asked %q", r.asked)
	}
	o := product
	o.RerankTimeout = 0.05
	res = ask(t, w.engine(ix, recall.Models{Local: &reading{slow: true}}, o), recall.Query{Text: question})
	if d := cmp.Diff(ids(without), ids(res)); d != "" || res.Reranker != "built-in" {
		t.Errorf("order with one that is late (-want +got):\n%s", d)
	}
	if got := strings.Join(res.Failed, "\n"); !strings.Contains(got, "reranker local/reading: ") {
		t.Errorf("failed %q", got)
	}
}

// An encoder of this machine finds by meaning, once the vectors are made; those of
// another are not compared.
func TestLocalEmbedder(t *testing.T) {
	w := newWorld(t, withWord, withMeaning, other)
	ix := w.local(&encoder{})
	q := recall.Query{Text: "timeout of an invoice", Arms: []string{"semantic"}}
	if got := ids(ask(t, w.engine(ix, recall.Models{}, product), q)); len(got) > 0 {
		t.Errorf("found %v by the vectors of another model", got)
	}
	if waiting, all, err := ix.Waiting(t.Context()); waiting != 3 || all != 3 || err != nil {
		t.Errorf("%d of %d wait, %v", waiting, all, err)
	}
	if rep := w.embed(ix); rep.Done != 3 || rep.Model != "local/encoder" {
		t.Errorf("%+v", rep)
	}
	if got := ids(ask(t, w.engine(ix, recall.Models{}, product), q)); !slices.Contains(got, "meaning") || slices.Contains(got, "other") {
		t.Errorf("found %v", got)
	}
	if ix.Remote() || !ix.Deferred() {
		t.Error("it is taken for one elsewhere, or for one that is there at once")
	}
}

// Models that are late at a prompt do not hold it up: what needs none of them answers,
// and each was asked once.
func TestLatePrompt(t *testing.T) {
	w := newWorld(t, withWord, withMeaning, other)
	e, r := &encoder{}, &reading{word: "nine", slow: true}
	ix := w.local(e)
	w.embed(ix)
	e.slow.Store(true)
	e.asked.Store(0)
	o := product
	o.Patience = 1
	eng := w.engine(ix, recall.Models{Local: r}, o)
	began := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	a, err := eng.Advise(ctx, recall.Query{}, recall.Plan{Parts: []recall.Part{{Text: "the timeout of the invoice queue"}}})
	if err != nil || len(a.Parts) != 1 {
		t.Fatalf("%+v, %v", a, err)
	}
	if took := time.Since(began); took < 300*time.Millisecond || ctx.Err() != nil {
		t.Errorf("it took %v", took)
	}
	if n := e.asked.Load(); n != 1 {
		t.Errorf("the encoder was asked %d times", n)
	}
	if len(a.Hits)+len(a.Held) == 0 {
		t.Error("nobody answered")
	}
}
