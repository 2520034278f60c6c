package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// Beliefs are what sessions taught. A new learning does not pile up beside the old
// ones: it is compared with those that speak of the same, and confirms, refines or
// replaces one of them, or waits for a person when that cannot be decided.
// They are safe for concurrent use.
type Beliefs struct{ g *Ingester }

// BeliefsOf returns the beliefs behind the door.
func BeliefsOf(g *Ingester) Beliefs { return Beliefs{g} }

// A Learning is what one stretch of a session taught. Its note has the source
// note.Learning, an id made of that stretch, and one piece of evidence.
type Learning struct {
	Note   *note.Note
	Turned bool                           // it says itself that something is not as it was
	Again  bool                           // it says itself that it was said before
	Except bool                           // it says where another rule does not hold
	Dir    string                         // as in Draft
	Beside func(*note.Note) *note.Sidecar // what stands beside the note, if it is written; nil for nothing
}

// The tags of learnings that bear on other rules.
const (
	ExceptionTag = "exception" // it says where another rule does not hold
	TurnedTag    = "turned"    // it says that something is not as it was
)

// A Bearing says what a learning does to the notes that stand.
type Bearing string

// The bearings.
const (
	Creates     Bearing = "creates"     // nothing stands that it is about
	Confirms    Bearing = "confirms"    // a note says it already: one more session proves that
	Refines     Bearing = "refines"     // a note says less: it is replaced
	Contradicts Bearing = "contradicts" // a note says otherwise
	Undecided   Bearing = "undecided"   // it says the opposite of a note, and not that anything changed
	Known       Bearing = "known"       // this stretch of the session was learnt before
)

// A Believed is what became of a learning.
type Believed struct {
	Outcome
	Bearing Bearing
	Of      note.ID // the note that it bears on, if any
}

// Learn takes a learning in. What is told twice by one stretch of a session is learnt
// once, whatever became of it: the id of the note and the chunk of its evidence say
// so. A note that a person wrote or reviewed is never replaced; what contradicts one
// is held, with the id of that note in conflict_of.
func (b Beliefs) Learn(ctx context.Context, l Learning) (Believed, error) {
	g, began := b.g, time.Now()
	n := g.complete(l.Note)
	out := Believed{Outcome: Outcome{Note: n}, Bearing: Creates}
	out.Redacted = g.redact(n)
	g.checkRefs(ctx, n, l.Dir)
	if l.Except {
		n.AddTags(ExceptionTag)
	}
	if l.Turned {
		n.AddTags(TurnedTag)
	}
	if err := n.ValidateNew(); err != nil {
		return Believed{}, fmt.Errorf("learn %q: %w", shorten(n.Title), err)
	}
	if err := locked(ctx, g.store, func(w *store.Writer) error { return b.decide(ctx, w, l, &out) }); err != nil {
		return Believed{}, fmt.Errorf("learn %q: %w", shorten(n.Title), err)
	}
	if out.Result != Unchanged {
		g.log(out.Outcome, time.Since(began))
	}
	return out, nil
}

// related is how many notes that share words with a learning are compared with it.
const related = 12

func (b Beliefs) decide(ctx context.Context, w *store.Writer, l Learning, out *Believed) error {
	g, n := b.g, out.Note
	known, err := b.known(ctx, n)
	if err != nil || known {
		out.Result, out.Bearing = Unchanged, Known
		return err
	}
	day, err := g.forgotten(n)
	if err != nil {
		return err
	}
	if day != "" {
		out.Result, out.Note, out.Why = Dropped, nil, "this was forgotten on "+day+" and does not come back by itself"
		return nil
	}
	rows, err := g.sharing(ctx, n, related, index.Filter{
		Projects: []string{n.Project, note.Global}, Types: []note.Type{note.Procedural, note.Semantic}, Scope: n.Scope, Dead: true,
		Now: g.store.Now(), WithoutKinds: []note.Kind{note.Slot, note.Handoff},
	})
	if err != nil {
		return err
	}
	said := claimOf(n)
	best, was, ref := Bearing(""), (*note.Note)(nil), store.Ref{}
	most := 0.0
	for _, row := range rows {
		if row.ID == n.ID {
			continue
		}
		old, _, at, err := g.store.Read(row.Ref.Path)
		if err != nil {
			continue // the index is behind; Sync will notice
		}
		if proves(old, n.Evidence) {
			out.Result, out.Bearing, out.Of = Unchanged, Known, old.ID
			return nil
		}
		if row.Dead {
			continue
		}
		how, weight := bears(l, n, said, old)
		if older(n, old) { // a session that was captured late: what stands may turn it
			how, weight = bearing(Learning{Turned: old.HasTag(TurnedTag), Except: old.HasTag(ExceptionTag)}, old, n)
		}
		if weight > most {
			best, was, ref, most = how, old, at, weight
		}
	}
	if was == nil && g.opts.HoldSimilar {
		if twin := g.meant(ctx, n); twin != nil {
			out.Twin, out.Of, out.Result = &twin.Row, twin.Row.ID, Held
			out.Why = nearly(&twin.Row)
			return w.Hold(n)
		}
	}
	if was == nil {
		return b.create(ctx, w, l, out)
	}
	out.Bearing, out.Of = best, was.ID
	return b.bear(ctx, w, l, was, ref, out)
}

