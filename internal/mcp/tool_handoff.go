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

// The actions of a handoff.
const (
	leave       = "leave"
	read        = "read"
	acknowledge = "acknowledge"
)

const maxHandoffs = 20 // shown at once

var toolHandoff = tool{
	name:  "memory_handoff",
	doc:   `Leave unfinished work for the next session (title, body), read what waits, or acknowledge (id) what you took over.`,
	hints: sdk.ToolAnnotations{DestructiveHint: &no, OpenWorldHint: &no},
	does:  proposes,
	find:  "hand over unfinished work to the next session, read or acknowledge a handoff",
	input: schemaOf[handoffIn],
	amend: func(p map[string]*jsonschema.Schema) {
		p["action"].Enum = oneOf(leave, read, acknowledge)
		p["expires_days"].Default = by("7")
	},
	call: takes((*Server).handoff),
}

type handoffIn struct {
	Action  string `json:"action"`
	Title   string `json:"title,omitempty"`
	Body    string `json:"body,omitempty"`
	Project string `json:"project,omitempty"`
	Days    int    `json:"expires_days,omitempty" jsonschema:"1 to 30"`
	ID      string `json:"id,omitempty"`
}

// A waitingOut is a handoff that nobody took over yet.
type waitingOut struct {
	noteOut
	Body string `json:"body"`
}

type handoffOut struct {
	LeftOff int          `json:"left_off,omitempty"` // notes that did not fit into the answer
	Message string       `json:"message"`
	Result  []waitingOut `json:"result"`
}

func (handoffOut) framed() {}

func (s *Server) handoff(ctx context.Context, c caller, in handoffIn) (any, error) {
	switch in.Action {
	case leave:
		return s.leave(ctx, c, in)
	case read:
		return s.waiting(ctx, c, in.Project)
	}
	return s.acknowledge(ctx, strings.TrimSpace(in.ID))
}

// acknowledge ends a handoff. A wrong id gets an error that says how to find one.
func (s *Server) acknowledge(ctx context.Context, named string) (done, error) {
	const next = "action read names those that wait"
	if named == "" {
		return done{}, errors.New("give the id of the handoff; " + next)
	}
	if _, err := s.refresh(ctx); err != nil {
		return done{}, err
	}
	id, err := s.idOf(ctx, named)
	if err != nil {
		return done{}, fmt.Errorf("%w; %s", err, next)
	}
	row, ok, err := s.rooms.Index.Lookup(ctx, id)
	switch {
	case err != nil:
		return done{}, err
	case !ok:
		return done{}, fmt.Errorf("there is no handoff %s; %s", id, next)
	case row.Kind != note.Handoff:
		return done{}, fmt.Errorf("the note %s is no handoff; %s", id, next)
	}
	if _, err := hooks.AcknowledgeHandoff(ctx, s.rooms, string(row.ID)); err != nil {
		return done{}, err
	}
	return done{ID: row.ID, Outcome: "acknowledged", Message: "no other session will be shown it"}, nil
}

// project is the one project that a handoff belongs to.
func (s *Server) project(ctx context.Context, c caller, named string) (place, error) {
	if named == everywhere {
		return place{}, errors.New(`"*" is no project; name one`)
	}
	p, err := s.place(ctx, c, named)
	if err == nil && p.id.Key == "" {
		err = errNowhere
	}
	return p, err
}

func (s *Server) leave(ctx context.Context, c caller, in handoffIn) (done, error) {
	title, body := strings.TrimSpace(in.Title), strings.ToValidUTF8(strings.ReplaceAll(in.Body, "\r\n", "\n"), "\uFFFD")
	if err := checkText(title, body); err != nil {
		return done{}, err
	}
	if in.Days < 1 || in.Days > ingest.MaxHandoffDays {
		return done{}, fmt.Errorf("expires_days is %d; give 1 to %d", in.Days, ingest.MaxHandoffDays)
	}
	if err := s.mayWrite(); err != nil {
		return done{}, err
	}
	p, err := s.project(ctx, c, in.Project)
	if err != nil {
		return done{}, err
	}
	here, err := s.place(ctx, c, "")
	if err != nil {
		return done{}, err
	}
	out, err := s.rooms.Ingester.LeaveHandoff(ctx, ingest.Handoff{
		Project: p.id.Key, Title: title, Body: body, Days: in.Days, By: ingest.Agent, Here: here.id.Key,
	})
	if err != nil {
		return done{}, err
	}
	if out.Note == nil {
		return done{}, fmt.Errorf("not written: %s", out.Why)
	}
	return written(out), nil
}

func (s *Server) waiting(ctx context.Context, c caller, named string) (handoffOut, error) {
	out := handoffOut{Result: []waitingOut{}}
	p, err := s.project(ctx, c, named)
	if err != nil {
		return out, err
	}
	if _, err := s.refresh(ctx); err != nil {
		return out, err
	}
	all, err := hooks.WaitingHandoffs(ctx, s.rooms, project.Names(s.rooms.Store, p.id))
	if err != nil {
		return out, err
	}
	left := budget(maxAnswer)
	shown := all[:min(len(all), maxHandoffs)]
	for i, n := range shown {
		w := waitingOut{noteOut: ofNote(n)}
		if !left.room(w) {
			break
		}
		w.Body = left.body(n.Body, len(shown)-i)
		out.Result = append(out.Result, w)
	}
	out.LeftOff = len(all) - len(out.Result)
	out.Message = "nothing waits"
	if len(all) > 0 {
		out.Message = "acknowledge what you take over, by its id; memory_get reads a body that was cut"
	}
	return out, nil
}
