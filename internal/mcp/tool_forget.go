package mcp

import (
	"context"
	"fmt"

	"anamnesis/internal/app"
	"anamnesis/internal/note"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

var toolForget = tool{
	name: "memory_forget",
	doc: `Show what forgetting a note would erase, and with apply erase it on every machine for good. Apply only when the user ` +
		`asked for it; what a person laid down is archived instead.`,
	hints: sdk.ToolAnnotations{DestructiveHint: &yes, IdempotentHint: true, OpenWorldHint: &no},
	does:  decides,
	find:  "forget delete erase a note of memory",
	input: schemaOf[forgetIn],
	amend: func(p map[string]*jsonschema.Schema) { p["apply"].Default = by("false") },
	call:  takes((*Server).forget),
}

type forgetIn struct {
	ID    string `json:"id"`
	Apply bool   `json:"apply,omitempty"`
}

// A forgetOut says what forgetting a note would erase.
type forgetOut struct {
	ID        note.ID   `json:"id"`
	Title     string    `json:"title"`
	Applied   bool      `json:"applied"` // false: it is a plan
	Notes     []string  `json:"notes"`   // files of the note and of those that say exactly the same
	History   int       `json:"former_states"`
	Held      []note.ID `json:"held"`
	Conflicts []note.ID `json:"conflicts"`
	InGit     bool      `json:"git_history_holds_it"`
	Message   string    `json:"message"`
}

func (forgetOut) framed() {}

func (s *Server) forget(ctx context.Context, _ caller, in forgetIn) (any, error) {
	if _, err := s.refresh(ctx); err != nil {
		return nil, err
	}
	id, err := s.idOf(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	row, ok, err := s.rooms.Index.Lookup(ctx, id)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fmt.Errorf("there is no note %s; memory_list names them", id)
	}
	if in.Apply {
		if n, _, _, err := s.rooms.Store.Read(row.Ref.Path); err == nil && n.UserSaid() {
			return s.retire(ctx, n)
		}
	}
	plan, err := app.Forget(ctx, s.rooms, string(row.ID), in.Apply)
	if err != nil {
		return nil, err
	}
	if plan.Applied {
		out := done{ID: plan.ID, Outcome: "erased", Message: "the statement does not come back on its own"}
		if plan.InGit {
			out.Message += ", but git's history still holds the text"
		}
		_, err := s.refresh(ctx)
		return out, err
	}
	f := plan.Forgotten
	return forgetOut{
		ID: plan.ID, Title: name(f.Title), Notes: names(f.Notes), History: plan.History, Held: sorted(plan.Held),
		Conflicts: sorted(plan.Conflicts), InGit: plan.InGit, Message: "nothing was changed yet; apply does it, and cannot be undone",
	}, nil
}

// retire archives a note that a person vouches for: an agent cannot erase it.
func (s *Server) retire(ctx context.Context, n *note.Note) (any, error) {
	if _, err := s.rooms.Ingester.Archive(ctx, []note.ID{n.ID}, "an agent was asked to forget it"); err != nil {
		return nil, err
	}
	if _, err := s.refresh(ctx); err != nil {
		return nil, err
	}
	return done{ID: n.ID, Outcome: "archived", Message: "not erased: a person laid it down; `anamnesis archive undo` brings it back, " +
		"`anamnesis forget` with --apply erases it"}, nil
}
