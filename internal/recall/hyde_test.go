package recall_test

import (
	"context"
	"fmt"
	"testing"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/recall"
	"anamnesis/internal/redact"
)

// What a model invents finds notes, and decides nothing: the gate says of every
// question what it says without the model.
func TestHyDEOpensNoGate(t *testing.T) {
	const told = "Restart the ingest worker after a schema migration, or it keeps the old columns and drops rows."
	notes := []note.Note{{ID: "told", Title: "The ingest worker after a migration", Body: told}}
	for i, topic := range []string{"invoice", "billing", "storefront", "certificate", "payments", "checkout", "search", "cache", "deploy", "backup"} {
		for j, what := range []string{"times out after nine seconds", "is rebuilt every night", "needs a rotated key", "runs on the second host", "writes its log to disk", "is owned by the web team"} {
			notes = append(notes, note.Note{ID: note.ID(fmt.Sprintf("n%d-%d", i, j)), Title: topic + " " + what, Body: "The " + topic + " " + what + "."})
		}
	}
	w := newWorld(t, notes...)
	ix := index.New(w.db, w.store, index.Embedding{Local: w.words})
	if _, err := ix.Sync(t.Context(), index.SyncOptions{}); err != nil {
		t.Fatal(err)
	}
	o := product
	o.CacheTTL, o.CalibratedGate = 0, true
	plain := w.engine(ix, recall.Models{}, o)
	o.HyDE = true
	invents := w.engine(ix, recall.Models{Expand: func(context.Context, redact.Text) (string, error) { return told, nil }}, o)
	if _, err := plain.CalibrateAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	shut := 0
	for _, text := range []string{
		"replace the mat in the lobby", "what do zebras eat", "worker drops rows", "when is the cache rebuilt", "who owns checkout",
		"the capital of France", "schema migration", "how to bake bread", "rotate the key of payments", "ingest", "football results",
	} {
		want := ask(t, plain, recall.Query{Text: text, Gate: true}).Gate
		got := ask(t, invents, recall.Query{Text: text, Gate: true}).Gate
		switch {
		case want == nil && (got == nil || !got.Open):
			shut++
		case want == nil || got == nil || got.Open != want.Open || got.Signal != want.Signal:
			t.Errorf("%q: the gate says %+v, without the model %+v", text, got, want)
		case !want.Open:
			shut++
		}
	}
	if shut == 0 {
		t.Error("the gate is never shut, so that nothing could open it")
	}
}
