package ingest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
)

// twin returns a live note of the same project, scope and type that says what
// n says, or nearly; an exact one before a similar one. Sessions have none:
// they are told apart by their ids. A note that n supersedes is none either: it
// is meant to say the same.
//
// The index finds candidates by simhash; whether they are similar is decided
// on the words themselves. Two statements whose numbers differ are not: "wait
// 30 seconds" and "wait 60 seconds" are a correction, not a repetition.
func (g *Ingester) twin(ctx context.Context, n *note.Note) (*index.Twin, error) {
	if n.Type == note.Episodic {
		return nil, nil
	}
	words := strings.Fields(note.Normalize(n.Statement()))
	twins, err := g.index.Twins(ctx, index.StatementHash(strings.Join(words, " ")), index.SimhashWords(words))
	if err != nil {
		return nil, err
	}
	var similar *index.Twin
	for i := range twins {
		t := &twins[i]
		if t.Row.Dead || t.Row.Type != n.Type || t.Row.Project != n.Project || t.Row.Ref.Scope != n.Scope || slices.Contains(n.Supersedes, t.Row.ID) {
			continue
		}
		was, _, _, err := g.store.Read(t.Row.Ref.Path)
		if err != nil {
			continue // the index is behind; Sync will notice
		}
		said := strings.Fields(note.Normalize(was.Statement()))
		t.Exact = slices.Equal(said, words)
		if t.Exact {
			return t, nil
		}
		if similar == nil && alike(words, said) >= g.opts.Similarity {
			similar = t
		}
	}
	return similar, nil
}

// likely is how many notes that share words with a statement are compared with it.
const likely = 50

// Alike returns the live notes that say nearly what n says, in the order of
// their ids: those that forgetting n leaves, because only what says exactly the
// same goes with it. They share enough words by the rule of the door
// (Options.Similarity), are of any type and scope, and of the project of n, or
// n or they are global.
func (g *Ingester) Alike(ctx context.Context, n *note.Note) ([]index.Row, error) {
	statement := n.Statement()
	words := strings.Fields(note.Normalize(statement))
	m, err := g.index.Ask(ctx, statement, index.Filter{Now: g.store.Now()}, likely)
	if err != nil {
		return nil, fmt.Errorf("look for notes like %s: %w", n.ID, err)
	}
	var keys []int64
	for _, c := range m.Candidates {
		if !slices.Contains(keys, c.Key) {
			keys = append(keys, c.Key)
		}
	}
	rows, err := g.index.Rows(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("look for notes like %s: %w", n.ID, err)
	}
	rows = slices.DeleteFunc(rows, func(r index.Row) bool {
		if r.Dead || r.ID == n.ID || r.Project != n.Project && r.Project != note.Global && n.Project != note.Global {
			return true
		}
		other, _, _, err := g.store.Read(r.Ref.Path)
		if err != nil {
			return true // the index is behind; Sync will notice
		}
		said := strings.Fields(note.Normalize(other.Statement()))
		return slices.Equal(said, words) || alike(words, said) < g.opts.Similarity
	})
	slices.SortFunc(rows, func(a, b index.Row) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return rows, nil
}

// alike is the share of equal words of two statements (Jaccard over the sets),
// and 0 when they differ in a word that holds a digit.
func alike(a, b []string) float64 {
	inA, inB := set(a), set(b)
	both := 0
	for w := range inA {
		switch {
		case inB[w]:
			both++
		case strings.ContainsAny(w, "0123456789"):
			return 0
		}
	}
	for w := range inB {
		if !inA[w] && strings.ContainsAny(w, "0123456789") {
			return 0
		}
	}
	return float64(both) / float64(max(1, len(inA)+len(inB)-both))
}

func set(words []string) map[string]bool {
	m := make(map[string]bool, len(words))
	for _, w := range words {
		m[w] = true
	}
	return m
}
