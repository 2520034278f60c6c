package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"anamnesis/internal/claim"
	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// A Neighbour is a note that shares words of content with another one.
type Neighbour struct {
	Note     *note.Note
	Ref      store.Ref
	Relation claim.Relation // of the new note to this one
	Shared   int            // words of content in common
	near     bool
	dead     bool
}

// maxNear is how many neighbours an agent is shown.
const maxNear = 3

// related is how many notes that share words with a draft are compared with it.
const related = 12

// neighbours returns the notes of the project of n and the global ones that share words with
// it, compared with it, those first that share most. dead includes notes that are not in force.
func (g *Ingester) neighbours(ctx context.Context, n *note.Note, dead bool) (all []Neighbour, err error) {
	rows, err := g.sharing(ctx, n, related, index.Filter{
		Projects: []string{n.Project, note.Global}, Types: []note.Type{note.Procedural, note.Semantic}, Scope: n.Scope, Dead: dead,
		Now: g.store.Now(), WithoutKinds: []note.Kind{note.Slot, note.Handoff},
	})
	if err != nil {
		return nil, err
	}
	mine := claim.Of(n)
	for _, row := range rows {
		if row.ID == n.ID {
			continue
		}
		old, _, at, err := g.store.Read(row.Ref.Path)
		if err != nil {
			continue // the index is behind; Sync will notice
		}
		its := claim.Of(old)
		all = append(all, Neighbour{
			Note: old, Ref: at, Relation: claim.Notes(n, old), Shared: claim.Shared(mine, its), near: claim.Near(mine, its), dead: row.Dead,
		})
	}
	slices.SortStableFunc(all, func(x, y Neighbour) int { return y.Shared - x.Shared })
	return all, nil
}

// Near returns up to three notes in force about the matter of n, the nearest first.
func Near(ctx context.Context, g *Ingester, n *note.Note) ([]Neighbour, error) {
	all, err := g.neighbours(ctx, g.complete(n), false)
	return liveNear(all), err
}

// Has reports whether a project, or all of them, has notes in force of a source (note.Provenance.Source).
func Has(ctx context.Context, g *Ingester, source, project string) (bool, error) {
	rows, err := g.index.Select(ctx, index.Filter{Projects: []string{project, note.Global}, Sources: []string{source}, Now: g.store.Now()}, 1)
	if errors.Is(err, index.ErrAway) {
		return false, nil
	}
	return len(rows) > 0, err
}

// InForce returns notes that hold in the project of n: those about its matter, then what the user said or wrote, the
// newest first; at most that many.
func InForce(ctx context.Context, g *Ingester, n *note.Note, most int) (all []*note.Note, err error) {
	near, err := Near(ctx, g, n)
	if err != nil {
		return nil, err
	}
	for _, x := range near {
		all = append(all, x.Note)
	}
	rows, err := g.index.Select(ctx, index.Filter{
		Projects: []string{n.Project, note.Global}, Types: []note.Type{note.Procedural, note.Semantic}, Scope: n.Scope,
		Sources: []string{note.User, note.Human}, Now: g.store.Now(), WithoutKinds: []note.Kind{note.Slot, note.Handoff},
	}, 0)
	if err != nil && !errors.Is(err, index.ErrAway) {
		return nil, fmt.Errorf("list the user's rules: %w", err)
	}
	slices.SortStableFunc(rows, func(a, b index.Row) int { return b.Updated.Compare(a.Updated) })
	for _, row := range rows {
		if len(all) >= most {
			break
		}
		if row.SupersededBy != "" || slices.ContainsFunc(all, func(had *note.Note) bool { return had.ID == row.ID }) {
			continue
		}
		if was, _, _, err := g.store.Read(row.Ref.Path); err == nil && was.Live(g.store.Now()) { // else the index is behind
			all = append(all, was)
		}
	}
	return all, nil
}

func liveNear(all []Neighbour) []Neighbour {
	all = slices.DeleteFunc(slices.Clone(all), func(x Neighbour) bool { return x.dead || !x.near && x.Relation == claim.Unrelated })
	return all[:min(maxNear, len(all))]
}

// named reads the note that a reader says n replaces; nil when there is none in the project.
func (g *Ingester) named(id note.ID, n *note.Note) *Neighbour {
	old, ref, err := store.Get(g.store, id) // a reader may name what is gone
	if err != nil || old.Project != n.Project || !old.Type.Durable() || old.Kind != "" && old.Kind != note.Observation {
		return nil
	}
	return &Neighbour{Note: old, Ref: ref, Relation: claim.Unrelated}
}

// owned reports whether the user wrote a note, or read it and found it right.
func owned(n *note.Note) bool {
	return n.UserSaid() && (n.Provenance.Source == note.Human || n.IsReviewed())
}

// older reports whether the source of a was said before that of b.
func older(a, b *note.Note) bool {
	x, ok := a.CreatedAt.Time()
	y, also := b.CreatedAt.Time()
	return ok && also && x.Before(y)
}

// known reports whether the stretch of the session was learnt before: its note stands,
// in whatever state, or waits.
func (g *Ingester) known(ctx context.Context, n *note.Note) (bool, error) {
	ref, err := g.find(ctx, n.ID)
	if err != nil || ref.Path != "" {
		return err == nil, err
	}
	return slices.ContainsFunc(g.store.Spool().Held(), func(d *note.Note) bool { return d.ID == n.ID }), nil
}

// proves reports whether a note has a piece of evidence already, by its chunk: a fork
// of a session has it under another session id.
func proves(n *note.Note, evidence []note.Evidence) bool {
	return slices.ContainsFunc(evidence, func(e note.Evidence) bool {
		return e.Chunk != "" && slices.ContainsFunc(n.Evidence, func(had note.Evidence) bool { return had.Chunk == e.Chunk })
	})
}
