// Package storetest lets tests write into a store as its owner would.
package storetest

import (
	"context"

	"anamnesis/internal/note"
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

// Put writes a note as whom its source names: the ledger has what a person wrote or typed.
func Put(s *store.Store, n *note.Note, old store.Ref, reason string) (store.Ref, bool, error) {
	w := Writer(s)
	if note.Claims(n) {
		if err := w.Vouch(n); err != nil {
			return store.Ref{}, false, err
		}
	}
	return w.Put(n, old, reason)
}
