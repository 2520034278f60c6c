package mcp

import (
	"context"
	"errors"
	"fmt"

	"anamnesis/internal/app"
	"anamnesis/internal/app/curate"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

var toolReview = tool{
	name: "memory_review",
	doc: `List what waits for the user's decision, with its evidence. Only the user decides, in anamnesis review
or the dashboard.`,
	hints: sdk.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: &no},
	does:  reads,
	find:  "review inbox, notes that wait for the user",
	input: schemaOf[reviewIn],
	amend: func(p map[string]*jsonschema.Schema) { p["action"].Default = by(`"list"`) },
	call:  takes((*Server).review),
}

type reviewIn struct {
	Action string `json:"action,omitempty"`
	ID     string `json:"id,omitempty"`
}

// A reviewLine is what waits, as an agent sees it.
type reviewLine struct {
	ID       string   `json:"id"`
	Title    string   `json:"title"`
	Why      string   `json:"why"`
	Choices  []string `json:"choices"`
	Sessions int      `json:"sessions"`          // that support it
	Against  string   `json:"against,omitempty"` // the note that it contradicts
	Evidence string   `json:"evidence"`
	Text     string   `json:"text"`
}

type reviewOut struct {
	Message string       `json:"message"`
	Result  []reviewLine `json:"result"`
}

func (reviewOut) framed() {}

// review lists what waits. What is in quarantine reads like orders to an agent: it is
// counted, and neither shown to one nor decided by one.
func (s *Server) review(ctx context.Context, _ caller, in reviewIn) (any, error) {
	out := reviewOut{Result: []reviewLine{}}
	if in.Action != "list" {
		return out, errors.New("only the user decides: `anamnesis review` in a terminal, or the dashboard; action list shows what waits")
	}
	if _, err := s.refresh(ctx); err != nil {
		return out, err
	}
	all, err := curate.Review(ctx, s.rooms)
	if err != nil {
		return out, err
	}
	left, quarantined := budget(maxAnswer), 0
	for i, it := range all.Notes {
		if it.Quarantine {
			quarantined++
			continue
		}
		line := reviewLine{ID: string(it.ID), Title: it.Title, Why: it.Why, Choices: []string{}, Sessions: it.Sessions}
		for _, c := range it.Choices {
			if c != app.EditIt && (it.Kind != app.WaitingSkill || c == app.Reject) {
				line.Choices = append(line.Choices, string(c))
			}
		}
		if it.Other != nil {
			line.Against = string(it.Other.ID) + " " + it.Other.Title
		}
		if len(it.Evidence) > 0 {
			line.Evidence = it.Evidence[0].Quote
		}
		if !left.room(line) {
			break
		}
		if it.Kind == app.WaitingSkill {
			it.Body = s.rooms.Redactor.Redact(it.Diff).String()
		}
		line.Text = left.body(it.Body, len(all.Notes)-i)
		out.Result = append(out.Result, line)
	}
	out.Message = fmt.Sprintf("%d of %d that wait", len(out.Result), len(all.Notes))
	if quarantined > 0 {
		out.Message += fmt.Sprintf("; %d in quarantine are for the user's own eyes: `anamnesis review`", quarantined)
	}
	return out, nil
}
