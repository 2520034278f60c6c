package recall

import (
	"context"
	"slices"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// MaxKnown bounds how many notes Known returns: a hook waits for them.
const MaxKnown = 2000

// Known returns the durable notes that hold in a project, newest first: its own, those of
// all projects, and of both only the ones that are in force. projects are all keys of the
// project, branches as in Scope.Branches. It returns at most MaxKnown.
func (e *Engine) Known(ctx context.Context, projects, branches []string) ([]index.Row, error) {
	rows, err := e.index.Select(ctx, index.Filter{
		Projects: withGlobal(projects), Types: []note.Type{note.Procedural, note.Semantic}, WithoutKinds: told,
		Branches: branches, Now: e.store.Now(),
	}, MaxKnown)
	return slices.DeleteFunc(rows, func(r index.Row) bool { return r.Speculative }), err
}

// Sessions returns the newest notes of sessions on a project, at most n. Sessions on every
// branch count.
func (e *Engine) Sessions(ctx context.Context, projects []string, n int) ([]index.Row, error) {
	projects = slices.DeleteFunc(slices.Clone(projects), func(p string) bool { return p == note.Global })
	if len(projects) == 0 {
		return nil, nil
	}
	return e.index.Select(ctx, index.Filter{
		Projects: projects, Types: []note.Type{note.Episodic}, WithoutKinds: told, Now: e.store.Now(), Own: true,
	}, n)
}

// Tallies returns how often notes were injected, found and used.
func (e *Engine) Tallies(ctx context.Context, ids []note.ID) (map[note.ID]store.Tally, error) {
	return e.index.Counters(ctx, ids)
}

func withGlobal(projects []string) []string {
	if slices.Contains(projects, note.Global) {
		return projects
	}
	return append(slices.Clone(projects), note.Global)
}
