package index

import (
	"context"
	"slices"

	"anamnesis/internal/note"
)

// OwnOnly returns a backend whose questions see the notes of one origin alone.
// It is for those who change notes, or tell what this machine holds: a note of
// another origin has no file here. Numbers of the whole index (Statistics,
// Frequencies, the sum that Mentions returns) and what is asked by key are as
// in b.
func OwnOnly(b Backend) Backend { return ownOnly{b} }

type ownOnly struct{ Backend }

func (o ownOnly) Match(ctx context.Context, terms []Term, f Filter, limit int) ([]Candidate, error) {
	f.Own = true
	return o.Backend.Match(ctx, terms, f, limit)
}

func (o ownOnly) Passages(ctx context.Context, keys []int64, f Filter) ([]Candidate, error) {
	f.Own = true
	return o.Backend.Passages(ctx, keys, f)
}

func (o ownOnly) First(ctx context.Context, notes []int64, f Filter) ([]Candidate, error) {
	f.Own = true
	return o.Backend.First(ctx, notes, f)
}

func (o ownOnly) Select(ctx context.Context, f Filter, limit int) ([]Row, error) {
	f.Own = true
	return o.Backend.Select(ctx, f, limit)
}

func (o ownOnly) Lookup(ctx context.Context, id note.ID) (Row, bool, error) {
	row, ok, err := o.Backend.Lookup(ctx, id) // the own copy, where there is one
	if row.Origin != o.Origin() {
		return Row{}, false, err
	}
	return row, ok, err
}

func (o ownOnly) Twins(ctx context.Context, statement [16]byte, simhash uint64) ([]Twin, error) {
	all, err := o.Backend.Twins(ctx, statement, simhash)
	return slices.DeleteFunc(all, func(t Twin) bool { return t.Row.Origin != o.Origin() }), err
}

func (o ownOnly) Alike(ctx context.Context, f Filter) ([]Row, error) {
	f.Own = true
	return o.Backend.Alike(ctx, f)
}

func (o ownOnly) Neighbours(ctx context.Context, notes []int64, f Filter) ([]Neighbour, error) {
	f.Own = true
	return o.Backend.Neighbours(ctx, notes, f)
}

func (o ownOnly) PerProject(ctx context.Context, f Filter) (map[string]int, error) {
	f.Own = true
	return o.Backend.PerProject(ctx, f)
}

func (o ownOnly) Tally(ctx context.Context, f Filter) ([]Tally, error) {
	f.Own = true
	return o.Backend.Tally(ctx, f)
}

func (o ownOnly) Mentions(ctx context.Context, entity EntityKey, declared bool, f Filter, limit int) ([]int64, int, error) {
	f.Own = true
	return o.Backend.Mentions(ctx, entity, declared, f, limit)
}

func (o ownOnly) Edges(ctx context.Context, entities []EntityKey, f Filter) ([]Edge, error) {
	f.Own = true
	return o.Backend.Edges(ctx, entities, f)
}

func (o ownOnly) Nearest(ctx context.Context, model string, question []float32, f Filter, limit int, least float64) ([]Candidate, error) {
	f.Own = true
	return o.Backend.Nearest(ctx, model, question, f, limit, least)
}
