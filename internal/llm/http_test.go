package llm_test

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/llm"
	"anamnesis/internal/llm/llmtest"
	"anamnesis/internal/redact"

	"github.com/google/go-cmp/cmp"
)

const testKey = "key-3f9a1c77d2" // no shape that a redactor knows

// safe redacts texts.
func safe(t *testing.T, texts ...string) []redact.Text {
	t.Helper()
	r, err := redact.New()
	if err != nil {
		t.Fatal(err)
	}
	var all []redact.Text
	for _, text := range texts {
		all = append(all, r.Redact(text))
	}
	return all
}

// long is how many seconds something may take that takes none on a machine with
// nothing else to do.
const long = 120

// clients asks each client of a server once. A try of the embedder, and of the
// chat, may take so many seconds.
func clients(t *testing.T, url string, seconds float64) map[string]func(context.Context) error {
	t.Helper()
	e, err := llm.NewEmbedder(llm.EmbedderOptions{URL: url, Model: "m", Key: testKey, Timeout: 2 * seconds}, llm.Network{}) // of all tries
	if err != nil {
		t.Fatal(err)
	}
	tei, err := llm.NewReranker(llm.RerankerOptions{URL: url, Key: testKey}, llm.Network{})
	if err != nil {
		t.Fatal(err)
	}
	cohere, err := llm.NewReranker(llm.RerankerOptions{URL: url + "/v1", Model: "m", Key: testKey}, llm.Network{})
	if err != nil {
		t.Fatal(err)
	}
	chat, err := llm.NewGenerator(llm.GeneratorOptions{Provider: llm.Local, URL: url, Model: "m", Key: testKey, Timeout: seconds}, llm.Network{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	texts := safe(t, "one", "two")
	return map[string]func(context.Context) error{
		"embedder": func(ctx context.Context) error { _, err := e.Embed(ctx, texts); return err },
		"tei":      func(ctx context.Context) error { _, err := tei.Rerank(ctx, texts[0], texts); return err },
		"cohere":   func(ctx context.Context) error { _, err := cohere.Rerank(ctx, texts[0], texts); return err },
		"chat": func(ctx context.Context) error {
			_, err := chat.Generate(ctx, llm.Prompt{System: texts[0], User: texts[1]})
			return err
		},
	}
}

func TestServersThatMisbehave(t *testing.T) {
	elsewhere := llmtest.New(t)
	for _, tt := range []struct {
		name  string
		next  []llmtest.Behaviour
		err   string // "" means that there is none
		tries int
	}{
		{"good", nil, "", 1},
		{"fenced JSON", []llmtest.Behaviour{llmtest.Fenced}, "cannot be read", 1},
		{"trailing prose", []llmtest.Behaviour{llmtest.Trailing}, "cannot be read", 1},
		{"prose", []llmtest.Behaviour{llmtest.Body(200, "Sure!")}, "cannot be read", 1},
		{"nothing", []llmtest.Behaviour{llmtest.Body(200, "")}, "cannot be read", 1},
		{"wrong types", []llmtest.Behaviour{llmtest.Body(200, `{"data": "x", "results": 7, "choices": {}}`)}, "cannot be read", 1},
		{"an error with 200", []llmtest.Behaviour{llmtest.ErrorBody}, "the model is not loaded", 1},
		{"another shape of it", []llmtest.Behaviour{llmtest.Body(200, `{"object": "error", "message": "too long"}`)}, "too long", 1},
		{"429, then good", []llmtest.Behaviour{llmtest.Fails(429, "")}, "", 2},
		{"429 with a time", []llmtest.Behaviour{llmtest.Fails(429, "1")}, "", 2},
		{"429 with a long time", []llmtest.Behaviour{llmtest.Fails(429, "3600")}, "HTTP 429: not now", 1},
		{"503 twice", []llmtest.Behaviour{llmtest.Fails(503, ""), llmtest.Fails(503, "")}, "", 3},
		{"500 for ever", []llmtest.Behaviour{llmtest.Fails(500, "0"), llmtest.Fails(500, ""), llmtest.Fails(500, "")}, "HTTP 500: not now", 3},
		{"401", []llmtest.Behaviour{llmtest.Fails(401, "")}, "HTTP 401: not now", 1},
		{"cut in the middle", []llmtest.Behaviour{llmtest.Cut}, "", 2},
		{"hangs once", []llmtest.Behaviour{llmtest.Hang}, "", 2},
		{"redirects", []llmtest.Behaviour{llmtest.Redirect(elsewhere.URL)}, "redirects to " + elsewhere.URL, 1},
		{"too much", []llmtest.Behaviour{llmtest.Endless}, "longer than", 1},
		{"repeats the key", []llmtest.Behaviour{llmtest.Echo}, "[key]", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, name := range []string{"embedder", "tei", "cohere", "chat"} {
				if tt.name == "hangs once" && (name == "tei" || name == "cohere") {
					continue // they wait longer than a test
				}
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					s := llmtest.New(t)
					patience := float64(long)
					if tt.name == "hangs once" {
						patience = 10
					}
					ask := clients(t, s.URL, patience)[name]
					s.Next(tt.next...)
					began := time.Now()
					err := ask(t.Context())
					switch {
					case tt.err == "" && err != nil:
						t.Error(err)
					case tt.err != "" && err == nil:
						t.Errorf("no error, want %q", tt.err)
					case err != nil && (!strings.Contains(err.Error(), tt.err) || !strings.Contains(err.Error(), s.Host())):
						t.Errorf("%v; want %q and the host %s in it", err, tt.err, s.Host())
					case err != nil && (strings.Contains(err.Error(), testKey) || strings.ContainsAny(err.Error(), "\n\x1b")):
						t.Errorf("the error holds the key or controls the terminal: %q", err)
					}
					if n := len(s.Received()); n != tt.tries {
						t.Errorf("asked %d times, want %d", n, tt.tries)
					}
					if tt.name == "429 with a time" && time.Since(began) < time.Second {
						t.Errorf("asked again after %v", time.Since(began))
					}
				})
			}
		})
	}
	t.Cleanup(func() {
		if got := elsewhere.Received(); len(got) > 0 {
			t.Errorf("a redirect was followed: %v", got)
		}
	})
}

