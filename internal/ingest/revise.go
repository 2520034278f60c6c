package ingest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// update brings an existing note and a draft with its id together.
func (g *Ingester) update(ctx context.Context, w *store.Writer, old store.Ref, d Draft, out *Outcome) error {
	was, _, ref, err := g.store.Read(old.Path)
	if err != nil {
		return err
	}
	now := revise(was, out.Note)
	if err := revoke(w, out, now); err != nil {
		return err
	}
	return g.replace(ctx, w, was, now, ref, d.Reason, out)
}

// replace writes now in the place of was, if it says anything else.
func (g *Ingester) replace(ctx context.Context, w *store.Writer, was, now *note.Note, ref store.Ref, reason string, out *Outcome) error {
	if note.Equal(was, now) {
		out.Result, out.Note, out.Ref = Unchanged, was, ref
		return nil
	}
	now.UpdatedAt = note.At(g.store.Now())
	if was.Type == note.Episodic && out.Note.Type == note.Episodic { // when the session ended, not when it was shown again
		now.UpdatedAt = note.Later(was.UpdatedAt, out.Note.UpdatedAt)
	}
	if now.Body != was.Body {
		now.Tags = slices.DeleteFunc(now.Tags, func(t string) bool { return t == "reflected" })
	}
	out.Result, out.Note = Updated, now
	return g.write(ctx, w, now, ref, reason, out)
}

// revise returns the note that follows when draft arrives for a note that
// exists. A captured session that was captured before is shown again from its
// longer transcript: the new summary replaces the old one, unless somebody
// edited that, and what was added since (tags, evidence, unknown keys) stays.
func revise(was, draft *note.Note) *note.Note {
	if draft.Type != note.Episodic || was.Type != note.Episodic {
		now := draft.Clone()
		now.CreatedAt, now.UpdatedAt, now.Extra = was.CreatedAt, was.UpdatedAt, was.Extra
		return now
	}
	now := was.Clone()
	if edited := was.ImportHash != "" && was.ImportHash != SummaryHash(was.Title, was.Body); !edited {
		now.Title, now.Body, now.ImportHash = draft.Title, draft.Body, draft.ImportHash
		now.Provenance.Model = draft.Provenance.Model
	}
	if was.Speculative && !draft.Speculative { // its end was shown after all
		now.Speculative, now.Provenance.Confidence = false, draft.Provenance.Confidence
	}
	now.AddTags(draft.Tags...)
	now.Commits, now.UnverifiedRefs = draft.Commits, draft.UnverifiedRefs
	unite(now, draft)
	return now
}

// SummaryHash is what a captured note remembers of the summary, to tell
// later whether somebody edited it.
func SummaryHash(title, body string) string {
	sum := sha256.Sum256([]byte(title + "\x00" + body))
	return hex.EncodeToString(sum[:8])
}

// unite adds the evidence of b to a and counts the sessions again: a proof
// count is never added up, so that two machines that unite the same notes agree.
func unite(a, b *note.Note) {
	a.Evidence = note.UnionEvidence(a.Evidence, b.Evidence)
	if n := a.Sessions(); n > 0 {
		a.ProofCount = n
	}
}

// absorb adds what a draft knows beyond its exact twin to the twin: tags and
// evidence. The statement itself is there already.
func (g *Ingester) absorb(ctx context.Context, w *store.Writer, twin index.Row, out *Outcome) error {
	was, _, ref, err := g.store.Read(twin.Ref.Path)
	if err != nil {
		return err
	}
	now := was.Clone()
	now.AddTags(out.Note.Tags...)
	unite(now, out.Note)
	return g.replace(ctx, w, was, now, ref, store.Update, out)
}
