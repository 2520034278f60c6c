package recall_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"anamnesis/internal/embed"
	"anamnesis/internal/index"
	"anamnesis/internal/index/sqlite"
	"anamnesis/internal/llm"
	"anamnesis/internal/llm/llmtest"
	"anamnesis/internal/note"
	"anamnesis/internal/recall"
	"anamnesis/internal/redact"
	"anamnesis/internal/store"

	"github.com/google/go-cmp/cmp"
)

// A world is a store and its index, on which engines with models stand.
type world struct {
	t        *testing.T
	store    *store.Store
	db       *sqlite.DB
	redactor *redact.Redactor
	words    *embed.Static
}

func newWorld(t *testing.T, notes ...note.Note) *world {
	t.Helper()
	_, s := open(t, notes...)
	db, err := sqlite.Open(t.Context(), sqlite.Options{Path: s.Path("models.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	w := &world{t: t, store: s, db: db}
	if w.redactor, err = redact.New(); err != nil {
		t.Fatal(err)
	}
	if w.words, err = embed.OpenStatic(index.Words); err != nil {
		t.Fatal(err)
	}
	return w
}

// index returns the index, in step, with the embedder of a server.
func (w *world) index(url, model string) *index.Index {
	w.t.Helper()
	e, err := llm.NewEmbedder(llm.EmbedderOptions{URL: url, Model: model, Key: "k", Timeout: 120}, llm.Network{})
	if err != nil {
		w.t.Fatal(err)
	}
	ix := index.New(w.db, w.store, index.Embedding{Remote: e, Redact: w.redactor.Redact})
	if _, err := ix.Sync(w.t.Context(), index.SyncOptions{}); err != nil {
		w.t.Fatal(err)
	}
	return ix
}

func (w *world) embed(ix *index.Index) index.EmbedReport {
	w.t.Helper()
	rep, err := ix.EmbedMissing(w.t.Context(), 0, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return rep
}

// engine returns an engine; m needs neither Words nor Redact.
func (w *world) engine(ix *index.Index, m recall.Models, o recall.Options) *recall.Engine {
	m.Words, m.Redactor = w.words, w.redactor
	return recall.New(ix, w.store, o, m)
}

// paths returns the routes that a server was asked, in their order.
func paths(s *llmtest.Server) []string {
	got := []string{}
	for _, r := range s.Received() {
		got = append(got, r.Path)
	}
	return got
}

// Three notes: one that shares a word with the question, one that shares its
// meaning only, and one about something else.
var (
	withWord    = note.Note{ID: "word", Title: "Invoices", Body: "The timeout of the invoice queue is nine seconds."}
	withMeaning = note.Note{ID: "meaning", Title: "Billing", Body: "Deadline of nine seconds."}
	other       = note.Note{ID: "other", Title: "Colours", Body: "The logo is green."}

	synonyms = map[string]string{"deadline": "timeout", "billing": "invoice", "invoices": "invoice"}
)

const question = "invoice timeout"

func TestRemoteEmbedder(t *testing.T) {
	s := llmtest.New(t)
	s.Synonyms = synonyms
	w := newWorld(t, withWord, withMeaning, other)
	ix := w.index(s.URL, "a")
	e := w.engine(ix, recall.Models{}, product)
	if got := ids(ask(t, e, recall.Query{Text: question, Arms: []string{"semantic"}})); len(got) != 0 {
		t.Errorf("found %v before anything is embedded", got)
	}
	if rep := w.embed(ix); rep.Done != 3 || rep.Left != 0 || rep.Model != "openai-compatible/a@"+s.Host() {
		t.Errorf("%+v", rep)
	}
	s.Forget()
	res := ask(t, e, recall.Query{Text: "timeout for invoice"})
	if got := ids(res); !slices.Contains(got, "meaning") || slices.Contains(got, "other") || len(res.Failed) > 0 {
		t.Errorf("found %v, failed %v", got, res.Failed)
	}
	if d := cmp.Diff([]string{"/v1/embeddings"}, paths(s)); d != "" { // by the arm and by the reader
		t.Errorf("one recall asks (-want +got):\n%s", d)
	}
	var wg sync.WaitGroup
	for i := range 8 { // for the race detector
		wg.Go(func() {
			if _, err := e.Recall(t.Context(), recall.Query{Text: fmt.Sprintf("invoice timeout %d", i%2)}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func TestEmbedderIsDown(t *testing.T) {
	s := llmtest.New(t)
	w := newWorld(t, withWord, withMeaning, other)
	ix := w.index(s.URL, "a")
	w.embed(ix)
	s.Forget()
	s.Always(llmtest.Fails(500, ""))
	res := ask(t, w.engine(ix, recall.Models{}, product), recall.Query{Text: question})
	if got := ids(res); len(got) == 0 || got[0] != "word" {
		t.Errorf("found %v", got)
	}
	if got := strings.Join(res.Failed, "\n"); !strings.Contains(got, "semantic: ") || !strings.Contains(got, s.Host()) || !strings.Contains(got, "HTTP 500") {
		t.Errorf("failed %q", got)
	}
	if n := len(s.Received()); n != 3 {
		t.Errorf("asked %d times, want the 3 tries of one question", n)
	}
}

func TestDimensionChanges(t *testing.T) {
	s := llmtest.New(t)
	w := newWorld(t, withWord, withMeaning, other)
	ix := w.index(s.URL, "a")
	w.embed(ix)
	s.Always(llmtest.Dimension(32))
	res := ask(t, w.engine(ix, recall.Models{}, product), recall.Query{Text: question})
	if got := strings.Join(res.Failed, "\n"); !strings.Contains(got, "semantic: ") || !strings.Contains(got, "32 dimensions where it had 64") {
		t.Errorf("failed %q", got)
	}
	if got := ids(res); len(got) == 0 || got[0] != "word" {
		t.Errorf("found %v", got)
	}
	// A program that starts after the change does not know what was before: its
	// vectors are like none of the others.
	res = ask(t, w.engine(w.index(s.URL, "a"), recall.Models{}, product), recall.Query{Text: question, Arms: []string{"semantic"}})
	if got := ids(res); len(got) != 0 {
		t.Errorf("vectors of two dimensions are alike: %v", got)
	}
}

func TestModelChanges(t *testing.T) {
	s := llmtest.New(t)
	s.Synonyms = synonyms
	w := newWorld(t, withWord, withMeaning, other)
	w.embed(w.index(s.URL, "a"))
	another := llmtest.New(t) // the same words, other vectors
	for _, to := range []struct{ url, model string }{{s.URL, "b"}, {another.URL, "b"}} {
		ix := w.index(to.url, to.model)
		e := w.engine(ix, recall.Models{}, product)
		q := recall.Query{Text: question, Arms: []string{"semantic"}}
		if got := ids(ask(t, e, q)); len(got) != 0 {
			t.Errorf("%v found %v by the vectors of another model", to, got)
		}
		if rep := w.embed(ix); rep.Done != 3 {
			t.Errorf("%v: %+v", to, rep)
		}
		if got := ids(ask(t, e, q)); !slices.Contains(got, "word") {
			t.Errorf("%v found %v", to, got)
		}
		if rep := w.embed(ix); rep.Done != 0 {
			t.Errorf("%v: embedded again: %+v", to, rep)
		}
	}
}

// One text that a model refuses costs that text its vector, and no other.
func TestRefusedText(t *testing.T) {
	s := llmtest.New(t)
	w := newWorld(t, withWord, withMeaning, other)
	s.Always(func(s *llmtest.Server, rw http.ResponseWriter, r *http.Request, body []byte) {
		if strings.Contains(string(body), "logo") {
			llmtest.Body(413, `{"error": "too long"}`)(s, rw, r, body)
			return
		}
		llmtest.Good(s, rw, r, body)
	})
	if rep := w.embed(w.index(s.URL, "a")); rep.Done != 2 || rep.Left != 1 {
		t.Errorf("%+v", rep)
	}
	s.Forget()
	s.Always(llmtest.Fails(422, ""))
	if _, err := w.index(s.URL, "b").EmbedMissing(t.Context(), 0, nil); err == nil || !strings.Contains(err.Error(), "HTTP 422") || len(s.Received()) > 4 {
		t.Errorf("a server that refuses everything: %v after %d requests", err, len(s.Received()))
	}
}

func TestRerankerOutage(t *testing.T) {
	s := llmtest.New(t)
	w := newWorld(t, withWord, withMeaning, other,
		note.Note{ID: "second", Title: "Invoice", Body: "An invoice is sent on Monday."})
	ix := w.index(s.URL, "a")
	w.embed(ix)
	r, err := llm.NewReranker(llm.RerankerOptions{URL: s.URL, Model: "ce"}, llm.Network{})
	if err != nil {
		t.Fatal(err)
	}
	without := ask(t, w.engine(ix, recall.Models{}, product), recall.Query{Text: question})
	with := w.engine(ix, recall.Models{Reranker: r}, product)
	s.Score = func(_, text string) float64 { // the other way round
		if strings.Contains(text, "Monday") {
			return 9
		}
		return -9
	}
	res := ask(t, with, recall.Query{Text: question})
	if got := ids(res); got[0] != "second" || res.Reranker != r.Name() || len(res.Failed) > 0 {
		t.Errorf("%v by %s, failed %v", got, res.Reranker, res.Failed)
	}
	s.Always(func(s *llmtest.Server, rw http.ResponseWriter, q *http.Request, body []byte) {
		if strings.HasSuffix(q.URL.Path, "/rerank") {
			llmtest.Fails(503, "60")(s, rw, q, body)
			return
		}
		llmtest.Good(s, rw, q, body)
	})
	res = ask(t, with, recall.Query{Text: question})
	if d := cmp.Diff(ids(without), ids(res)); d != "" {
		t.Errorf("order without the reranker (-want +got):\n%s", d)
	}
	if got := strings.Join(res.Failed, "\n"); !strings.Contains(got, "reranker") || !strings.Contains(got, "HTTP 503") || res.Reranker != "built-in" {
		t.Errorf("failed %q, ordered by %s", got, res.Reranker)
	}
}

func TestHyDE(t *testing.T) {
	s := llmtest.New(t)
	asked := ""
	s.Answer = func(_, user string) string {
		asked = user
		return " The logo\n is green. " + strings.Repeat("word ", 200)
	}
	w := newWorld(t, withWord, withMeaning, other)
	ix := w.index(s.URL, "a")
	w.embed(ix)
	chat, err := llm.NewGenerator(llm.GeneratorOptions{Provider: llm.Local, URL: s.URL, Model: "m", Timeout: 120}, llm.Network{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	rerank, err := llm.NewReranker(llm.RerankerOptions{URL: s.URL + "/v1", Model: "ce"}, llm.Network{})
	if err != nil {
		t.Fatal(err)
	}
	gated := product
	gated.CalibratedGate = true
	on := gated
	on.HyDE = true
	m := recall.Models{Expand: recall.HyDE(chat, w.redactor.Redact), Reranker: rerank}
	q := recall.Query{Text: question, Gate: true}
	off := ask(t, w.engine(ix, recall.Models{}, gated), q)
	s.Forget()
	res := ask(t, w.engine(ix, m, on), q)
	if len(res.Failed) > 0 || asked != question {
		t.Errorf("failed %v, asked %q", res.Failed, asked)
	}
	embedded, reranked := 0, 0
	for _, r := range s.Received() {
		invented := strings.Contains(r.Body, "is green. word") && strings.Contains(r.Body, question+`\n`)
		switch {
		case strings.HasSuffix(r.Path, "/embeddings") && invented:
			embedded++
			if len(r.Body) > 600+len(question)+100 {
				t.Errorf("the answer was not cut: %d bytes", len(r.Body))
			}
		case strings.HasSuffix(r.Path, "/rerank"):
			reranked++
			if !strings.Contains(r.Body, `"query":"`+question+`"`) {
				t.Errorf("the reranker was asked %s", r.Body)
			}
		}
	}
	if embedded != 1 || reranked != 1 {
		t.Errorf("asked %v", paths(s))
	}
	if off.Gate == nil || res.Gate == nil || off.Gate.Open != res.Gate.Open || off.Gate.Threshold != res.Gate.Threshold {
		t.Errorf("the gate says %+v, and %+v without", res.Gate, off.Gate)
	}

	s.Forget()
	s.Always(func(s *llmtest.Server, rw http.ResponseWriter, r *http.Request, body []byte) {
		if strings.HasSuffix(r.URL.Path, "/chat/completions") {
			llmtest.Fails(500, "99")(s, rw, r, body)
			return
		}
		llmtest.Good(s, rw, r, body)
	})
	plain := w.engine(ix, recall.Models{}, product)
	res = ask(t, w.engine(ix, recall.Models{Expand: m.Expand}, on), recall.Query{Text: "seconds of the invoice timeout"})
	if d := cmp.Diff(ids(ask(t, plain, recall.Query{Text: "seconds of the invoice timeout"})), ids(res)); d != "" {
		t.Errorf("with the raw question (-want +got):\n%s", d)
	}
	if got := strings.Join(res.Failed, "\n"); !strings.Contains(got, "hyde: ") || !strings.Contains(got, "HTTP 500") {
		t.Errorf("failed %q", got)
	}
}

// Notes that the model has not read stand behind those that it has, and a question
// that is remembered asks no model.
func TestRerankerReadsSome(t *testing.T) {
	var notes []note.Note
	for i := range 31 {
		notes = append(notes, note.Note{ID: note.ID(fmt.Sprintf("n%02d", i)), Title: fmt.Sprintf("Invoice timeout %d", i), Body: fmt.Sprintf("The timeout of invoice %d.", i), ProofCount: i % 3, Tags: []string{"invoice"}})
	}
	s := llmtest.New(t)
	w := newWorld(t, notes...)
	ix := w.index(s.URL, "a")
	w.embed(ix)
	r, err := llm.NewReranker(llm.RerankerOptions{URL: s.URL + "/v1", Model: "r"}, llm.Network{})
	if err != nil {
		t.Fatal(err)
	}
	s.Always(func(_ *llmtest.Server, rw http.ResponseWriter, req *http.Request, body []byte) {
		if req.URL.Path != "/v1/rerank" {
			llmtest.Good(s, rw, req, body)
			return
		}
		var results []string
		for i := range strings.Count(string(body), "The timeout of invoice") {
			results = append(results, fmt.Sprintf(`{"index":%d,"relevance_score":%d}`, i, map[bool]int{true: 5, false: -3}[i == 7]))
		}
		fmt.Fprintf(rw, `{"results":[%s]}`, strings.Join(results, ","))
	})
	o := product
	o.CacheTTL = 600
	e := w.engine(ix, recall.Models{Reranker: r}, o)
	q := recall.Query{Text: "invoice timeout", K: 31}
	s.Forget()
	for n := range 3 {
		res := ask(t, e, q)
		if len(res.Failed) > 0 || len(res.Hits) < 25 {
			t.Fatalf("%d hits, failed %v", len(res.Hits), res.Failed)
		}
		behind := false
		for _, h := range res.Hits {
			read := strings.HasPrefix(h.Reasons[0].What, "read by")
			if read && behind {
				t.Fatalf("ask %d: %s was read and stands behind one that was not", n, h.Row.ID)
			}
			behind = behind || !read
		}
		if best, next := res.Hits[0].Score(), res.Hits[1].Score(); best < 5*next {
			t.Errorf("ask %d: the note that the model prefers has the score %.2f, the next one %.2f", n, best, next)
		}
		if !behind {
			t.Error("the model has read everything, so that this shows nothing")
		}
	}
	if d := cmp.Diff([]string{"/v1/embeddings", "/v1/rerank"}, paths(s)); d != "" {
		t.Errorf("three times the same question (-want +got):\n%s", d)
	}
	// Another process remembers, too.
	s.Forget()
	again := w.engine(w.index(s.URL, "a"), recall.Models{Reranker: r}, o)
	ask(t, again, q)
	if got := paths(s); len(got) > 0 {
		t.Errorf("another process asks %v", got)
	}
	s.Always(llmtest.Dimension(8))
	if res := ask(t, e, recall.Query{Text: "timeout of another invoice"}); !strings.Contains(strings.Join(res.Failed, "\n"), "dimensions") {
		t.Errorf("a model that changed its dimensions is not named: %v", res.Failed)
	}
	s.Always(llmtest.Body(200, `{"data":[{"index":0,"embedding":[0,0,0,0]}]}`))
	fresh := w.engine(w.index(s.URL, "a"), recall.Models{}, product)
	if res := ask(t, fresh, recall.Query{Text: "yet another invoice"}); !strings.Contains(strings.Join(res.Failed, "\n"), "zeros") {
		t.Errorf("a model that sends zeros is not named: %v", res.Failed)
	}
}
