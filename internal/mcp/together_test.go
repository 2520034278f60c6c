package mcp_test

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/recall"
	"anamnesis/internal/store"
	"anamnesis/internal/store/storetest"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestTogether lets two clients ask and write while a third party writes through
// ingest and another puts files there without telling the index. Nothing that
// was there before is ever missing from an answer.
func TestTogether(t *testing.T) {
	w := open(t, inShop)
	const rounds = 6
	for i := range 20 {
		w.add(t, note.Note{Title: fmt.Sprintf("walrus %d", i), Body: "it swims"})
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range rounds {
			n := &note.Note{Type: note.Semantic, Title: fmt.Sprintf("from a hook %d", i), Body: "x", Provenance: note.Provenance{Source: note.Human, Confidence: 1}}
			if _, err := w.Ingester.Admit(t.Context(), ingest.Draft{By: ingest.Person, Note: n}); err != nil {
				t.Error(err)
			}
		}
	})
	wg.Go(func() {
		for i := range rounds {
			writer, err := w.Store.BeginWrite(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			n := &note.Note{ID: note.NewID(w.Store.Now()), Type: note.Semantic, Title: fmt.Sprintf("from another program %d", i), Body: "x", Scope: note.Portable, Project: "global", UserID: "self", WorkspaceID: "personal", Provenance: note.Provenance{Source: note.Human, Confidence: 1}}
			if _, _, err := writer.Put(n, store.Ref{}, store.Update); err != nil {
				t.Error(err)
			}
			writer.End()
		}
	})
	for c := range 2 {
		cs := w.client(t)
		for g := range 3 {
			wg.Go(func() {
				for i := range rounds {
					res, err := cs.CallTool(context.WithoutCancel(t.Context()), &sdk.CallToolParams{Name: "memory_search", Arguments: args{"query": "walrus", "k": 20, "max_tokens": 5000}})
					if err != nil || res.IsError || len(decoded(t, res)["result"].([]any)) != 20 {
						t.Errorf("search: %v %+v", err, res)
						return
					}
					if g > 0 {
						continue
					}
					res, err = cs.CallTool(context.WithoutCancel(t.Context()), &sdk.CallToolParams{Name: "memory_write", Arguments: args{
						"type": "semantic", "title": fmt.Sprintf("client %d, round %d", c, i), "body": "y", "scope": "machine-local",
					}})
					if err != nil || res.IsError {
						t.Errorf("write: %v %+v", err, res)
						return
					}
				}
			})
		}
	}
	wg.Wait()
	cs := w.client(t)
	got, _ := call(t, cs, "memory_status", nil)
	if want := float64(20 + 4*rounds); got["total"] != want {
		t.Errorf("%v notes, want %v", got["total"], want)
	}
}

// bench makes a world of a few thousand notes.
func bench(b *testing.B, change ...func(*world)) *world {
	b.Helper()
	w := open(b, change...)
	for i := range 3000 {
		n := &note.Note{
			ID: note.NewID(w.Store.Now()), Type: note.Semantic, Title: fmt.Sprintf("note %d about topic%d", i, i%97), Scope: note.Portable, Project: "global",
			Body: fmt.Sprintf("The topic%d of service%d depends on module%d and fails with error%d.", i%97, i%31, i%211, i), UserID: "self", WorkspaceID: "personal",
			Provenance: note.Provenance{Source: note.Human, Confidence: 1}, UpdatedAt: note.At(w.Store.Now()),
		}
		ref, _, err := storetest.Put(w.Store, n, store.Ref{}, store.Update)
		if err == nil { // a walk compares young files by their bytes
			err = os.Chtimes(w.Store.Path(ref.Path), time.Time{}, w.Store.Now().Add(-time.Hour))
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	if _, err := w.Index.Sync(b.Context(), index.SyncOptions{}); err != nil {
		b.Fatal(err)
	}
	return w
}

// BenchmarkSearchRoundTrip is a search as a client sees it, without the look for
// changed files before it (BenchmarkRefresh). BenchmarkSearch is the same question
// to the engine; the difference is what the protocol and the log cost.
func BenchmarkSearchRoundTrip(b *testing.B) {
	w := bench(b, func(w *world) { w.doubles.Refresh = func(context.Context) (int, error) { return 0, nil } })
	cs := w.client(b)
	for i := 0; b.Loop(); i++ {
		call(b, cs, "memory_search", args{"query": fmt.Sprintf("topic%d error%d", i%97, i%3000)})
	}
}

func BenchmarkSearch(b *testing.B) {
	w := bench(b)
	for i := 0; b.Loop(); i++ {
		if _, err := w.Engine.Recall(b.Context(), recall.Query{Text: fmt.Sprintf("topic%d error%d", i%97, i%3000), K: 8}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRefresh(b *testing.B) {
	w := bench(b)
	for b.Loop() {
		if _, err := w.doubles.Refresh(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
