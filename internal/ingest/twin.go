package ingest

import (
	"context"
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
