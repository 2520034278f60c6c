package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// ErrChanged says that a note is not any more what somebody began to work on.
var ErrChanged = errors.New("the note changed in the meantime")

// Edit gives a note the form that its author wrote: edited is the whole file, was
// the file they began with. What a person writes is in force; of anybody else it waits in the
// inbox, as what the note would be. A scope that they changed moves the note to the other
// tree. A statement that was forgotten is not any more when the owner writes it
// (Outcome.Revoked). Nothing is changed when edited is no valid note, has another
// id, or when the note changed in the meantime (ErrChanged), or when it contradicts another note of the user and the person has not
// said what becomes of that one (Asked).
func (g *Ingester) Edit(ctx context.Context, by Author, id note.ID, was, edited []byte, rival Rival) (Outcome, error) {
	now, err := note.Parse(edited)
	before, perr := note.Parse(was)
	switch {
	case err != nil:
	case now.ID != id:
		err = fmt.Errorf("it has the id %s; an id never changes", now.ID)
	default:
		err = now.Validate()
	}
	if err != nil {
		return Outcome{}, fmt.Errorf("edit note %s: %w", id, err)
	}
	if by != Person {
		return g.proposeEdit(ctx, by, now)
	}
	settled, err := g.settles(ctx, before, now, rival)
	if err != nil {
		return Outcome{}, fmt.Errorf("edit note %s: %w", id, err)
	}
	if settled.Result == Asked {
		return settled, nil
	}
	out, err := g.amend(ctx, id, true, "edit", func(n *note.Note, data []byte) (*note.Note, error) {
		if !bytes.Equal(data, was) {
			return nil, ErrChanged
		}
		if perr == nil && now.Scope == before.Scope {
			now.Scope = n.Scope // the tree decides it, not what an old file says
		}
		plain(now)
		now.Title = strings.TrimSpace(now.Title)
		if now.Body != n.Body {
			now.Tags = slices.DeleteFunc(now.Tags, func(t string) bool { return t == "reflected" })
		}
		if now.UpdatedAt == n.UpdatedAt && !note.Equal(n, now) {
			now.UpdatedAt = note.At(g.store.Now())
		}
		return now, nil
	})
	out.Effect, out.Of = settled.Effect, settled.Of
	return out, err
}

// proposeEdit keeps what a note would be as a draft, until its owner decides.
func (g *Ingester) proposeEdit(ctx context.Context, by Author, now *note.Note) (Outcome, error) {
	now.Vouched, now.Reviewed, now.Trusted = "", "", false
	if now.StatusReason = "a change of your note"; by == Teammate {
		now.StatusReason += " by the team's repository"
	}
	out := Outcome{Result: Held, Note: now, Why: now.StatusReason}
	err := locked(ctx, g.store, func(w *store.Writer) error { return w.Hold(now) })
	if err != nil {
		return Outcome{}, fmt.Errorf("hold a change of note %s: %w", now.ID, err)
	}
	g.log(out, 0)
	return out, nil
}

// Supersede records that the note by replaces the note old: old is kept and not
// recalled. With undo it takes that back. A note cannot replace itself, or what
// replaces it, however many notes are in between.
func (g *Ingester) Supersede(ctx context.Context, old, by note.ID, undo bool) (Outcome, error) {
	if old == by {
		return Outcome{}, fmt.Errorf("supersede note %s: a note cannot replace itself", old)
	}
	return g.amend(ctx, by, false, "supersede", func(n *note.Note, _ []byte) (*note.Note, error) {
		has := slices.Contains(n.Supersedes, old)
		switch {
		case has != undo:
			return n, nil // nothing to do
		case undo:
			n.Supersedes = slices.DeleteFunc(n.Supersedes, func(id note.ID) bool { return id == old })
		default:
			if _, err := g.store.Find(old); err != nil {
				return nil, fmt.Errorf("the note %s that it is to replace: %w", old, err)
			}
			if Replaces(g.store, old, by) {
				return nil, fmt.Errorf("%s replaces it already, and two notes cannot replace each other; take that back first", old)
			}
			n.Supersedes = append(n.Supersedes, old)
		}
		n.UpdatedAt = note.At(g.store.Now())
		return n, nil
	})
}

// Review records that its owner has read a note as it is and finds it right: the ledger has it,
// and it is no longer in quarantine.
func (g *Ingester) Review(ctx context.Context, id note.ID) (Outcome, error) {
	return g.amend(ctx, id, true, "review", func(n *note.Note, _ []byte) (*note.Note, error) {
		n.ConflictOf = "" // the person has decided
		if n.IsReviewed() && !n.Quarantine {
			return n, nil
		}
		if n.Quoted() && n.Rule != "" { // the owner has read the title
			n.Rule = ""
		}
		if n.Learnt() { // what its owner has read wins over what no person has
			n.Provenance.Confidence = 1
		}
		n.Quarantine, n.Reviewed = false, note.At(g.store.Now())
		n.UpdatedAt = n.Reviewed
		return n, nil
	})
}

// Replaces reports whether a note replaces another, directly or by way of others.
func Replaces(s *store.Store, a, b note.ID) bool {
	seen := map[note.ID]bool{}
	next := []note.ID{a}
	for len(next) > 0 {
		id := next[0]
		next = next[1:]
		if id == b {
			return true
		}
		if seen[id] {
			continue
		}
		seen[id] = true
		if n, _, err := store.Get(s, id); err == nil {
			next = append(next, n.Supersedes...)
		}
	}
	return false
}

// amend changes one note under the store lock. change gets the note and its
// bytes as they are now and returns the note as it shall be; it may change and
// return the one it was given. vouch says that a person made the change, and vouches for the result.
func (g *Ingester) amend(
	ctx context.Context, id note.ID, vouch bool, what string, change func(*note.Note, []byte) (*note.Note, error),
) (Outcome, error) {
	began := time.Now()
	fail := func(err error) (Outcome, error) { return Outcome{}, fmt.Errorf("%s note %s: %w", what, id, err) }
	w, err := g.store.BeginWrite(ctx)
	if err != nil {
		return fail(err)
	}
	defer w.End()
	at, err := g.find(ctx, id)
	if err == nil && at.Path == "" {
		at, err = g.store.Find(id)
	}
	if err != nil {
		return fail(err)
	}
	was, data, ref, err := g.store.Read(at.Path)
	if err != nil {
		return fail(err)
	}
	now, err := change(was.Clone(), data)
	if err != nil {
		return fail(err)
	}
	out := Outcome{Result: Updated, Note: now, Ref: ref}
	if note.Equal(was, now) && (!vouch || was.Trusted) {
		out.Result = Unchanged
		return out, nil
	}
	if err := now.Validate(); err != nil {
		return fail(err)
	}
	if vouch {
		out.Secrets = g.secrets(now)
	}
	if now.Statement() != was.Statement() || now.Scope != was.Scope {
		forgotten, err := g.forgotten(now)
		if out.Revoked = forgotten != ""; err == nil {
			err = revoke(w, &out, now)
		}
		if err != nil {
			return fail(err)
		}
	}
	if err := g.vouched(ctx, w, vouch, now, ref, store.Update, &out); err != nil {
		return fail(err)
	}
	g.log(out, time.Since(began))
	return out, nil
}