// create writes a learning as a note. What stands beside it is written first: a note that
// is there when the machine stops has its sidecar, and one that is not is learnt again.
func (b Beliefs) create(ctx context.Context, w *store.Writer, l Learning, out *Believed) error {
	n := out.Note
	out.Result = Created
	if l.Beside != nil {
		if side := l.Beside(n); side != nil {
			if err := w.WriteSidecar(store.NotePath(n.Scope, n.Type, n.ID), note.FormatSidecar(side)); err != nil {
				return fmt.Errorf("write what stands beside note %s: %w", n.ID, err)
			}
		}
	}
	return b.g.write(ctx, w, n, store.Ref{}, store.Update, &out.Outcome)
}

// bear does to a note that stands what the learning says of it.
func (b Beliefs) bear(ctx context.Context, w *store.Writer, l Learning, was *note.Note, ref store.Ref, out *Believed) error {
	g, n := b.g, out.Note
	switch {
	case out.Bearing == Confirms:
		now := was.Clone()
		unite(now, n)
		if len(n.AnchorHashes) > 0 { // said again of the code as it is now
			now.AnchorHashes = n.AnchorHashes
		}
		if was.Provenance.Source == note.Learning { // what many sessions say is surer
			now.Provenance.Confidence = min(0.95, max(was.Provenance.Confidence, n.Provenance.Confidence)+0.05)
		}
		return g.replace(ctx, w, was, now, ref, store.Update, &out.Outcome)
	case out.Bearing == Undecided, owned(was):
		why := "it contradicts %s %q, which its owner wrote or reviewed"
		if out.Bearing == Undecided {
			why = "it says the opposite of %s %q, and not that anything changed"
		}
		n.ConflictOf = was.ID
		out.Result, out.Why = Held, fmt.Sprintf(why, was.ID, shorten(was.Title))
		return w.Hold(n)
	case older(n, was): // what stands is newer, and what is learnt now is what it replaced
		if err := b.create(ctx, w, l, out); err != nil {
			return err
		}
		now := was.Clone()
		now.Supersedes = append(now.Supersedes, n.ID)
		return g.write(ctx, w, now, ref, store.Update, &Outcome{})
	}
	n.Supersedes = append(n.Supersedes, was.ID)
	if out.Bearing == Refines {
		unite(n, was)
	}
	return b.create(ctx, w, l, out)
}

// Release writes a held draft as a note. With retire it replaces the note that it
// contradicts. The error is fs.ErrNotExist when none of that id waits.
func (b Beliefs) Release(ctx context.Context, id note.ID, retire bool) error {
	n, err := b.g.store.Spool().HeldDraft(id)
	if err != nil {
		return err
	}
	if retire && n.ConflictOf != "" {
		n.Supersedes = append(n.Supersedes, n.ConflictOf)
	}
	n.ConflictOf = ""
	out, err := b.g.Add(ctx, Draft{Note: n, Force: true})
	if err == nil && out.Result == Dropped {
		err = errors.New(out.Why)
	}
	if err != nil {
		return err
	}
	return locked(ctx, b.g.store, func(w *store.Writer) error { return w.Release(id) })
}

// owned reports whether a person wrote a note, or read it and found it right.
func owned(n *note.Note) bool { return n.Provenance.Source == note.Human || n.HasTag(Reviewed) }

// older reports whether what a was made of was said before what b was made of.
func older(a, b *note.Note) bool {
	x, ok := a.CreatedAt.Time()
	y, also := b.CreatedAt.Time()
	return ok && also && x.Before(y)
}

// known reports whether the stretch of the session was learnt before: its note stands,
// in whatever state, or waits.
func (b Beliefs) known(ctx context.Context, n *note.Note) (bool, error) {
	ref, err := b.g.find(ctx, n.ID)
	if err != nil || ref.Path != "" {
		return err == nil, err
	}
	return slices.ContainsFunc(b.g.store.Spool().Held(), func(d *note.Note) bool { return d.ID == n.ID }), nil
}

// proves reports whether a note has a piece of evidence already, by its chunk: a fork
// of a session tells it under another id.
func proves(n *note.Note, evidence []note.Evidence) bool {
	return slices.ContainsFunc(evidence, func(e note.Evidence) bool {
		return e.Chunk != "" && slices.ContainsFunc(n.Evidence, func(had note.Evidence) bool { return had.Chunk == e.Chunk })
	})
}
