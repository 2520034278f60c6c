package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/url"
	"strings"
	"time"

	"anamnesis/internal/redact"
)

// RerankerOptions name a reranking model behind HTTP.
type RerankerOptions struct {
	URL   string // "" means none
	Model string // "" leaves it to the server
	Key   string // sent to the host of URL only
}

// remoteReranker asks POST /v1/rerank of Cohere, Jina, vLLM, llama.cpp and others where the
// address names a version, as in /v1, else POST /rerank of text-embeddings-inference.
type remoteReranker struct {
	server *server
	model  string
	tei    bool
}

// NewReranker returns a Reranker behind HTTP. It connects when it is first
// asked, and takes as long as the context of a question allows.
func NewReranker(o RerankerOptions, n Network) (Reranker, error) {
	u, err := parseAddress(o.URL)
	if err != nil {
		return nil, err
	}
	tei := !versioned(u.Path)
	at := func(u *url.URL) []string {
		if tei && !strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/rerank") {
			return []string{u.JoinPath("rerank").String()}
		}
		return routes(u, "/rerank")
	}
	s, err := newServer(o.URL, o.Key, n, at, 30*time.Second, 2*defaultWhole)
	if err != nil {
		return nil, err
	}
	return &remoteReranker{s, o.Model, tei}, nil
}

// Name implements Reranker.
func (r *remoteReranker) Name() string { return "rerank/" + r.model + "@" + r.server.host }

// Rerank implements Reranker. A server that answers with probabilities, all of
// them between 0 and 1, is understood as well as one that answers with logits.
func (r *remoteReranker) Rerank(ctx context.Context, question redact.Text, texts []redact.Text) ([]float64, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	request := struct {
		Model     string   `json:"model,omitempty"`
		Query     string   `json:"query"`
		Texts     []string `json:"texts,omitempty"`
		Truncate  bool     `json:"truncate,omitempty"` // tei refuses a text that is too long otherwise
		Documents []string `json:"documents,omitempty"`
		TopN      int      `json:"top_n,omitempty"`
	}{Query: question.String()}
	all := make([]string, len(texts))
	for i, t := range texts {
		all[i] = t.String()
	}
	if r.tei {
		request.Texts, request.Truncate = all, true
	} else {
		request.Model, request.Documents, request.TopN = r.model, all, len(all)
	}
	var answer rerankAnswer
	if err := r.server.ask(ctx, request, &answer); err != nil {
		return nil, fmt.Errorf("rerank with %s: %w", r.model, err)
	}
	scores, err := answer.scores(len(texts))
	if err != nil {
		return nil, fmt.Errorf("rerank with %s: %s answers with %w", r.model, r.server.host, err)
	}
	return logits(scores), nil
}

// A rerankAnswer is the list of either style; some servers take the request of
// one and give the answer of the other.
type rerankAnswer []struct {
	Index     *int     `json:"index"`
	Score     *float64 `json:"score"`
	Relevance *float64 `json:"relevance_score"`
}

func (a *rerankAnswer) UnmarshalJSON(data []byte) error {
	type plain rerankAnswer
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("[")) {
		return json.Unmarshal(data, (*plain)(a))
	}
	var wrapped struct {
		Results plain `json:"results"`
	}
	err := json.Unmarshal(data, &wrapped)
	*a = rerankAnswer(wrapped.Results)
	return err
}

// scores returns the n scores in the order of the texts.
func (a rerankAnswer) scores(n int) ([]float64, error) {
	if len(a) != n {
		return nil, fmt.Errorf("%d scores for %d texts", len(a), n)
	}
	scores, seen := make([]float64, n), make([]bool, n)
	for _, e := range a {
		score := e.Score
		if score == nil {
			score = e.Relevance
		}
		if score == nil || e.Index == nil || *e.Index < 0 || *e.Index >= n || seen[*e.Index] {
			return nil, errors.New("scores that cannot be distinguished: an index or a score is missing, out of range or given twice")
		}
		scores[*e.Index], seen[*e.Index] = *score, true
	}
	return scores, nil
}

// logits makes logits of scores that look like probabilities.
func logits(scores []float64) []float64 {
	for _, s := range scores {
		if s < 0 || s > 1 {
			return scores
		}
	}
	const least = 1e-6
	for i, p := range scores {
		p = max(least, min(1-least, p))
		scores[i] = math.Log(p / (1 - p))
	}
	return scores
}
