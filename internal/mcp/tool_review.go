package mcp

import (
	"context"
	"errors"
	"fmt"

	"anamnesis/internal/app"
	"anamnesis/internal/app/curate"
	"anamnesis/internal/note"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

var toolReview = tool{
	name: "memory_review",
	doc: `List what machines wrote and nobody has read, with its evidence, or carry out what the user decided about one
of them. Never decide yourself.`,
	hints: sdk.ToolAnnotations{DestructiveHint: &no, OpenWorldHint: &no},
	does:  decides,
	find:  "review inbox, notes that wait for the user to keep or reject",
	input: schemaOf[reviewIn],
	amend: func(p map[string]*jsonschema.Schema) {
		p["action"].Enum = oneOf("list", string(app.Keep), string(app.Reject), string(app.Retire))
	},
	call: takes((*Server).review),
}

type reviewIn struct {
	Action string `json:"action"`
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
		return s.decideReview(ctx, in)
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

func (s *Server) decideReview(ctx context.Context, in reviewIn) (done, error) {
	if _, err := note.ParseID(in.ID); err != nil {
		return done{}, fmt.Errorf("the id %q: %w; take it from the list", in.ID, err)
	}
	if err := s.mayWrite(); err != nil {
		return done{}, err
	}
	if _, err := s.refresh(ctx); err != nil {
		return done{}, err
	}
	all, err := curate.Review(ctx, s.rooms)
	if err != nil {
		return done{}, err
	}
	for _, it := range all.Notes {
		if string(it.ID) != in.ID {
			continue
		}
		if it.Quarantine {
			return done{}, errors.New("it is in quarantine, and only the user decides about it: `anamnesis review`")
		}
		if it.Kind == app.WaitingSkill && in.Action != string(app.Reject) {
			return done{}, errors.New("it changes a file of instructions, and only the user does that: `anamnesis review keep " + in.ID + "`")
		}
		decided, err := curate.DecideReview(ctx, s.rooms, in.ID, app.Decision(in.Action), app.Edit{})
		if err != nil {
			return done{}, err
		}
		return done{ID: it.ID, Outcome: in.Action, Message: fmt.Sprintf("done; %d wait, action list shows them", decided.Left)}, nil
	}
	return done{}, fmt.Errorf("nothing with the id %s waits; the action list says what does", in.ID)
}
