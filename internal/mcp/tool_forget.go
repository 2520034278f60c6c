package mcp

import (
	"context"
	"fmt"
	"slices"

	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
	"anamnesis/internal/store/project"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

var toolForget = tool{
	name: "memory_forget",
	doc: `Archive a note of this project, with apply: no session is shown it, and the user can undo it. Only the user takes
back what the user said or wrote.`,
	hints: sdk.ToolAnnotations{DestructiveHint: &no, IdempotentHint: true, OpenWorldHint: &no},
	does:  decides,
	find:  "forget delete archive a note of memory",
	input: schemaOf[forgetIn],
	amend: func(p map[string]*jsonschema.Schema) { p["apply"].Default = by("false") },
	call:  takes((*Server).forget),
}

type forgetIn struct {
	ID    string `json:"id"`
	Apply bool   `json:"apply,omitempty"`
}

func (s *Server) forget(ctx context.Context, c caller, in forgetIn) (any, error) {
	if err := s.mayWrite(); err != nil {
		return nil, err
	}
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
	here, err := s.place(ctx, c, "")
	if err != nil {
		return nil, err
	}
	n, _, _, err := s.rooms.Store.Read(row.Ref.Path)
	switch {
	case err != nil:
		return nil, err
	case n.UserSaid():
		return nil, fmt.Errorf("%s is your user's own word, and only they take it back: `anamnesis archive %s`", id, id)
	case !slices.Contains(project.Names(s.rooms.Store, here.id), n.Project):
		return nil, fmt.Errorf("%s belongs to %s; only the user changes notes of other projects: `anamnesis archive %s`", id, name(n.Project), id)
	}
	if !in.Apply {
		return done{ID: n.ID, Outcome: "planned", Message: "nothing was changed yet; apply archives it"}, nil
	}
	deciding := store.Deciding(ctx, s.rooms.Store, ingest.Agent.String(), "archive")
	if _, err := s.rooms.Ingester.Archive(deciding, []note.ID{n.ID}, "an agent was asked to forget it"); err != nil {
		return nil, err
	}
	if _, err := s.refresh(ctx); err != nil {
		return nil, err
	}
	return done{ID: n.ID, Outcome: "archived", Message: "no session is shown it; `anamnesis archive undo` brings it back"}, nil
}
