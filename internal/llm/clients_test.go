package llm_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"anamnesis/internal/llm"
	"anamnesis/internal/llm/llmtest"

	"github.com/google/go-cmp/cmp"
)

func TestEmbedder(t *testing.T) {
	s := llmtest.New(t)
	e, err := llm.NewEmbedder(llm.EmbedderOptions{URL: s.URL, Model: "bge", Key: testKey}, llm.Network{})
	if err != nil {
		t.Fatal(err)
	}
	if want := "openai-compatible/bge@" + s.Host(); e.Name() != want {
		t.Errorf("name %s, want %s", e.Name(), want)
	}
	var texts []string
	for i := range 70 {
		texts = append(texts, fmt.Sprintf("text %d", i))
	}
	texts[5], texts[69] = "", ""
	got, err := e.Embed(t.Context(), safe(t, texts...))
	if err != nil || len(got) != len(texts) {
		t.Fatalf("%d vectors: %v", len(got), err)
	}
	for i, text := range texts { // the server answers in another order
		if d := cmp.Diff(s.Vector(text), got[i]); d != "" {
			t.Errorf("vector %d (-want +got):\n%s", i, d)
		}
	}
	all := s.Received()
	if len(all) != 3 {
		t.Errorf("%d requests for 68 texts, want 3", len(all))
	}
	for _, r := range all {
		if r.Header.Get("Authorization") != "Bearer "+testKey || strings.Contains(r.Body, `""`) || !strings.HasPrefix(r.Body, `{"model":"bge","input":[`) {
			t.Errorf("sent %v %s", r.Header, r.Body)
		}
	}
	if len(got[5]) != 64 {
		t.Errorf("%d dimensions of an empty text", len(got[5]))
	}
	s.Always(llmtest.Dimension(32))
	if _, err := e.Embed(t.Context(), safe(t, "x")); err == nil || !strings.Contains(err.Error(), "32 dimensions where it had 64") || !strings.Contains(err.Error(), s.Host()) {
		t.Errorf("another dimension: %v", err)
	}
}

func TestEmbedderAnswers(t *testing.T) {
	for _, tt := range []struct{ name, answer, err string }{
		{"fewer", `{"data": [{"index": 0, "embedding": [1]}]}`, "1 vectors for 2 texts"},
		{"more", `{"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [1]}, {"index": 2, "embedding": [1]}]}`, "3 vectors for 2 texts"},
		{"none", `{}`, "0 vectors for 2 texts"},
		{"an index twice", `{"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [2]}]}`, "cannot be distinguished"},
		{"an index too great", `{"data": [{"index": 0, "embedding": [1]}, {"index": 2, "embedding": [2]}]}`, "cannot be distinguished"},
		{"no index", `{"data": [{"embedding": [1]}, {"embedding": [2]}]}`, "cannot be distinguished"},
		{"empty", `{"data": [{"index": 0, "embedding": []}, {"index": 1, "embedding": [2]}]}`, "without values"},
		{"missing", `{"data": [{"index": 0}, {"index": 1, "embedding": [2]}]}`, "without values"},
		{"two dimensions", `{"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [1, 2]}]}`, "2 dimensions where it had 1"},
		{"NaN", `{"data": [{"index": 0, "embedding": [NaN]}, {"index": 1, "embedding": [2]}]}`, "cannot be read"},
		{"infinite", `{"data": [{"index": 0, "embedding": [1e99]}, {"index": 1, "embedding": [2]}]}`, "cannot be read"},
		{"null", `{"data": [{"index": 0, "embedding": [null]}, {"index": 1, "embedding": [2]}]}`, "cannot be read"},
		{"base64", `{"data": [{"index": 0, "embedding": "AACAPw=="}, {"index": 1, "embedding": [2]}]}`, "cannot be read"},
	} {
		s := llmtest.New(t)
		s.Always(llmtest.Body(200, tt.answer))
		e, err := llm.NewEmbedder(llm.EmbedderOptions{URL: s.URL}, llm.Network{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Embed(t.Context(), safe(t, "a", "b")); err == nil || !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.err)
		}
	}
}

