package ingest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// proposalAge is how long a proposal waits that nobody decides about.
const proposalAge = 30 * 24 * time.Hour

// Propose keeps a statement as a draft that waits for a reader: local to this machine, in no
// index and injected into no session. A draft of the id, a note of it, and a stretch of a
// session that another note has as evidence make it known: nothing is written then.
func (b Beliefs) Propose(ctx context.Context, n *note.Note) error {
	g := b.g
	n = g.complete(n)
	g.redact(n)
	n.UpdatedAt = note.At(g.store.Now()) // the thirty days begin
	if err := n.ValidateNew(); err != nil {
		return fmt.Errorf("propose %q: %w", shorten(n.Title), err)
	}
	err := locked(ctx, g.store, func(w *store.Writer) error {
		if known, err := b.known(ctx, n); err != nil || known { // decided, or it waits
			return err
		}
		if day, err := g.forgotten(n); err != nil || day != "" {
			return err
		}
		near, err := b.neighbours(ctx, n, true)
		if err != nil || slices.ContainsFunc(near, func(x Neighbour) bool { return proves(x.Note, n.Evidence) }) {
			return err
		}
		return w.Hold(n)
	})
	if err != nil {
		return fmt.Errorf("propose %q: %w", shorten(n.Title), err)
	}
	return nil
}

// Wait keeps a note of an agent or a machine as a draft until its user decides; why is shown
// there. What was forgotten is Dropped, and what a note states already is Unchanged.
func (b Beliefs) Wait(ctx context.Context, n *note.Note, why string) (out Outcome, err error) {
	g := b.g
	n = g.complete(n)
	out = Outcome{Result: Held, Note: n, Why: why, Redacted: g.redact(n)}
	n.StatusReason = why
	if err := n.ValidateNew(); err != nil {
		return Outcome{}, fmt.Errorf("hold %q: %w", shorten(n.Title), err)
	}
	err = locked(ctx, g.store, func(w *store.Writer) error {
		day, err := g.forgotten(n)
		if err != nil {
			return err
		}
		if day != "" {
			out = Outcome{Result: Dropped, Why: "this was forgotten on " + day + " and does not come back on its own"}
			return nil
		}
		twin, err := g.twin(ctx, n)
		if err == nil && twin != nil && twin.Exact {
			out = Outcome{Result: Unchanged, Note: n, Twin: &twin.Row}
			return nil
		}
		if err != nil {
			return err
		}
		for _, d := range g.store.Spool().Held() { // the agent may ask twice
			if d.Title == n.Title && d.Body == n.Body && d.Project == n.Project {
				out.Note = d
				return nil
			}
		}
		return w.Hold(n)
	})
	if err == nil {
		g.log(out, 0)
	}
	return out, err
}

// Proposals returns the candidates that wait, oldest first; of one session, or with "" of all.
func (b Beliefs) Proposals(session string) (all []*note.Note) {
	for _, d := range b.g.store.Spool().Held() {
		if d.HasTag(note.CandidateTag) && !d.Decided() && (session == "" || d.Provenance.Session == session) {
			all = append(all, d)
		}
	}
	return all
}

// Settle ends the proposals of a session: a reader has seen them. They are kept as decided
// until their time is over, so that reading the session again does not bring them back.
func (b Beliefs) Settle(ctx context.Context, session string) error {
	return b.settle(ctx, b.Proposals(session))
}

// SettleOne is Settle for one draft. The error is fs.ErrNotExist when none of that id waits.
func (b Beliefs) SettleOne(ctx context.Context, id note.ID) error {
	d, err := b.g.store.Spool().HeldDraft(id)
	if err != nil {
		return err
	}
	return b.settle(ctx, []*note.Note{d})
}

func (b Beliefs) settle(ctx context.Context, drafts []*note.Note) error {
	if len(drafts) == 0 {
		return nil
	}
	return locked(ctx, b.g.store, func(w *store.Writer) error {
		for _, d := range drafts {
			d.Archive("decided")
			if err := w.Hold(d); err != nil {
				return err
			}
		}
		return nil
	})
}

// ExpireProposals removes the candidates that were proposed thirty days ago, decided or not.
func (b Beliefs) ExpireProposals(ctx context.Context) (removed int, err error) {
	now := b.g.store.Now()
	var old []note.ID
	for _, d := range b.g.store.Spool().Held() {
		if at, ok := d.UpdatedAt.Time(); d.HasTag(note.CandidateTag) && ok && now.Sub(at) > proposalAge {
			old = append(old, d.ID)
		}
	}
	if len(old) == 0 {
		return 0, nil
	}
	return len(old), locked(ctx, b.g.store, func(w *store.Writer) error {
		for _, id := range old {
			if err := w.Release(id); err != nil {
				return err
			}
		}
		return nil
	})
}

// Vouch records that a person typed, in a session, what an agent wrote in a note or in its own memory: the
// note is the user's word from now on. One that a person wrote or read stays as it is. The error
// is fs.ErrNotExist for a note that is gone.
func (b Beliefs) Vouch(ctx context.Context, id note.ID, e note.Evidence) (Outcome, error) {
	return b.g.amend(ctx, id, "vouch for", func(n *note.Note, _ []byte) (*note.Note, error) {
		if proves(n, []note.Evidence{e}) {
			return n, nil
		}
		// What the agent said of the quote is replaced by what was found.
		n.Evidence = slices.DeleteFunc(n.Evidence, func(had note.Evidence) bool { return had.Chunk == "" })
		n.Evidence = note.UnionEvidence(n.Evidence, []note.Evidence{e})
		n.ProofCount = max(1, n.Sessions())
		if n.Provenance.Source == note.Agent || n.Provenance.Source == note.Import {
			n.Provenance.Source = note.User
			n.Provenance.Confidence = max(n.Provenance.Confidence, 0.9)
		}
		return n, nil
	})
}
