// Package llmtest is a model server for tests: it speaks the OpenAI-compatible
// protocols for embeddings and chat and both rerank protocols, keeps what it
// was sent, and misbehaves as it is shown. Its models are deterministic: a text
// means the bag of its words, and words can be made synonyms.
//
// Failure policy: a request that it does not understand is answered with 404 or
// 400, as a real server does; nothing here fails a test.
package llmtest

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"
)

// A Request is what the server received.
type Request struct {
	Path   string
	Header http.Header
	Body   string
}

// A Behaviour answers a request.
type Behaviour func(s *Server, w http.ResponseWriter, r *http.Request, body []byte)

// A Server is a model server on a loopback address. Its fields may be changed
// before it is asked.
type Server struct {
	URL      string
	Dim      int                                 // of vectors
	Synonyms map[string]string                   // a word and the one that it means
	Score    func(question, text string) float64 // of a text; the share of the question's words in it when nil
	Answer   func(system, user string) string    // to a chat

	mu       sync.Mutex
	received []Request
	next     []Behaviour
	always   Behaviour
	stop     chan struct{}
	http     *httptest.Server
}

// New starts a server that ends with the test.
func New(t testing.TB) *Server {
	s := &Server{Dim: 64, always: Good, stop: make(chan struct{})}
	s.http = httptest.NewServer(http.HandlerFunc(s.serve))
	s.URL = s.http.URL
	t.Cleanup(s.Close)
	return s
}

// Close stops the server: nothing answers at its address from then on.
func (s *Server) Close() {
	s.mu.Lock()
	select {
	case <-s.stop:
	default:
		close(s.stop)
	}
	s.mu.Unlock()
	s.http.CloseClientConnections()
	s.http.Close()
}

// Host is the host and the port.
func (s *Server) Host() string { return strings.TrimPrefix(s.URL, "http://") }

// Next sets how the next requests are answered, one each.
func (s *Server) Next(b ...Behaviour) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next = append(s.next, b...)
}

// Always sets how all further requests are answered.
func (s *Server) Always(b Behaviour) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.always, s.next = b, nil
}

// Received returns the requests so far.
func (s *Server) Received() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.received)
}

// Forget forgets the requests so far.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.received = nil
}

// Bytes returns all that was received: addresses, headers and bodies.
func (s *Server) Bytes() string {
	var b strings.Builder
	for _, r := range s.Received() {
		fmt.Fprintf(&b, "%s\n%v\n%s\n", r.Path, r.Header, r.Body)
	}
	return b.String()
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body) // a client that goes away is part of the game
	s.mu.Lock()
	s.received = append(s.received, Request{r.URL.RequestURI(), r.Header.Clone(), string(body)})
	b := s.always
	if len(s.next) > 0 {
		b, s.next = s.next[0], s.next[1:]
	}
	s.mu.Unlock()
	b(s, w, r, body)
}

// Good answers as a server should.
func Good(s *Server, w http.ResponseWriter, r *http.Request, body []byte) {
	var q struct {
		Input     []string
		Query     string
		Texts     []string
		Documents []string
		Messages  []struct{ Role, Content string }
	}
	if err := json.Unmarshal(body, &q); err != nil {
		Body(http.StatusBadRequest, `{"error": {"message": "no JSON"}}`)(s, w, r, body)
		return
	}
	switch path := r.URL.Path; {
	case strings.HasSuffix(path, "/v1/embeddings"):
		var data []map[string]any
		for i, text := range slices.Backward(q.Input) { // an order is not promised
			data = append(data, map[string]any{"object": "embedding", "index": i, "embedding": s.Vector(text)})
		}
		reply(w, map[string]any{"object": "list", "data": data, "usage": map[string]int{"total_tokens": len(body) / 4}})
	case strings.HasSuffix(path, "/v1/rerank"):
		var results []map[string]any
		for i, text := range q.Documents {
			results = append(results, map[string]any{"index": i, "relevance_score": s.score(q.Query, text)})
		}
		reply(w, map[string]any{"results": results})
	case strings.HasSuffix(path, "/rerank"):
		results := []map[string]any{}
		for i, text := range q.Texts {
			results = append(results, map[string]any{"index": i, "score": s.score(q.Query, text)})
		}
		reply(w, results)
	case strings.HasSuffix(path, "/v1/chat/completions"):
		var system, user string
		for _, m := range q.Messages {
			if m.Role == "system" {
				system = m.Content
			} else {
				user = m.Content
			}
		}
		text := "a fine answer"
		if s.Answer != nil {
			text = s.Answer(system, user)
		}
		reply(w, chat(text))
	default:
		Body(http.StatusNotFound, `{"error": "no such route"}`)(s, w, r, body)
	}
}

func chat(text string) map[string]any {
	return map[string]any{
		"choices": []any{map[string]any{"index": 0, "message": map[string]any{"role": "assistant", "content": text}, "finish_reason": "stop"}},
		"usage":   map[string]int{"prompt_tokens": 11, "completion_tokens": 7},
	}
}

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // a client that goes away is part of the game
}

func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// Vector is what the server makes of a text.
func (s *Server) Vector(text string) []float32 {
	v := make([]float32, s.Dim)
	for _, w := range wordsOf(text) {
		if other, ok := s.Synonyms[w]; ok {
			w = other
		}
		h := fnv.New32a()
		h.Write([]byte(w))
		v[h.Sum32()%uint32(s.Dim)]++
	}
	return v
}

func (s *Server) score(question, text string) float64 {
	if s.Score != nil {
		return s.Score(question, text)
	}
	asked, n := wordsOf(question), 0
	for _, w := range asked {
		if slices.Contains(wordsOf(text), w) {
			n++
		}
	}
	return float64(n) / float64(max(1, len(asked)))
}
