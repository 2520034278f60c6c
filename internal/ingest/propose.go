package ingest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

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

// Proposals returns what waits of a session.
func (b Inbox) Proposals(session string) (all []*note.Note) {
	for _, d := range b.g.store.Spool().Held() {
		if !d.Decided() && d.Provenance.Session == session {
			all = append(all, d)
		}
	}
	return all
}

// Settle ends a proposal that the user does not want. It is kept as decided, so that reading its session again does not bring it
// back. The error is fs.ErrNotExist when none of that id waits.
func (b Inbox) Settle(ctx context.Context, id note.ID) error {
	d, err := b.g.store.Spool().HeldDraft(id)
	if err != nil {
		return err
	}
	return locked(ctx, b.g.store, func(w *store.Writer) error {
		d.Archive("decided")
		return w.Hold(d)
	})
}

// The tag and the beginning of the body with which earlier versions kept a sentence that might teach something.
const (
	nominatedTag  = "candidate"
	nominatedBody = "Nominated as: "
)

// AdoptNominated makes an ordinary proposal of each sentence that an earlier version nominated.
func (b Inbox) AdoptNominated(ctx context.Context) error {
	var all []*note.Note
	for _, d := range b.g.store.Spool().Held() {
		if d.HasTag(nominatedTag) && strings.HasPrefix(d.Body, nominatedBody) {
			all = append(all, d)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return locked(ctx, b.g.store, func(w *store.Writer) error {
		for _, d := range all {
			d.Tags = slices.DeleteFunc(d.Tags, func(t string) bool { return t == nominatedTag })
			if d.Body = ""; d.StatusReason == "" {
				d.StatusReason = "it is a sentence of a session; an earlier version asked for a decision on it"
			}
			if err := w.Hold(d); err != nil {
				return fmt.Errorf("make a proposal of %s: %w", d.ID, err)
			}
		}
		return nil
	})
}
