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

// An Inbox is what waits for a decision. It is safe for concurrent use.
type Inbox struct{ g *Ingester }

// InboxOf returns the inbox behind the door.
func InboxOf(g *Ingester) Inbox { return Inbox{g} }

// Propose keeps a statement as a draft that waits for a reader: local to this machine, in no
// index and injected into no session. A draft of the id, a note of it, and a stretch of a
// session that another note has as evidence make it known: nothing is written then. source is what
// its entry point knows of its author, whatever the draft says.
func (b Inbox) Propose(ctx context.Context, n *note.Note, source string) error {
	n = b.g.complete(n)
	n.Provenance.Source, n.Reviewed, n.Vouched, n.Trusted = source, "", "", false
	b.g.redact(n)
	n.UpdatedAt = note.At(b.g.store.Now()) // the thirty days begin
	if err := n.ValidateNew(); err != nil {
		return fmt.Errorf("propose %q: %w", shorten(n.Title), err)
	}
	err := locked(ctx, b.g.store, func(w *store.Writer) error {
		if known, err := b.g.known(ctx, n); err != nil || known { // decided, or it waits
			return err
		}
		if day, err := b.g.forgotten(n); err != nil || day != "" {
			return err
		}
		near, err := b.g.neighbours(ctx, n, true)
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

// Return takes a note out of recall and back into the inbox: it is archived, and waits as a draft
// that a person may keep. why is shown there. The error is fs.ErrNotExist for a note that is gone.
func (b Inbox) Return(ctx context.Context, id note.ID, why string) error {
	g := b.g
	var ref store.Ref
	err := locked(ctx, g.store, func(w *store.Writer) error {
		n, at, err := store.Get(g.store, id)
		if err != nil {
			return err
		}
		draft := n.Clone()
		draft.StatusReason, draft.Vouched, draft.Reviewed, draft.Trusted = why, "", "", false
		if err := w.Hold(draft); err != nil {
			return err
		}
		n.Archive(why + "; `anamnesis archive undo` brings it back")
		n.UpdatedAt = note.At(g.store.Now())
		ref, _, err = w.Put(n, at, store.Archived)
		return err
	})
	if err != nil {
		return fmt.Errorf("take note %s back into the inbox: %w", id, err)
	}
	return g.refresh(ctx, []string{ref.Path})
}

// Proposals returns the candidates that wait, oldest first; of one session, or with "" of all.
func (b Inbox) Proposals(session string) (all []*note.Note) {
	for _, d := range b.g.store.Spool().Held() {
		if d.HasTag(note.CandidateTag) && !d.Decided() && (session == "" || d.Provenance.Session == session) {
			all = append(all, d)
		}
	}
	return all
}

// Settle ends the proposals of a session: a reader has seen them. They are kept as decided
// until their time is over, so that reading the session again does not bring them back.
func (b Inbox) Settle(ctx context.Context, session string) error {
	return b.settle(ctx, b.Proposals(session))
}

// SettleOne is Settle for one draft. The error is fs.ErrNotExist when none of that id waits.
func (b Inbox) SettleOne(ctx context.Context, id note.ID) error {
	d, err := b.g.store.Spool().HeldDraft(id)
	if err != nil {
		return err
	}
	return b.settle(ctx, []*note.Note{d})
}

func (b Inbox) settle(ctx context.Context, drafts []*note.Note) error {
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
func (b Inbox) ExpireProposals(ctx context.Context) (removed int, err error) {
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
