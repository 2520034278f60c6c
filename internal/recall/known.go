package recall

import (
	"context"
	"slices"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// A PageSource reads what the page of a project is made of.
type PageSource struct{ e *Engine }

// PageSourceOf returns what an engine knows for pages.
func PageSourceOf(e *Engine) PageSource { return PageSource{e} }

// maxKnown bounds how many notes Known returns: a hook waits for them.
const maxKnown = 2000

// Known returns the durable notes that hold in a project, newest first: its own, those of
// all projects, and of both only the ones that are in force. projects are all keys of the
// project, branches as in Scope.Branches. It returns at most maxKnown.
func (p PageSource) Known(ctx context.Context, projects, branches []string) ([]index.Row, error) {
	rows, err := p.e.index.Select(ctx, index.Filter{
		Projects: withGlobal(projects), Types: []note.Type{note.Procedural, note.Semantic}, WithoutKinds: ownPlace,
		Branches: branches, Now: p.e.store.Now(),
	}, maxKnown)
	return slices.DeleteFunc(rows, func(r index.Row) bool { return r.Speculative }), err
}

// Sessions returns the newest notes of sessions of persons on a project, at most n. Sessions on every
// branch count.
func (p PageSource) Sessions(ctx context.Context, projects []string, n int) ([]index.Row, error) {
	projects = slices.DeleteFunc(slices.Clone(projects), func(p string) bool { return p == note.Global })
	if len(projects) == 0 {
		return nil, nil
	}
	rows, err := p.e.index.Select(ctx, index.Filter{
		Projects: projects, Types: []note.Type{note.Episodic}, WithoutKinds: ownPlace, WithoutTag: note.ProgramTag,
		Now: p.e.store.Now(), Own: !p.e.index.IsGuest(),
	}, n+maxUndated)
	if err != nil {
		return nil, err
	}
	return placeUndated(rows)[:min(n, len(rows))], nil
}

// placeUndated puts sessions without a valid time behind those that came after them.
func placeUndated(rows []index.Row) (placed []index.Row) {
	var waiting []index.Row
	for i := range rows {
		later := func(u index.Row) bool {
			return slices.ContainsFunc(rows[i:], func(r index.Row) bool { return !undated(&r) && r.Ref.ModTime.After(u.Ref.ModTime) })
		}
		waiting = slices.DeleteFunc(waiting, func(u index.Row) bool {
			if !later(u) {
				placed = append(placed, u)
				return true
			}
			return false
		})
		if undated(&rows[i]) && later(rows[i]) {
			waiting = append(waiting, rows[i])
		} else {
			placed = append(placed, rows[i])
		}
	}
	return append(placed, waiting...)
}

// maxUndated is how many sessions with a wrong time are passed over.
const maxUndated = 8

// undated reports whether the note of a session has the time of a file: it began when it ended.
func undated(r *index.Row) bool { return r.Created.Equal(r.Updated) }

// Tallies returns how often notes were injected, found and used.
func (p PageSource) Tallies(ctx context.Context, ids []note.ID) (map[note.ID]store.Tally, error) {
	return p.e.index.Counters(ctx, ids)
}

func withGlobal(projects []string) []string {
	if slices.Contains(projects, note.Global) {
		return projects
	}
	return append(slices.Clone(projects), note.Global)
}

// Weight is how much a word of Words says about the notes that have it, in nats: frequency of
// so many notes. A common word says nothing.
func (p PageSource) Weight(token string, frequency, notes int) float64 {
	return p.e.says(index.Term{Token: token, Frequency: frequency}, notes)
}
