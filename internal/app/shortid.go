package app

import (
	"context"
	"strings"
	"sync"

	"anamnesis/internal/note"
)

// ShortIDs returns a function that shortens ids for people: to the end, of at least
// MinPrefix characters, that no other note of the store ends or begins with, so that
// Resolve finds the note again. An id that somebody chose stays whole. The ids are read when it is asked for the first time,
// while the rooms are open; where they cannot be read, an id stays as it is.
func (r *Rooms) ShortIDs(ctx context.Context) func(note.ID) string {
	load := sync.OnceValue(func() *idEnds {
		if r.Index == nil {
			return nil
		}
		ids, err := r.Index.IDs(ctx)
		if err != nil {
			return nil
		}
		return newIDEnds(ids)
	})
	return func(id note.ID) string {
		if ends := load(); ends != nil {
			return ends.short(id)
		}
		return string(id)
	}
}

// idEnds knows the ids of a store by their first and last characters, in capitals.
type idEnds struct{ first, last map[string][]string }

func newIDEnds(ids []note.ID) *idEnds {
	e := &idEnds{first: make(map[string][]string, len(ids)), last: make(map[string][]string, len(ids))}
	for _, id := range ids {
		if s := strings.ToUpper(string(id)); len(s) >= MinPrefix {
			first, last := s[:MinPrefix], s[len(s)-MinPrefix:]
			e.first[first], e.last[last] = append(e.first[first], s), append(e.last[last], s)
		}
	}
	return e
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
		taken := func(others []string, matches func(other, end string) bool) bool {
			for _, other := range others {
				if other != s && matches(other, end) {
					return true
				}
			}
			return false
		}
		if !taken(e.last[end[n-MinPrefix:]], strings.HasSuffix) && !taken(e.first[end[:MinPrefix]], strings.HasPrefix) {
			return string(id[len(id)-n:])
		}
	}
	return string(id)
}
