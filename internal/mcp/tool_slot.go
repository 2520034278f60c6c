package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"anamnesis/internal/app/hooks"
	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/store/project"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

var toolSlot = tool{
	name:  "memory_slot",
	doc:   `List the short texts that every session is shown, append a line to one, or replace it.`,
	hints: sdk.ToolAnnotations{DestructiveHint: &no, OpenWorldHint: &no},
	does:  decides,
	find:  "slots, short texts that every session is shown",
	input: schemaOf[slotIn],
	amend: func(p map[string]*jsonschema.Schema) {
		p["action"].Enum = oneOf("list", string(ingest.AppendSlot), string(ingest.ReplaceSlot))
	},
	call: takes((*Server).slot),
}

type slotIn struct {
	Action  string `json:"action"`
	Name    string `json:"name,omitempty"`
	Text    string `json:"text,omitempty"`
	Project string `json:"project,omitempty"`
}

// A slotLine is a slot as an agent sees it.
type slotLine struct {
	Name    string `json:"name"`
	Project string `json:"project"`
	Limit   int    `json:"limit"`  // characters
	Pinned  bool   `json:"pinned"` // only its owner changes it
	Text    string `json:"text"`
}

type slotOut struct {
	Message string     `json:"message"`
	Result  []slotLine `json:"result"`
}

func (slotOut) framed() {}

func (s *Server) slot(ctx context.Context, c caller, in slotIn) (any, error) {
	out := slotOut{Result: []slotLine{}}
	p, err := s.project(ctx, c, in.Project)
	if err != nil {
		return out, err
	}
	if in.Action != "list" {
		return s.editSlot(ctx, c, p, in)
	}
	if _, err := s.refresh(ctx); err != nil {
		return out, err
	}
	all, err := hooks.SlotsOf(ctx, s.rooms, p.id.Key, project.Names(s.rooms.Store, p.id))
	if err != nil {
		return out, err
	}
	left := budget(maxAnswer)
	for i, v := range all.Slots {
		line := slotLine{Name: v.Name, Project: v.Project, Limit: v.Limit, Pinned: v.Pinned}
		if v.Hidden || !left.room(line) {
			continue
		}
		line.Text = left.body(v.Text, len(all.Slots)-i)
		out.Result = append(out.Result, line)
	}
	out.Message = fmt.Sprintf("%d slots", len(out.Result))
	return out, nil
}

func (s *Server) editSlot(ctx context.Context, c caller, p place, in slotIn) (done, error) {
	text := strings.ToValidUTF8(strings.ReplaceAll(in.Text, "\r\n", "\n"), "\uFFFD")
	if len(text) > maxBody {
		return done{}, fmt.Errorf("the text has more than %d bytes", maxBody)
	}
	if note.SlotOf(in.Name).Automatic {
		return done{}, errors.New("this slot is kept by the machine; use another name")
	}
	if err := s.mayWrite(); err != nil {
		return done{}, err
	}
	here, err := s.place(ctx, c, "")
	if err != nil {
		return done{}, err
	}
	e := ingest.SlotEdit{
		Change: ingest.SlotChange(in.Action), Name: in.Name, Project: p.id.Key, Text: text, By: ingest.Agent, Here: here.id.Key,
	}
	if in.Project == "" && note.SlotOf(in.Name).Global {
		e.Project = note.Global
	}
	if _, err := s.refresh(ctx); err != nil {
		return done{}, err
	}
	edited, err := ingest.SlotsOf(s.rooms.Ingester).Edit(ctx, e)
	var refused *ingest.SlotError
	if errors.As(err, &refused) {
		return done{}, refused
	}
	if err != nil {
		return done{}, err
	}
	if edited.Note == nil {
		return done{}, fmt.Errorf("not written: %s", edited.Why)
	}
	return written(edited), nil
}