func TestPatience(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t)
	s.Always(llmtest.Hang)
	e, err := llm.NewEmbedder(llm.EmbedderOptions{URL: s.URL, Timeout: 0.2}, llm.Network{})
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if _, err := e.Embed(t.Context(), safe(t, "x")); err == nil || !strings.Contains(err.Error(), "no answer within") || time.Since(began) > long/2*time.Second {
		t.Errorf("after %v: %v", time.Since(began), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	for name, ask := range clients(t, s.URL, long) {
		began := time.Now()
		if err := ask(ctx); !errors.Is(err, context.Canceled) || time.Since(began) > long/2*time.Second {
			t.Errorf("%s, cancelled, after %v: %v", name, time.Since(began), err)
		}
	}
	s.Close()
	for name, ask := range clients(t, s.URL, long) {
		if err := ask(t.Context()); err == nil || !strings.Contains(err.Error(), "cannot be reached") || !strings.Contains(err.Error(), s.Host()) {
			t.Errorf("%s, nobody there: %v", name, err)
		}
	}
}

func TestAddresses(t *testing.T) {
	for _, tt := range []struct{ address, err string }{
		{"https://api.example.com", ""},
		{"https://api.example.com/v1/", ""},
		{"http://localhost:11434", ""},
		{"http://127.0.0.1", ""},
		{"http://[::1]:80/v1", ""},
		{"http://192.168.1.4", ""},
		{"http://100.100.2.3", ""},
		{"http://ollama:11434", ""},
		{"http://box.local", ""},
		{"http://api.example.com", "not encrypted"},
		{"http://8.8.8.8", "not encrypted"},
		{"http://[2001:db8::1]", "not encrypted"},
		{"http://134744072", "not encrypted"},
		{"http://local", ""},
		{"http://notlocal.localx", "not encrypted"},
		{"ftp://example.com", "must start with"},
		{"example.com", "must start with"},
		{"https://", "names no host"},
		{"https://:443", "names no host"},
		{"https://u:p4ssw0rd@example.com", "must not hold"},
		{"https://example.com/?key=p4ssw0rd", "must end with its path"},
		{"https://exa mple.com p4ssw0rd", "is not an address"},
	} {
		_, err := llm.NewEmbedder(llm.EmbedderOptions{URL: tt.address}, llm.Network{})
		if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("%s: %v, want %q", tt.address, err, tt.err)
		}
		if err != nil && strings.Contains(err.Error(), "p4ssw0rd") {
			t.Errorf("the error tells the password: %v", err)
		}
	}
	if _, err := llm.NewEmbedder(llm.EmbedderOptions{URL: "http://api.example.com"}, llm.Network{PlainHTTP: true}); err != nil {
		t.Errorf("with plain HTTP allowed: %v", err)
	}
	if _, err := llm.NewEmbedder(llm.EmbedderOptions{URL: "https://api.example.com", Key: "a\nb-s3cret"}, llm.Network{}); err == nil || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("a key of two lines: %v", err)
	}
}

