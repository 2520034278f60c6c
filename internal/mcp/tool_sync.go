package mcp

import (
	"context"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

var toolSync = tool{
	name:  "memory_sync",
	doc:   `Exchange notes with the user's other machines now.`,
	hints: sdk.ToolAnnotations{DestructiveHint: &no, IdempotentHint: true, OpenWorldHint: &yes},
	does:  decides,
	find:  "synchronise memory with other machines",
	input: schemaOf[syncIn],
	amend: func(p map[string]*jsonschema.Schema) { p["force"].Default = by("false") },
	call:  takes((*Server).sync),
}

type syncIn struct {
	Force bool `json:"force,omitempty"` // ignored
}

const maxDetail = 80 // characters

// A syncOut is what an exchange with the other machines did.
type syncOut struct {
	Pushed     bool   `json:"pushed"`
	Pulled     int    `json:"pulled"`     // commits of other machines
	Conflicted bool   `json:"conflicted"` // something waits for the user
	Head       string `json:"head"`
	Indexed    int    `json:"indexed"`
	Detail     string `json:"detail"`
}

func (s *Server) sync(ctx context.Context, _ caller, _ syncIn) (syncOut, error) {
	r, indexed, err := s.syncNow(ctx)
	if err != nil {
		return syncOut{}, err
	}
	_, err = s.refresh(ctx)
	return syncOut{r.Pushed, r.Pulled, r.Conflicted, r.Head, indexed, clip(name(r.Detail), maxDetail, "…")}, err
}
