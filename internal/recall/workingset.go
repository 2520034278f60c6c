package recall

import (
	"context"
	"iter"
	"slices"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
)

// maxEpisodic is how many recent sessions a working set contains at most.
const maxEpisodic = 2

// WorkingSet returns what a session is told without asking, in the order in
// which it is shown: all live global notes, newest first; then up to k notes of
// the project, of which the most recent sessions (two at most) have reserved
// places and durable notes the others. Sessions whose content was distilled
// (tag "reflected") are left out.
//
// Handoffs are no part of it: see Handoffs.
//
// projects are all keys of the project; branches are those whose facts and how-tos
// are told besides the trunk's (Scope.Branches), nil for all. What happened last is
// told whatever branch it happened on. pending are sessions that ended and are not
// written yet: they take the places of the most recent ones.
func (e *Engine) WorkingSet(ctx context.Context, projects, branches []string, k int, pending []*note.Note) ([]index.Row, error) {
	now := e.store.Now()
	global, err := e.index.Select(ctx, index.Filter{Projects: []string{note.Global}, WithoutKind: note.Handoff, Now: now}, 0)
	if err != nil {
		return nil, err
	}
	// A project that is itself named global has been told by now.
	projects = slices.DeleteFunc(slices.Clone(projects), func(p string) bool { return p == note.Global })
	if len(projects) == 0 || k <= 0 {
		return global, nil
	}
	episodic, err := e.index.Select(ctx, index.Filter{
		Projects: projects, Types: []note.Type{note.Episodic}, WithoutTag: "reflected", WithoutKind: note.Handoff, Now: now,
	}, maxEpisodic+len(pending))
	if err != nil {
		return nil, err
	}
	episodic = slices.DeleteFunc(episodic, func(r index.Row) bool {
		return slices.ContainsFunc(pending, func(p *note.Note) bool { return p.ID == r.ID })
	})
	fresh := min(len(pending), maxEpisodic)
	episodic = episodic[:min(len(episodic), maxEpisodic-fresh, max(0, k-fresh))]
	durable, err := e.index.Select(ctx, index.Filter{
		Projects: projects, Types: []note.Type{note.Procedural, note.Semantic}, SurestFirst: true, Branches: branches, Now: now,
	}, k)
	if err != nil {
		return nil, err
	}
	durable = durable[:min(len(durable), max(0, k-fresh-len(episodic)))]
	return slices.Concat(global, durable, episodic), nil
}

// Contents reads the notes of rows, see index.Index.
func (e *Engine) Contents(ctx context.Context, rows []index.Row) iter.Seq2[int, index.Content] {
	return e.index.Contents(ctx, rows)
}

// Handoffs returns what an earlier session of the project left for the next
// one, newest first. projects are all keys of the project.
func (e *Engine) Handoffs(ctx context.Context, projects []string) ([]index.Row, error) {
	projects = slices.DeleteFunc(slices.Clone(projects), func(p string) bool { return p == note.Global })
	if len(projects) == 0 {
		return nil, nil
	}
	return e.index.Select(ctx, index.Filter{Projects: projects, Kind: note.Handoff, Now: e.store.Now()}, maxHandoffs)
}

// maxHandoffs is how many handoffs a session is told of at most: the newest.
const maxHandoffs = 3
