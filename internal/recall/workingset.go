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

// maxEpisodic is how many recent sessions a working set contains at most.
const maxEpisodic = 2

// WorkingSet returns what a session is shown without asking, in the order in
// which it is shown: all live global notes, newest first; then up to k notes of
// the project, of which the most recent sessions (two at most) have reserved
// places and durable notes the others. Sessions whose content was distilled
// (tag "reflected") are left out.
//
// Handoffs, slots and skills are no part of it.
//
// projects are all keys of the project; branches are those whose facts and how-tos
// are shown besides the trunk's (Scope.Branches), nil for all. What happened last is
// shown whatever branch it happened on. pending are sessions that ended and are not
// written yet: they take the places of the most recent ones.
func (e *Engine) WorkingSet(ctx context.Context, projects, branches []string, k int, pending []*note.Note) ([]index.Row, error) {
	now := e.store.Now()
	global, err := e.index.Select(ctx, index.Filter{Projects: []string{note.Global}, WithoutKinds: ownPlace, Now: now}, 0)
	if err != nil {
		return nil, err
	}
	// A project that is itself named global has been shown by now.
	projects = slices.DeleteFunc(slices.Clone(projects), func(p string) bool { return p == note.Global })
	if len(projects) == 0 || k <= 0 {
		return global, nil
	}
	episodic, err := e.index.Select(ctx, index.Filter{
		Projects: projects, Types: []note.Type{note.Episodic}, WithoutTag: "reflected", WithoutKinds: ownPlace, Now: now, Own: true,
	}, maxEpisodic+len(pending))
	if err != nil {
		return nil, err
	}
	episodic = slices.DeleteFunc(episodic, func(r index.Row) bool {
		return slices.ContainsFunc(pending, func(p *note.Note) bool { return p.ID == r.ID })
	})
	fresh := min(len(pending), maxEpisodic)
	episodic = episodic[:min(len(episodic), maxEpisodic-fresh, max(0, k-fresh))]
	places := k - fresh - len(episodic)
	if places <= 0 { // to Select, no places would be all
		return slices.Concat(global, episodic), nil
	}
	durable, err := e.ownFirst(ctx, index.Filter{
		Projects: projects, Types: []note.Type{note.Procedural, note.Semantic}, WithoutKinds: ownPlace, SurestFirst: true,
		Branches: branches, Now: now,
	}, places)
	if err != nil {
		return nil, err
	}
	return slices.Concat(global, durable, episodic), nil
}

// Contents reads the notes of rows, see index.Index.
func (e *Engine) Contents(ctx context.Context, rows []index.Row) iter.Seq2[int, index.Content] {
	return e.index.Contents(ctx, rows)
}

// First returns what a session is shown before the working set: what an earlier session
// left for it, newest first, and the slots in their order. A slot of the project stands in
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