func TestProxy(t *testing.T) {
	s := llmtest.New(t)
	n := llm.Network{PlainHTTP: true, Proxy: s.URL}
	public, err := llm.NewEmbedder(llm.EmbedderOptions{URL: "http://models.example.com", Model: "m"}, n)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := public.Embed(t.Context(), safe(t, "x")); err != nil || len(s.Received()) != 1 {
		t.Errorf("through the proxy: %v, %d requests", err, len(s.Received()))
	}
	near := llmtest.New(t)
	direct, err := llm.NewEmbedder(llm.EmbedderOptions{URL: near.URL, Model: "m"}, n)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := direct.Embed(t.Context(), safe(t, "x")); err != nil || len(near.Received()) != 1 || len(s.Received()) != 1 {
		t.Errorf("a private host went through the proxy: %v", err)
	}
}

// Bases are written with and without a version, and with the whole route.
func TestRoutes(t *testing.T) {
	s := llmtest.New(t)
	for _, tt := range []struct{ base, want string }{
		{"", "/v1/embeddings"},
		{"/", "/v1/embeddings"},
		{"/v1", "/v1/embeddings"},
		{"/v1/", "/v1/embeddings"},
		{"/openai/v1", "/openai/v1/embeddings"},
		{"/openai", "/openai/v1/embeddings"},
		{"/v1/embeddings", "/v1/embeddings"},
	} {
		s.Forget()
		e, err := llm.NewEmbedder(llm.EmbedderOptions{URL: s.URL + tt.base}, llm.Network{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Embed(t.Context(), safe(t, "x")); err != nil || s.Received()[0].Path != tt.want {
			t.Errorf("base %q asked %v: %v", tt.base, s.Received(), err)
		}
	}
	// A server without versions is found, and remembered.
	s.Forget()
	s.Always(func(s *llmtest.Server, w http.ResponseWriter, r *http.Request, body []byte) {
		if r.URL.Path != "/embeddings" {
			llmtest.Fails(404, "")(s, w, r, body)
			return
		}
		r.URL.Path = "/v1/embeddings"
		llmtest.Good(s, w, r, body)
	})
	e, err := llm.NewEmbedder(llm.EmbedderOptions{URL: s.URL}, llm.Network{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := e.Embed(t.Context(), safe(t, "x")); err != nil {
			t.Fatal(err)
		}
	}
	var paths []string
	for _, r := range s.Received() {
		paths = append(paths, r.Path)
	}
	if d := cmp.Diff([]string{"/v1/embeddings", "/embeddings", "/embeddings"}, paths); d != "" {
		t.Error(d)
	}
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-3 }
