package ingest

import (
	"context"
	"errors"
	"slices"

	"anamnesis/internal/claim"
	"anamnesis/internal/index"
	"anamnesis/internal/note"
)

// twin returns a live note of the same project, scope and type whose statement is
// that of n, or nearly; an exact one before a similar one. Sessions have none:
// they are distinguished by their ids. A note that n supersedes is none either: it
// is meant to say the same.
//
// The index finds candidates by simhash, and by the words of what a machine wrote;
// whether they are similar is decided on the statements themselves. Two whose marks differ (note.Marks) are not:
// "wait 30 seconds" and "wait 60 seconds" are a correction, not a repetition.
func (g *Ingester) twin(ctx context.Context, n *note.Note) (*index.Twin, error) {
	if n.Type == note.Episodic {
		return nil, nil
	}
	wanted := n.Fingerprint()
	twins, err := g.index.Twins(ctx, index.StatementHash(wanted.Folded), index.SimhashWords(wanted.Words))
	if errors.Is(err, index.ErrAway) { // it is compared when it comes home
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var similar *index.Twin
	for i := range twins {
		t := &twins[i]
		if t.Row.Dead || t.Row.Type != n.Type || t.Row.Project != n.Project || t.Row.Ref.Scope != n.Scope {
			continue
		}
		was := g.compared(n, t.Row)
		if was == nil {
			continue
		}
		said := was.Fingerprint()
		t.Exact = said.Statement == wanted.Statement
		if t.Exact {
			return t, nil
		}
		if similar == nil && claim.Repeats(&wanted, &said) {
			similar = t
		}
	}
	if similar == nil && g.opts.HoldSimilar && n.Provenance.Source != note.Human {
		if similar, err = g.repeated(ctx, n, &wanted); similar == nil && err == nil {
			similar = g.meant(ctx, n)
		}
		return similar, err
	}
	return similar, nil
}

// nearest is how many notes that share words with a draft are compared with it.
const nearest = 10

// repeated returns a note that a machine's draft says again with a few other
// words. A simhash misses most of them: of twenty words one moves more of its
// bits than a candidate may differ in.
func (g *Ingester) repeated(ctx context.Context, n *note.Note, wanted *note.Fingerprint) (*index.Twin, error) {
	rows, err := g.sharing(ctx, n, nearest, index.Filter{
		Projects: []string{n.Project}, Types: []note.Type{n.Type}, Scope: n.Scope, Now: g.store.Now(),
	})
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		if was := g.compared(n, r); was != nil {
			if said := was.Fingerprint(); claim.Repeats(wanted, &said) {
				return &index.Twin{Row: r}, nil
			}
		}
	}
	return nil, nil
}

// compared reads the note of a row with which n is compared: none for n itself, for what n
// supersedes, and where the index is behind, which Sync will notice.
func (g *Ingester) compared(n *note.Note, r index.Row) *note.Note {
	if r.ID == n.ID || slices.Contains(n.Supersedes, r.ID) {
		return nil
	}
	was, _, _, _ := g.store.Read(r.Ref.Path)
	return was
}

// sharing returns notes that share words with n: for each filter, in their order,
// those of at most limit passages.
func (g *Ingester) sharing(ctx context.Context, n *note.Note, limit int, filters ...index.Filter) ([]index.Row, error) {
	var keys []int64
	for _, f := range filters {
		m, err := g.index.Ask(ctx, n.Statement(), f, limit)
		if errors.Is(err, index.ErrAway) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		for _, c := range m.Candidates {
			if !slices.Contains(keys, c.Key) {
				keys = append(keys, c.Key)
			}
		}
	}
	return g.index.Rows(ctx, keys)
}