func TestReranker(t *testing.T) {
	s := llmtest.New(t)
	texts := safe(t, "no", "yes it is", "yes")
	for _, tt := range []struct {
		name, base, path, body string
	}{
		{"tei", "", "/rerank", `{"query":"yes","texts":["no","yes it is","yes"],"truncate":true}`},
		{"tei with its route", "/rerank", "/rerank", `{"query":"yes","texts":["no","yes it is","yes"],"truncate":true}`},
		{"cohere by its version", "/v1", "/v1/rerank", `{"model":"m","query":"yes","documents":["no","yes it is","yes"],"top_n":3}`},
	} {
		for _, scores := range []struct {
			what string
			of   map[string]float64
			want []float64
		}{
			{"probabilities", map[string]float64{"no": 0, "yes it is": 0.5, "yes": 0.9}, []float64{-13.8155, 0, 2.1972}},
			{"logits", map[string]float64{"no": -7.5, "yes it is": 0.5, "yes": 11}, []float64{-7.5, 0.5, 11}},
		} {
			s.Forget()
			s.Score = func(_, text string) float64 { return scores.of[text] }
			r, err := llm.NewReranker(llm.RerankerOptions{URL: s.URL + tt.base, Model: "m", Key: testKey}, llm.Network{})
			if err != nil {
				t.Fatal(err)
			}
			got, err := r.Rerank(t.Context(), safe(t, "yes")[0], texts)
			if err != nil || len(got) != 3 {
				t.Fatalf("%s: %v %v", tt.name, got, err)
			}
			for i := range got {
				if !near(got[i], scores.want[i]) {
					t.Errorf("%s, %s: logits %v, want %v", tt.name, scores.what, got, scores.want)
				}
			}
			if q := s.Received()[0]; q.Path != tt.path || q.Body != tt.body || q.Header.Get("Authorization") != "Bearer "+testKey {
				t.Errorf("%s: sent %s %s", tt.name, q.Path, q.Body)
			}
		}
	}
	r, err := llm.NewReranker(llm.RerankerOptions{URL: s.URL}, llm.Network{})
	if err != nil {
		t.Fatal(err)
	}
	for name, answer := range map[string]string{
		"fewer": `[{"index": 0, "score": 1}]`, "twice": `[{"index": 0, "score": 1}, {"index": 0, "score": 1}, {"index": 1, "score": 1}]`,
		"no score": `[{"index": 0}, {"index": 1}, {"index": 2}]`, "null": `null`, "a text": `[{"index": 0, "score": "high"}, {"index": 1, "score": 1}, {"index": 2, "score": 1}]`,
		"NaN": `[{"index": 0, "score": NaN}, {"index": 1, "score": 1}, {"index": 2, "score": 1}]`,
	} {
		s.Always(llmtest.Body(200, answer))
		if got, err := r.Rerank(t.Context(), safe(t, "yes")[0], texts); err == nil {
			t.Errorf("%s: %v and no error", name, got)
		}
	}
}

// A budget of a number of answers.
type budget struct {
	left, tokens int
	refuses      error // nil for one in words
}

func (b *budget) of() *llm.Budget { return &llm.Budget{Allow: b.allow, Spent: b.spent} }

func (b *budget) allow(context.Context) error {
	if b.left == 0 && b.refuses != nil {
		return b.refuses
	}
	if b.left == 0 {
		return errors.New("enough for today")
	}
	b.left--
	return nil
}

func (b *budget) spent(_ string, u llm.Usage) { b.tokens += u.Prompt + u.Answer }

