package recall

import (
	"context"
	"iter"
	"slices"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
)

// ownPlace are the kinds of notes that a session is shown at their own place, or never.
var ownPlace = []note.Kind{note.Handoff, note.Slot, note.Skill}

// Contents reads the notes of rows, see index.Index.
func (e *Engine) Contents(ctx context.Context, rows []index.Row) iter.Seq2[int, index.Content] {
	return e.index.Contents(ctx, rows)
}

// First returns what an earlier session
// left for a session that starts, newest first, and the slots in their order. A slot of the project stands in
// the place of one of the same name for all projects. projects are all keys of the project.
func (e *Engine) First(ctx context.Context, projects []string) (handoffs, slots []index.Row, err error) {
	slots, err = e.index.Select(ctx, index.Filter{
		Projects: append(slices.Clone(projects), note.Global), Kind: note.Slot, Now: e.store.Now(),
	}, 0)
	if err != nil {
		return nil, nil, err
	}
	slices.SortStableFunc(slots, func(a, b index.Row) int {
		switch of := note.SlotOrder(a.Title, b.Title); {
		case of != 0 || (a.Project == note.Global) == (b.Project == note.Global):
			return of
		case b.Project == note.Global:
			return -1
		}
		return 1
	})
	slots = slices.CompactFunc(slots, func(a, b index.Row) bool { return a.Title == b.Title })
	projects = slices.DeleteFunc(slices.Clone(projects), func(p string) bool { return p == note.Global })
	if len(projects) == 0 {
		return nil, slots, nil
	}
	handoffs, err = e.index.Select(ctx, index.Filter{Projects: projects, Kind: note.Handoff, Now: e.store.Now()}, maxHandoffs)
	return handoffs, slots, err
}

// maxHandoffs is how many handoffs a session is shown at most: the newest.
const maxHandoffs = 3
