// Package ingesttest changes one note for a test as its owner would. It knows no
// index: whoever has one brings it into step.
package ingesttest

import (
	"context"
	"fmt"

	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

func door(s *store.Store) *ingest.Ingester { return ingest.New(s, nil, nil, ingest.Options{}) }

// Archive takes a note out of recall.
func Archive(s *store.Store, id note.ID, reason string) (ref store.Ref, changed bool, err error) {
	return only(door(s).Archive(context.Background(), []note.ID{id}, reason))
}

// Unarchive brings an archived note back.
func Unarchive(s *store.Store, id note.ID) (ref store.Ref, changed bool, err error) {
	return only(door(s).Unarchive(context.Background(), []note.ID{id}))
}

func only(done []ingest.StatusChange, err error) (store.Ref, bool, error) {
	if len(done) == 0 {
		return store.Ref{}, false, err
	}
	return done[0].Ref, done[0].Changed, err
}

// Restore gives a note the form of one of its revisions.
func Restore(s *store.Store, id note.ID, revision string) (ref store.Ref, changed bool, err error) {
	if _, err := note.ParseID(string(id)); err != nil {
		return ref, false, err
	}
	revs, err := s.History(id)
	if err != nil {
		return ref, false, err
	}
	for _, r := range revs {
		if r.Name != revision {
			continue
		}
		data, err := s.ReadFile(r.Path, store.MaxNoteSize)
		if err != nil {
			return ref, false, err
		}
		return door(s).Reinstate(context.Background(), id, data)
	}
	return ref, false, fmt.Errorf("note %s has no revision %s", id, revision)
}

// By returns the author whom the source of a note names, as a test means it.
func By(n *note.Note) ingest.Author {
	switch n.Provenance.Source {
	case note.Human, "":
		return ingest.Person
	case note.User:
		return ingest.Order
	case note.Agent:
		return ingest.Agent
	case note.Import:
		return ingest.Import
	case note.Program:
		return ingest.Program
	case note.Guest:
		return ingest.Guest
	}
	return ingest.Model
}

// DraftOf returns the draft of a note by the author whom its source names, for its own project.
func DraftOf(n *note.Note) ingest.Draft {
	here := n.Project
	if here == "" {
		here = note.Global
	}
	return ingest.Draft{Note: n, By: By(n), Here: here, Account: n.Provenance.Source == note.SessionEnd}
}

// Whatever is DraftOf for a note that is written, whatever notes there are.
func Whatever(n *note.Note) ingest.Draft {
	d := DraftOf(n)
	d.Force, d.Account, d.Reason = true, d.By != ingest.Person, store.Update
	return d
}
