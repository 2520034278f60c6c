package recall_test

import (
	"crypto/sha256"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"anamnesis/internal/index"
	"anamnesis/internal/llm"
	"anamnesis/internal/llm/llmtest"
	"anamnesis/internal/note"
	"anamnesis/internal/recall"
)

// secrets makes credentials of shapes that are known, each different. They are
// made here and not written down, because scanners of repositories know the
// shapes as well.
func secrets(n int) (lines, secrets []string) {
	for i := range n {
		sum := sha256.Sum256(fmt.Append(nil, "planted", i))
		random := (&big.Int{}).SetBytes(sum[:]).Text(62)
		var line, secret string
		switch i % 5 {
		case 0:
			secret = "ghp_" + random[:36]
			line = "the token is " + secret
		case 1:
			secret = random[:24]
			line = "password=" + secret
		case 2:
			secret = "sk-" + random[:40]
			line = "export OPENAI_API_KEY=" + secret
		case 3:
			secret = random[:30]
			line = "Authorization: Bearer " + secret
		case 4:
			secret = random[:20]
			line = "postgres://app:" + secret + "@db.internal/app"
		}
		lines, secrets = append(lines, line), append(secrets, secret)
	}
	return lines, secrets
}

func TestNoSecretLeaves(t *testing.T) {
	const planted = 50
	lines, hidden := secrets(planted)
	var notes []note.Note
	for i, line := range lines {
		notes = append(notes, note.Note{
			ID: note.ID(fmt.Sprintf("n%02d", i)), Title: fmt.Sprintf("Deployment %d", i), Body: "How the deployment goes:\n\n" + line + "\n\nThen restart.",
		})
	}
	s := llmtest.New(t)
	w := newWorld(t, notes...)
	ix := w.index(s.URL, "a")
	if rep := w.embed(ix); rep.Done < planted {
		t.Fatalf("%+v", rep)
	}
	r, err := llm.NewReranker(llm.RerankerOptions{URL: s.URL}, llm.Network{})
	if err != nil {
		t.Fatal(err)
	}
	chat, err := llm.NewGenerator(llm.GeneratorOptions{Provider: llm.Local, URL: s.URL, Model: "m"}, llm.Network{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Answer = func(_, _ string) string { return "set " + lines[7] } // a model that invents a credential
	o := product
	o.HyDE = true
	e := w.engine(ix, recall.Models{Reranker: r, Expand: recall.HyDE(chat, w.redactor.Redact)}, o)
	for _, line := range lines {
		if res := ask(t, e, recall.Query{Text: "deployment with " + line, K: 20}); len(res.Failed) > 0 {
			t.Fatal(res.Failed)
		}
	}
	got := s.Bytes()
	for _, want := range []string{"[REDACTED]", "/rerank", "/v1/embeddings", "/v1/chat/completions", "How the deployment goes"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q was not sent; the test looks at nothing", want)
		}
	}
	for _, secret := range hidden {
		if strings.Contains(got, secret) {
			t.Errorf("%s reached a server", secret)
		}
	}
}

func TestNoRedactorNoQuestion(t *testing.T) {
	s := llmtest.New(t)
	w := newWorld(t, withWord)
	e, err := llm.NewEmbedder(llm.EmbedderOptions{URL: s.URL}, llm.Network{})
	if err != nil {
		t.Fatal(err)
	}
	ix := index.New(w.db, w.store, index.Embedding{Remote: e})
	if _, _, err := ix.Question(t.Context(), "x"); err == nil || len(s.Received()) > 0 {
		t.Errorf("asked without a redactor: %v", err)
	}
	if _, err := ix.Sync(t.Context(), index.SyncOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := ix.EmbedMissing(t.Context(), 0, nil); err == nil || len(s.Received()) > 0 {
		t.Errorf("embedded without a redactor: %v", err)
	}
}
