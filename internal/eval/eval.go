// Package eval answers whether the memory is any good: it measures recall on
// sets of notes and questions, in throw-away stores, through the same rooms
// that production uses. It never writes to the store it is run from.
//
// Failure policy: a set that cannot be read whole is not scored at all; the
// error names the file and the line.
package eval

import (
	"context"

	"anamnesis/internal/index"
	"anamnesis/internal/recall"
	"anamnesis/internal/store"
)

// A Sandbox is a throw-away store with everything that reads it.
type Sandbox struct {
	Store  *store.Store
	Index  *index.Index
	Engine *recall.Engine
	Close  func()
}

// An Opener makes a sandbox in an empty folder, with settings changed.
type Opener func(ctx context.Context, root string, set []string) (*Sandbox, error)
