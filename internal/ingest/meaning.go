package ingest

import (
	"context"
	"fmt"
	"io/fs"
	"slices"

	"anamnesis/internal/claim"
	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// The bounds of a comparison of meanings.
const (
	meantOf   = 20   // passages that lie nearest are compared as whole notes
	meantLow  = 0.75 // cosine below which a passage is not looked at
	meantRune = 2000 // of a statement
)

// meant returns a note that means what a machine's draft says: the vectors of both whole
// statements point the same way (meaning). What speaks against the draft, has other
// numbers or other marks is none, however near it lies: "use tabs" lies near "never use
// tabs". Whatever goes wrong, there is none, and the draft is written. Only the built-in
// vectors are compared: the bound is theirs, and others take their time while the store is
// locked.
func (g *Ingester) meant(ctx context.Context, n *note.Note) *index.Twin {
	if n.Type == note.Episodic || g.index.Deferred() {
		return nil
	}
	model, mine, err := g.index.Question(ctx, note.CutRunes(n.Statement(), meantRune))
	if err != nil || len(mine) == 0 {
		return nil
	}
	near, err := g.index.Nearest(ctx, model, mine, index.Filter{
		Projects: []string{n.Project}, Types: []note.Type{note.Semantic, note.Procedural}, Scope: n.Scope, Now: g.store.Now(),
		WithoutKinds: []note.Kind{note.Slot, note.Skill, note.Handoff},
	}, meantOf, meantLow)
	if err != nil {
		return nil
	}
	var keys []int64
	for _, c := range near {
		if !slices.Contains(keys, c.Key) {
			keys = append(keys, c.Key)
		}
	}
	rows, err := g.index.Rows(ctx, keys)
	if err != nil {
		return nil
	}
	said := claim.Of(n)
	for _, r := range rows {
		was := g.compared(n, r)
		if was == nil || r.Branch != n.HeldTo() || claim.Differ(said, claim.Of(was)) {
			continue
		}
		_, its, err := g.index.Question(ctx, note.CutRunes(was.Statement(), meantRune))
		if err == nil && cosine(mine, its) >= meaning {
			return &index.Twin{Row: r}
		}
	}
	return nil
}

// cosine is that of two unit vectors; 0 when one is none.
func cosine(a, b []float32) (sum float64) {
	if len(a) != len(b) {
		return 0
	}
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

// Twin returns the note that a held draft nearly repeats, if it still does.
func (b Inbox) Twin(ctx context.Context, draft *note.Note) (note.ID, bool) {
	twin, err := b.g.twin(ctx, draft)
	if err != nil || twin == nil {
		return "", false
	}
	return twin.Row.ID, true
}

// MergeDraft gives the note that a held draft nearly repeats the evidence and the tags of
// the draft, and drops the draft. The error is fs.ErrNotExist when there is no such draft,
// or no note that it repeats.
func (b Inbox) MergeDraft(ctx context.Context, id note.ID) (*note.Note, error) {
	draft, err := b.g.store.Spool().HeldDraft(id)
	if err != nil {
		return nil, err
	}
	of, ok := b.Twin(ctx, draft)
	if !ok {
		return nil, fmt.Errorf("draft %s repeats no note any more; keep or reject it: %w", id, fs.ErrNotExist)
	}
	out, err := b.g.amend(ctx, of, false, "merge a draft into", func(n *note.Note, _ []byte) (*note.Note, error) {
		n.AddTags(draft.Tags...)
		unite(n, draft)
		n.UpdatedAt = note.At(b.g.store.Now())
		return n, nil
	})
	if err != nil {
		return nil, err
	}
	return out.Note, locked(ctx, b.g.store, func(w *store.Writer) error { return w.Release(id) })
}
