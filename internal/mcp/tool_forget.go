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
	hints:  sdk.ToolAnnotations{DestructiveHint: &yes, IdempotentHint: true, OpenWorldHint: &no},
	input:  schemaOf[forgetIn],
	output: schemaOf[forgetOut],
	amend:  func(p map[string]*jsonschema.Schema) { p["apply"].Default = by("false") },
	call:   takes((*Server).forget),
}

type forgetIn struct {
	ID    string `json:"id" jsonschema:"the whole id"`
	Apply bool   `json:"apply,omitempty"`
}

// A forgetPlan says what forgetting a note erases, or has erased.
type forgetPlan struct {
	ID        note.ID   `json:"id"`
	Title     string    `json:"title"`
	Applied   bool      `json:"applied"`
	Notes     []string  `json:"notes" jsonschema:"files of the note and of those that say exactly the same"`
	History   int       `json:"former_states"`
	Held      []note.ID `json:"held"`
	Conflicts []note.ID `json:"conflicts"`
	InGit     bool      `json:"git_history_holds_it"`
}

type forgetOut struct {
	Begin string `json:"begin,omitempty" jsonschema:"mark before text of notes"`
	forgetPlan
	Message string `json:"message"`
	Until   string `json:"until,omitempty" jsonschema:"mark behind text of notes"`
}

func (o forgetOut) frame(start, end string) any {
	o.Begin, o.Until = start, end
	return o
}

func (s *Server) forget(ctx context.Context, _ caller, in forgetIn) (forgetOut, error) {
	if _, err := s.refresh(ctx); err != nil {
		return forgetOut{}, err
	}
	id, err := s.idOf(ctx, in.ID)
	if err != nil {
		return forgetOut{}, err
	}
	row, ok, err := s.rooms.Index.Lookup(ctx, id)
	if err != nil {
		return forgetOut{}, err
	}
	if !ok {
		return forgetOut{}, fmt.Errorf("there is no note %s; memory_list names them", id)
	}
	if in.Apply {
		if n, _, _, err := s.rooms.Store.Read(row.Ref.Path); err == nil && n.UserSaid() {
			return s.retire(ctx, n)
		}
	}
	plan, err := app.Forget(ctx, s.rooms, string(row.ID), in.Apply)
	if err != nil {
		return forgetOut{}, err
	}
	f := plan.Forgotten
	out := forgetOut{Message: "nothing was changed yet; apply does it, and cannot be undone", forgetPlan: forgetPlan{
		plan.ID, name(f.Title), plan.Applied, names(f.Notes), plan.History, sorted(plan.Held), sorted(plan.Conflicts), plan.InGit,
	}}
	if plan.Applied {
		out.Message = "erased; the statement does not come back on its own"
		if plan.InGit {
			out.Message += ", but git's history still holds the text"
		}
		if _, err := s.refresh(ctx); err != nil {
			return out, err
		}
	}
	return out, nil
}

// retire archives a note that a person vouches for: an agent cannot erase it.
func (s *Server) retire(ctx context.Context, n *note.Note) (forgetOut, error) {
	if _, err := s.rooms.Ingester.Archive(ctx, []note.ID{n.ID}, "an agent was asked to forget it"); err != nil {
		return forgetOut{}, err
	}
	if _, err := s.refresh(ctx); err != nil {
		return forgetOut{}, err
	}
	return forgetOut{
		Message: fmt.Sprintf("archived, not erased: a person laid it down; "+
			"`anamnesis archive undo %s` brings it back, and the user can erase it "+
			"with `anamnesis forget %[1]s --apply`", n.ID),
		forgetPlan: forgetPlan{ID: n.ID, Title: name(n.Title), Notes: []string{}, Held: []note.ID{}, Conflicts: []note.ID{}},
	}, nil
}
