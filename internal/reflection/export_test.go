package reflection

import (
	"context"

	"anamnesis/internal/llm"
	"anamnesis/internal/note"
)

// said is a model that says one thing.
type said string

func (said) Name() string                                           { return "test/said" }
func (s said) Generate(context.Context, llm.Prompt) (string, error) { return string(s), nil }

// ParseDistilled reads an answer to a distillation.
func ParseDistilled(text string) ([]Distilled, error) {
	return llm.Exact(context.Background(), said(text), llm.Prompt{}, llm.Asking{Loose: true}, checkDistilled)
}

// ParseGroups reads an answer to a merge.
func ParseGroups(text string, known []note.ID) (groups []Group, err error) {
	all, err := llm.Exact(context.Background(), said(text), llm.Prompt{}, llm.Asking{Loose: true}, func(all *[]answeredGroup) []string {
		return checkGroups(*all, known)
	})
	for i := range all {
		groups = append(groups, all[i].group())
	}
	return groups, err
}
