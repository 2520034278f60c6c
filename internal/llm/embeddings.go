package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"sync/atomic"

	"anamnesis/internal/redact"
)

// EmbedderOptions name an embedding model behind an OpenAI-compatible server.
type EmbedderOptions struct {
	URL     string  // with or without /v1; "" means none
	Model   string  // "" leaves it to the server
	Key     string  // sent to the host of URL only
	Timeout float64 // seconds one batch may take, all tries and waits included; 0 means 60
}

// An Embedder turns texts into vectors whose directions say what the texts mean: it asks
// POST /v1/embeddings. It is safe for concurrent use. How many values a vector has is known from
// the first answer on, and an answer that differs is an error.
type Embedder struct {
	server *server
	model  string
	dim    atomic.Int64
}

// NewEmbedder returns an Embedder behind HTTP. It connects when it is first asked.
func NewEmbedder(o EmbedderOptions, n Network) (*Embedder, error) {
	whole := seconds(o.Timeout, defaultWhole)
	s, err := newServer(o.URL, o.Key, n, func(u *url.URL) []string { return routes(u, "/embeddings") }, whole/2, whole)
	if err != nil {
		return nil, err
	}
	return &Embedder{server: s, model: o.Model}, nil
}

// Name tells the model and its server: two servers may call two models alike. It is part of
// the digest of every vector, and vectors of two names are never compared.
func (e *Embedder) Name() string { return "openai-compatible/" + e.model + "@" + e.server.host }

// The limits of one request. Servers refuse batches of more than 32 as they are
// shipped, and what is behind the first thousands of letters of a text.
const (
	embedBatch   = 32
	maxEmbedText = 8000 // bytes
)

// Embed returns a vector for each text, in their order. They need not be of unit length; a
// text that says nothing to the model has a vector of zeros. Empty texts, which servers
// refuse, are not sent.
func (e *Embedder) Embed(ctx context.Context, texts []redact.Text) ([][]float32, error) {
	all := make([][]float32, len(texts))
	var batch []string
	var places []int
	for i, t := range texts {
		if t.Len() > 0 {
			batch, places = append(batch, t.Head(maxEmbedText).String()), append(places, i)
		}
		if len(batch) == 0 || len(batch) < embedBatch && i < len(texts)-1 {
			continue
		}
		got, err := e.ask(ctx, batch)
		if err != nil {
			return nil, fmt.Errorf("embed with %s: %w", e.model, err)
		}
		for k, v := range got {
			all[places[k]] = v
		}
		batch, places = nil, nil
	}
	for i := range all {
		if all[i] == nil {
			all[i] = make([]float32, e.dim.Load())
		}
	}
	return all, nil
}

// values are the numbers of a vector. A null in their place is an error, not 0.
type values []float32

func (v *values) UnmarshalJSON(data []byte) error {
	if bytes.Contains(data, []byte("null")) {
		return errors.New("a vector holds null")
	}
	return json.Unmarshal(data, (*[]float32)(v))
}

func (e *Embedder) ask(ctx context.Context, batch []string) ([][]float32, error) {
	request := struct {
		Model string   `json:"model,omitempty"`
		Input []string `json:"input"`
	}{e.model, batch}
	var answer struct {
		Data []struct {
			Index     *int   `json:"index"`
			Embedding values `json:"embedding"`
		} `json:"data"`
	}
	if err := e.server.ask(ctx, request, &answer); err != nil {
		return nil, err
	}
	wrong := func(format string, args ...any) ([][]float32, error) {
		return nil, fmt.Errorf("%s answers with "+format, append([]any{e.server.host}, args...)...)
	}
	if len(answer.Data) != len(batch) {
		return wrong("%d vectors for %d texts", len(answer.Data), len(batch))
	}
	all := make([][]float32, len(batch))
	for _, d := range answer.Data {
		if d.Index == nil || *d.Index < 0 || *d.Index >= len(all) || all[*d.Index] != nil {
			return wrong("vectors that cannot be distinguished: an index is missing, out of range or given twice")
		}
		if len(d.Embedding) == 0 {
			return wrong("a vector without values")
		}
		if dim := int64(len(d.Embedding)); !e.dim.CompareAndSwap(0, dim) && e.dim.Load() != dim {
			return wrong("a vector of %d dimensions where it had %d", dim, e.dim.Load())
		}
		all[*d.Index] = d.Embedding
	}
	return all, nil
}
