package mcp

import (
	"context"

	"anamnesis/internal/app"
)

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
