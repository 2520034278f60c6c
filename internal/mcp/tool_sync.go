package mcp

import (
	"context"
	"errors"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

var toolSync = tool{
	name:   "memory_sync",
	doc:    `Exchange notes with the user's other machines now. No edit is lost in a conflict; what cannot be merged waits for the user.`,
	hints:  sdk.ToolAnnotations{DestructiveHint: &no, IdempotentHint: true, OpenWorldHint: &yes},
	input:  schemaOf[syncIn],
	output: schemaOf[SyncResult],
	amend:  func(p map[string]*jsonschema.Schema) { p["force"].Default = by("false") },
	call:   takes((*Server).sync),
}

type syncIn struct {
	Force bool `json:"force,omitempty" jsonschema:"ignored"`
}

func (s *Server) sync(ctx context.Context, _ caller, _ syncIn) (SyncResult, error) {
	if s.rooms.Sync == nil {
		return SyncResult{}, errors.New("synchronisation is not available here")
	}
	out, err := s.rooms.Sync(ctx)
	if err != nil {
		return out, err
	}
	_, err = s.refresh(ctx)
	return out, err
}
