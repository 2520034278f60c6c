package recall_test

import (
	"slices"
	"testing"

	"anamnesis/internal/index"
	"anamnesis/internal/llm/llmtest"
	"anamnesis/internal/recall"
)

// What was found before the vectors came is not the answer afterwards, and a
// search says as long as some are missing (R9).
func TestVectorsArrive(t *testing.T) {
	s := llmtest.New(t)
	s.Synonyms = synonyms
	w := newWorld(t, withWord, withMeaning, other)
	o := remembering()
	o.SemanticArm, o.SemanticWeight = true, 0.5
	ask := func(e *recall.Engine, cached string, missing int, meaning bool) {
		t.Helper()
		res := ask(t, e, recall.Query{Text: question})
		if res.Cached != cached || res.WithoutVector != missing || missing > 0 && res.Passages != 3 || slices.Contains(ids(res), "meaning") != meaning {
			t.Errorf("cached %q, %d of %d without a vector, found %v", res.Cached, res.WithoutVector, res.Passages, ids(res))
		}
	}
	builtIn := index.New(w.db, w.store, index.Embedding{Local: w.words})
	ix := w.index(s.URL, "a") // indexes the notes, without vectors
	ask(w.engine(builtIn, recall.Models{}, o), "", 3, false)
	e := w.engine(ix, recall.Models{}, o)
	ask(e, "", 3, false)
	ask(e, "", 3, false)
	w.embed(ix)
	ask(e, "", 0, true)
	ask(e, "exact", 0, true)

	// Vectors that come while an answer is kept.
	passages, _, _, err := w.db.Unembedded(t.Context(), "another", 10)
	if err != nil || len(passages) != 3 {
		t.Fatal(passages, err)
	}
	before, err := w.db.Generation(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	unit := make([]float32, 64)
	unit[0] = 1
	if err := w.db.Embed(t.Context(), ix.Model(), map[int64]index.Vector{passages[0].Passage: index.Quantize(unit)}); err != nil {
		t.Fatal(err)
	}
	if after, err := w.db.Generation(t.Context()); err != nil || after <= before {
		t.Errorf("generation %d, then %d, %v", before, after, err)
	}
	if res, err := e.Recall(t.Context(), recall.Query{Text: question}); err != nil || res.Cached != "" {
		t.Errorf("%+v %v", res, err)
	}
}

// Passages that the built-in model knows no word of will never have a vector, and
// wait for none.
func TestNothingWaits(t *testing.T) {
	w := newWorld(t)
	for _, text := range []string{"数据库 索引", "9000 8000"} {
		n := other
		n.ID, n.Title, n.Body = "a", text, text
		_, s := open(t, n)
		_, plain := engine(t, s, product, recall.Models{})
		ix := index.New(plain.Backend, s, index.Embedding{Local: w.words})
		res := ask(t, w.engine(ix, recall.Models{}, product), recall.Query{Text: "logo is green"})
		if res.WithoutVector != 0 || len(res.Failed) > 0 {
			t.Errorf("%q: %d of %d wait; %v", text, res.WithoutVector, res.Passages, res.Failed)
		}
	}
}
