package mcp

import (
	"context"
	"encoding/json"

	"anamnesis/internal/agent"
	"anamnesis/internal/app"
	"anamnesis/internal/ingest"
	"anamnesis/internal/note"

	"github.com/google/jsonschema-go/jsonschema"
)

// Inputs returns the schema of each tool's arguments by the tool's name.
func Inputs() (map[string]*jsonschema.Resolved, error) {
	all := make(map[string]*jsonschema.Resolved)
	for i := range tools {
		def, err := tools[i].describe()
		if err != nil {
			return nil, err
		}
		if all[def.Name], err = def.InputSchema.(*jsonschema.Schema).Resolve(nil); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// WithoutEffect lists the tools that do not say what a call can do.
func WithoutEffect() (names []string) {
	for _, t := range tools {
		if t.does == 0 {
			names = append(names, t.name)
		}
	}
	return names
}

// Done is the answer to a call that wrote a note, with notes about the same matter.
func Done(out ingest.Outcome, near []note.ID) string {
	d := written(out)
	d.Near = near
	data, err := compact(d.small(agent.InjectStart, agent.InjectEnd))
	if err != nil {
		panic(err)
	}
	return string(data)
}

// Arguments is what a tool's handler gets of the arguments of a call.
func Arguments(data json.RawMessage, s *jsonschema.Resolved) (json.RawMessage, error) {
	return arguments(data, s)
}

// Doubles take the place of use cases; those that are nil stay.
type Doubles struct {
	Refresh  func(context.Context) (int, error)
	MayWrite func() error
	Sync     func(context.Context) (app.SyncResult, int, error)
	Status   func(context.Context) (app.SyncState, error)
}

// Replace makes a server use doubles.
func (s *Server) Replace(d Doubles) {
	if d.Refresh != nil {
		s.lookAgain = d.Refresh
	}
	if d.MayWrite != nil {
		s.mayWrite = d.MayWrite
	}
	if d.Sync != nil {
		s.syncNow = d.Sync
	}
	if d.Status != nil {
		s.syncState = d.Status
	}
}

// OwnTranscript reports whether a transcript is where an agent keeps its sessions.
func OwnTranscript(home string, h *agent.Harness, file string) bool {
	return ownTranscript(home, h, file)
}