func TestGenerator(t *testing.T) {
	s := llmtest.New(t)
	s.Answer = func(system, user string) string { return "\n<think>hm</think>\n " + system + "/" + user + " " }
	b := &budget{left: 2}
	c, err := llm.NewGenerator(llm.GeneratorOptions{Provider: "deepseek", URL: s.URL + "/v1", Model: "m", Key: testKey}, llm.Network{}, b.of())
	if err != nil {
		t.Fatal(err)
	}
	p := llm.Prompt{System: safe(t, "be brief")[0], User: safe(t, "why")[0], MaxTokens: 50}
	got, err := c.Complete(t.Context(), p)
	want := llm.Completion{Text: "be brief/why", Usage: llm.Usage{Prompt: 11, Answer: 7}}
	if d := cmp.Diff(want, got); d != "" || err != nil || c.Name() != "deepseek/m" {
		t.Errorf("%v %s\n%s", err, c.Name(), d)
	}
	const sent = `{"model":"m","messages":[{"role":"system","content":"be brief"},{"role":"user","content":"why"}],"temperature":0.2,"max_tokens":50,"stream":false}`
	if r := s.Received()[0]; r.Body != sent || r.Path != "/v1/chat/completions" {
		t.Errorf("sent %s %s", r.Path, r.Body)
	}
	s.Next(llmtest.Body(200, `{"choices": [{"message": {"content": "four"}, "finish_reason": "length"}]}`))
	got, err = c.Complete(t.Context(), llm.Prompt{User: safe(t, "12345678")[0]})
	if d := cmp.Diff(llm.Completion{Text: "four", Cut: true, Usage: llm.Usage{Prompt: 2, Answer: 1, Estimated: true}}, got); d != "" || err != nil {
		t.Errorf("%v\n%s", err, d)
	}
	s.Forget()
	if _, err := c.Generate(t.Context(), p); err == nil || !strings.Contains(err.Error(), "enough for today") || len(s.Received()) != 0 {
		t.Errorf("over the budget: %v, %d requests", err, len(s.Received()))
	}
	if b.tokens != 18+3 {
		t.Errorf("%d tokens spent, want 21", b.tokens)
	}
	b.left = 100
	for answer, want := range map[string]string{
		`{"choices": []}`: "an empty answer", `{"choices": [{"message": {"content": " "}}]}`: "an empty answer",
		`{"choices": [{"message": {"content": null, "refusal": "I would rather not"}}]}`: "rather not",
		`{"choices": [{"message": {"content": ["a"]}}]}`:                                 "cannot be read",
	} {
		s.Next(llmtest.Body(200, answer))
		if _, err := c.Generate(t.Context(), p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", answer, err, want)
		}
	}
}

// Newer models of one vendor refuse what all others want.
func TestGeneratorLearns(t *testing.T) {
	s := llmtest.New(t)
	s.Always(func(s *llmtest.Server, w http.ResponseWriter, r *http.Request, body []byte) {
		switch {
		case strings.Contains(string(body), `"max_tokens"`):
			llmtest.Body(400, `{"error": {"message": "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."}}`)(s, w, r, body)
		case strings.Contains(string(body), `"temperature"`):
			llmtest.Body(400, `{"error": {"message": "Unsupported value: 'temperature' does not support 0.2."}}`)(s, w, r, body)
		default:
			llmtest.Good(s, w, r, body)
		}
	})
	c, err := llm.NewGenerator(llm.GeneratorOptions{Provider: "openai", URL: s.URL, Model: "m", Key: testKey}, llm.Network{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := llm.Prompt{User: safe(t, "why")[0], MaxTokens: 50}
	for _, want := range []int{3, 1} {
		s.Forget()
		if _, err := c.Generate(t.Context(), p); err != nil || len(s.Received()) != want {
			t.Errorf("%d requests, want %d: %v", len(s.Received()), want, err)
		}
	}
}

func TestGeneratorNotConfigured(t *testing.T) {
	for _, o := range []llm.GeneratorOptions{
		{},
		{Provider: llm.Heuristic, URL: "https://x.example", Model: "m", Key: "k"},
		{Provider: llm.Local, Model: "m", Key: "k"},
		{Provider: llm.Claude, URL: "https://x.example", Model: "m", Key: "k"},
		{Provider: llm.OpenAI, URL: "https://x.example", Key: "k"},
		{Provider: llm.OpenAI, URL: "https://x.example", Model: "m"},
	} {
		if _, err := llm.NewGenerator(o, llm.Network{}, nil); !errors.Is(err, llm.ErrNotConfigured) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if _, err := llm.NewGenerator(llm.GeneratorOptions{Provider: llm.Local, URL: "http://localhost:1", Model: "m"}, llm.Network{}, nil); err != nil {
		t.Errorf("a local server without a key: %v", err)
	}
}
