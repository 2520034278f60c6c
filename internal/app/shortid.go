package app

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"anamnesis/internal/note"
)

// ShortIDs returns a function that shortens ids for people: to the end, of at least
// MinPrefix characters, that no other note of the store ends or begins with, so that
// Resolve finds the note again. An id that somebody chose stays whole. The index is asked
// for each id, while the rooms are open; where it cannot be read, an id stays as it is.
func ShortIDs(ctx context.Context, r *Rooms) func(note.ID) string {
	e := newIDEnds(func(part string) ([]note.ID, error) {
		if r.Index == nil {
			return nil, errors.ErrUnsupported
		}
		return r.Index.Sharing(ctx, part)
	})
	return e.short
}

// idEnds knows which ids of a store begin or end with MinPrefix characters, in capitals.
type idEnds struct {
	ask   func(part string) ([]note.ID, error)
	mu    sync.Mutex
	known map[string][]string
}

func newIDEnds(ask func(part string) ([]note.ID, error)) *idEnds {
	return &idEnds{ask: ask, known: make(map[string][]string)}
}

// sharing returns the ids that begin or end with a part.
func (e *idEnds) sharing(part string) (ids []string, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if ids, ok := e.known[part]; ok {
		return ids, nil
	}
	found, err := e.ask(part)
	for _, id := range found {
		ids = append(ids, strings.ToUpper(string(id)))
	}
	if err == nil {
		e.known[part] = ids
	}
	return ids, err
}

// made reports whether an id has the form of those that we make (ULID).
func made(id note.ID) bool {
	return len(id) == 26 && strings.IndexFunc(string(id), func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z')
	}) < 0
}

func (e *idEnds) short(id note.ID) string {
	if !made(id) {
		return string(id)
	}
	s := strings.ToUpper(string(id))
	for n := MinPrefix; n < len(s); n++ {
		end := s[len(s)-n:]
		ending, err := e.sharing(end[n-MinPrefix:])
		if err != nil {
			return string(id)
		}
		beginning, err := e.sharing(end[:MinPrefix])
		if err != nil {
			return string(id)
		}
		taken := func(other string) bool {
			return other != s && (strings.HasSuffix(other, end) || strings.HasPrefix(other, end))
		}
		if !slices.ContainsFunc(ending, taken) && !slices.ContainsFunc(beginning, taken) {
			return string(id[len(id)-n:])
		}
	}
	return string(id)
}
