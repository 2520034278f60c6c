package llm

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// parseAnswer reads an answer that was to be JSON and nothing else: a tree of
// map[string]any, []any, string, float64, bool and nil. A code fence around all
// of it is taken away. Words before or behind it are an error: a model that
// explains itself did not do what it was asked, and what it means is a guess.
func parseAnswer(text string) (any, error) {
	dec := json.NewDecoder(strings.NewReader(unfence(text)))
	var tree any
	if err := dec.Decode(&tree); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, errors.New("the answer ends before its JSON does")
		}
		return nil, fmt.Errorf("the answer is no JSON: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("the answer goes on behind its JSON")
	}
	return tree, nil
}

// unfence takes away a code fence that stands around the whole text.
func unfence(text string) string {
	text = strings.TrimSpace(strings.TrimPrefix(text, "\ufeff"))
	if !strings.HasPrefix(text, "```") {
		return text
	}
	first, rest, ok := strings.Cut(text, "\n")
	if !ok || strings.ContainsAny(first, "[{") {
		return text
	}
	inner, ok := strings.CutSuffix(strings.TrimSpace(rest), "```")
	if !ok {
		return text
	}
	return strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(inner), "\ufeff"))
}
