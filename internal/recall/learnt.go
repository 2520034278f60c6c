package recall

import (
	"context"
	"slices"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
)

// LearntTag marks the notes of what sessions taught.
const LearntTag = "learning"

// Learnt is what sessions taught about a project, for lists of them.
type Learnt struct{ e *Engine }

// LearntOf returns the rules that an engine finds.
func LearntOf(e *Engine) Learnt { return Learnt{e} }

// Live returns at most n rules that are in force, the best supported first, without those
// of the ids. projects are all keys of the project, branches as in Scope.Branches.
func (r Learnt) Live(ctx context.Context, projects, branches []string, n int, without []note.ID) ([]index.Row, error) {
	if len(projects) == 0 || n <= 0 {
		return nil, nil
	}
	rows, err := r.e.index.Select(ctx, index.Filter{
		Projects: projects, Types: []note.Type{note.Procedural, note.Semantic}, Tags: []string{LearntTag}, WithoutKinds: ownPlace,
		Branches: branches, Now: r.e.store.Now(),
	}, n+len(without))
	if err != nil {
		return nil, err
	}
	rows = slices.DeleteFunc(rows, func(row index.Row) bool { return slices.Contains(without, row.ID) })
	slices.SortStableFunc(rows, func(a, b index.Row) int { return b.Proofs - a.Proofs })
	return rows[:min(n, len(rows))], nil
}
