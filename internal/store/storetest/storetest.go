// Package storetest lets tests write into a store as its owner would.
package storetest

import (
	"context"

	"anamnesis/internal/store"
)

// Writer returns the right to write into a store. It waits for the store lock and
// gives it back at once, so that a test need not end anything. A store that cannot
// be locked panics.
func Writer(s *store.Store) *store.Writer {
	w, err := s.BeginWrite(context.Background())
	if err != nil {
		panic(err)
	}
	w.End()
	return w
}
