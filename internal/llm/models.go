package llm

import (
	"context"
	"strings"

	"anamnesis/internal/redact"
)

// A Generator completes a prompt.
type Generator interface {
	// Name says which model answers, as provider/model.
	Name() string
	// Generate returns the answer to a prompt, without anything around it.
	Generate(ctx context.Context, p Prompt) (string, error)
}

// A Prompt is what a Generator is asked.
type Prompt struct {
	System    redact.Text
	User      redact.Text
	MaxTokens int // of the answer; 0 leaves it to the model
}

// Instructions are a system prompt with one more instruction, "" for none.
func Instructions(system, more string) string {
	if more == "" {
		return system
	}
	return strings.TrimRight(system, "\n") + "\n\n" + more + "\n"
}

// A Reranker reads texts together with a question.
type Reranker interface {
	Name() string
	// Rerank returns one score a text, as a logit: the greater the better, 0 is undecided.
	Rerank(ctx context.Context, question redact.Text, texts []redact.Text) ([]float64, error)
}
