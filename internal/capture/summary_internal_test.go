package capture

import (
	"context"
	"strings"
	"testing"

	"anamnesis/internal/llm"
	"anamnesis/internal/redact"
)

// said is a model that says one thing.
type said string

func (said) Name() string                                           { return "test/said" }
func (s said) Generate(context.Context, llm.Prompt) (string, error) { return string(s), nil }

func FuzzParseSummary(f *testing.F) {
	for _, s := range []string{`{"skip": true}`, `{"skip": false, "title": "t", "body": "b"}`, "```json\n{}\n```", `{"skip": "false"}`, "[]", "{"} {
		f.Add(s)
	}
	r, err := redact.New()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<14 {
			return
		}
		check := func(s *summary) []string { return s.check(r) }
		got, err := llm.Exact(t.Context(), said(text), llm.Prompt{}, llm.Asking{Loose: true}, check)
		if err != nil || got.skips() {
			return
		}
		if strings.TrimSpace(got.Title) == "" || strings.TrimSpace(got.Body) == "" || strings.ContainsAny(got.Title, "\r\n") {
			t.Errorf("%q is taken for %+v", text, got)
		}
	})
}
