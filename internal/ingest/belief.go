package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/claim"
	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// Beliefs are the rules and facts that sessions teach. A new one does not pile up beside the
// old ones: it confirms a note that states the same, takes the place of one that it
// contradicts, or stands beside the others. They are safe for concurrent use.
type Beliefs struct{ g *Ingester }

// BeliefsOf returns the beliefs behind the door.
func BeliefsOf(g *Ingester) Beliefs { return Beliefs{g} }

// A Learning is a rule or fact that a session taught.
type Learning struct {
	Note     *note.Note                     // with at most one piece of evidence
	Replaces note.ID                        // the note that a reader says it replaces; "" for none
	Dir      string                         // as in Draft
	Beside   func(*note.Note) *note.Sidecar // the sidecar of the note, if it is written; nil for none
}

// An Effect says what a learning did to the notes that stand.
type Effect string

// The effects. Their texts stand in the event log.
const (
	Creates     Effect = "creates"     // no note states the same or the opposite
	Confirms    Effect = "confirms"    // a note states it already and gained evidence
	Contradicts Effect = "contradicts" // a note states the opposite and is replaced, or waits for a person beside the new one
	Known       Effect = "known"       // this stretch of the session was learnt before
)

// Learned is the outcome of a learning.
type Learned struct {
	Outcome
	Effect Effect
	Of     note.ID     // the note that is confirmed or contradicted, if any
	Near   []Neighbour // of Created and Held: notes about the same matter, the nearest first
}

// A Neighbour is a note that shares words of content with another one.
type Neighbour struct {
	Note     *note.Note
	Ref      store.Ref
	Relation claim.Relation // of the new note to this one
	Shared   int            // words of content in common
	near     bool
	dead     bool
}

// maxNear is how many neighbours an agent is shown.
const maxNear = 3

// Learn takes a learning in. The same stretch of a session is learnt once, whatever became of
// the note: its id and the chunk of its evidence say so.
//
// A note that states the same gains the evidence and keeps its date. A note that states the
// opposite, or that Replaces names, is superseded, which can be undone, with two exceptions:
// what only an agent or a machine says never replaces what a person vouches for (it is Held,
// with the id of that note in conflict_of), and what a person reviewed or wrote stays in force
// beside the newer word of the user, which carries conflict_of, until the person decides.
func (b Beliefs) Learn(ctx context.Context, l Learning) (Learned, error) {
	g, began := b.g, time.Now()
	n := g.complete(l.Note)
	out := Learned{Outcome: Outcome{Note: n}, Effect: Creates}
	out.Redacted = g.redact(n)
	if g.checkRefs(ctx, n, l.Dir) && n.Provenance.Source == note.Agent {
		return b.refuse(out, "no commit that it names is in the repository: "+strings.Join(n.UnverifiedRefs, ", "))
	}
	if err := n.ValidateNew(); err != nil {
		return Learned{}, fmt.Errorf("learn %q: %w", shorten(n.Title), err)
	}
	if err := locked(ctx, g.store, func(w *store.Writer) error { return b.decide(ctx, w, l, &out) }); err != nil {
		return Learned{}, fmt.Errorf("learn %q: %w", shorten(n.Title), err)
	}
	if out.Result != Unchanged {
		g.log(out.Outcome, time.Since(began))
	}
	return out, nil
}

func (b Beliefs) refuse(out Learned, why string) (Learned, error) {
	out.Outcome = Outcome{Result: Dropped, Why: why}
	b.g.log(out.Outcome, 0)
	return out, nil
}

// related is how many notes that share words with a learning are compared with it.
const related = 12

func (b Beliefs) decide(ctx context.Context, w *store.Writer, l Learning, out *Learned) error {
	g, n := b.g, out.Note
	known, err := b.known(ctx, n)
	if err != nil || known {
		out.Result, out.Effect = Unchanged, Known
		return err
	}
	day, err := g.forgotten(n)
	if err != nil {
		return err
	}
	if day != "" {
		out.Result, out.Note, out.Why = Dropped, nil, "this was forgotten on "+day+" and does not come back on its own"
		return nil
	}
	near, err := b.neighbours(ctx, n, true)
	if err != nil {
		return err
	}
	var same, opposite *Neighbour
	for i := range near {
		x := &near[i]
		switch {
		case proves(x.Note, n.Evidence):
			out.Result, out.Effect, out.Of = Unchanged, Known, x.Note.ID
			return nil
		case x.dead || slices.Contains(n.Supersedes, x.Note.ID):
		case x.Note.ID == l.Replaces && x.Note.Project == n.Project, opposite == nil && x.Relation == claim.Opposite:
			opposite = x
		case same == nil && x.Relation == claim.Same:
			same = x
		}
	}
	if opposite == nil && l.Replaces != "" {
		opposite = b.named(l.Replaces, n)
	}
	out.Near = liveNear(near)
	switch {
	case opposite != nil:
		out.Effect, out.Of = Contradicts, opposite.Note.ID
		return b.contradict(ctx, w, l, opposite, out)
	case same != nil:
		out.Effect, out.Of, out.Near = Confirms, same.Note.ID, nil
		return b.confirm(ctx, w, same, out)
	}
	twin, err := g.twin(ctx, n)
	switch {
	case err != nil:
		return err
	case twin != nil && twin.Exact:
		out.Effect, out.Of, out.Twin = Confirms, twin.Row.ID, &twin.Row
		return g.absorb(ctx, w, twin.Row, &out.Outcome)
	case twin != nil && g.opts.HoldSimilar:
		out.Twin, out.Of, out.Result, out.Why = &twin.Row, twin.Row.ID, Held, nearly(&twin.Row)
		return w.Hold(n)
	}
	return b.create(ctx, w, l, out)
}

// neighbours returns the notes of the project of n and the global ones that share words with
// it, compared with it, those first that share most. dead includes notes that are not in force.
func (b Beliefs) neighbours(ctx context.Context, n *note.Note, dead bool) (all []Neighbour, err error) {
	g := b.g
	rows, err := g.sharing(ctx, n, related, index.Filter{
		Projects: []string{n.Project, note.Global}, Types: []note.Type{note.Procedural, note.Semantic}, Scope: n.Scope, Dead: dead,
		Now: g.store.Now(), WithoutKinds: []note.Kind{note.Slot, note.Handoff},
	})
	if err != nil {
		return nil, err
	}
	mine := claim.Of(n)
	for _, row := range rows {
		if row.ID == n.ID {
			continue
		}
		old, _, at, err := g.store.Read(row.Ref.Path)
		if err != nil {
			continue // the index is behind; Sync will notice
		}
		its := claim.Of(old)
		all = append(all, Neighbour{
			old, at, claim.Notes(n, old), claim.Shared(mine, its), claim.Near(mine, its),
			row.Dead,
		})
	}
	slices.SortStableFunc(all, func(x, y Neighbour) int { return y.Shared - x.Shared })
	return all, nil
}

// Near returns up to three notes in force about the matter of n, the nearest first.
func (b Beliefs) Near(ctx context.Context, n *note.Note) ([]Neighbour, error) {
	all, err := b.neighbours(ctx, b.g.complete(n), false)
	return liveNear(all), err
}

func liveNear(all []Neighbour) []Neighbour {
	all = slices.DeleteFunc(slices.Clone(all), func(x Neighbour) bool { return x.dead || !x.near && x.Relation == claim.Unrelated })
	return all[:min(maxNear, len(all))]
}

// named reads the note that a reader says n replaces; nil when there is none in the project.
func (b Beliefs) named(id note.ID, n *note.Note) *Neighbour {
	old, ref, err := store.Get(b.g.store, id) // a reader may name what is gone
	if err != nil || old.Project != n.Project || !old.Type.Durable() || old.Kind != "" && old.Kind != note.Observation {
		return nil
	}
	return &Neighbour{Note: old, Ref: ref, Relation: claim.Unrelated}
}

// create writes a learning as a note. Its sidecar is written first: a note that is there when
// the machine stops has its sidecar, and one that is not is learnt again.
func (b Beliefs) create(ctx context.Context, w *store.Writer, l Learning, out *Learned) error {
	n := out.Note
	out.Result = Created
	if l.Beside != nil {
		if side := l.Beside(n); side != nil {
			if err := w.WriteSidecar(store.NotePath(n.Scope, n.Type, n.ID), note.FormatSidecar(side)); err != nil {
				return fmt.Errorf("write the sidecar of note %s: %w", n.ID, err)
			}
		}
	}
	return b.g.write(ctx, w, n, store.Ref{}, store.Update, &out.Outcome)
}

// confirm adds the evidence of a learning to the note that states it. The date of the note
// stays: the rule is as old as its first word.
func (b Beliefs) confirm(ctx context.Context, w *store.Writer, same *Neighbour, out *Learned) error {
	was, n := same.Note, out.Note
	now := was.Clone()
	unite(now, n)
	if len(n.AnchorHashes) > 0 { // confirmed for the code as it is now
		now.AnchorHashes = n.AnchorHashes
	}
	for _, t := range n.When {
		if !slices.Contains(now.When, t) && len(now.When) < note.MaxTriggers {
			now.When = append(now.When, t)
		}
	}
	if was.Provenance.Source != note.Human && n.Provenance.Source == note.User {
		now.Provenance.Source = note.User // an agent's note that a person has said, too
	}
	if was.Learnt() {
		now.Provenance.Confidence = min(0.95, max(was.Provenance.Confidence, n.Provenance.Confidence)+0.05)
	}
	if note.Equal(was, now) {
		out.Result, out.Note, out.Ref = Unchanged, was, same.Ref
		return nil
	}
	out.Result, out.Note = Updated, now
	return b.g.write(ctx, w, now, same.Ref, store.Update, &out.Outcome)
}

// contradict lets a learning take the place of a note, or wait.
func (b Beliefs) contradict(ctx context.Context, w *store.Writer, l Learning, x *Neighbour, out *Learned) error {
	was, n := x.Note, out.Note
	switch {
	case was.UserSaid() && !n.UserSaid():
		n.ConflictOf = was.ID
		out.Result = Held
		out.Why = fmt.Sprintf("it contradicts %s %q, which a person laid down", was.ID, shorten(was.Title))
		return w.Hold(n)
	case older(n, was): // a session that was captured late: what stands replaced it
		if err := b.create(ctx, w, l, out); err != nil {
			return err
		}
		now := was.Clone()
		now.Supersedes = append(now.Supersedes, n.ID)
		return b.g.write(ctx, w, now, x.Ref, store.Update, &Outcome{})
	case owned(was), was.Project != n.Project: // both stand until the person decides
		n.ConflictOf = was.ID
		return b.create(ctx, w, l, out)
	}
	n.Supersedes = append(n.Supersedes, was.ID)
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
	n.Reopen()
	n.Tags = slices.DeleteFunc(n.Tags, func(t string) bool { return t == note.CandidateTag })
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

// older reports whether the source of a was said before that of b.
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
// of a session has it under another session id.
func proves(n *note.Note, evidence []note.Evidence) bool {
	return slices.ContainsFunc(evidence, func(e note.Evidence) bool {
		return e.Chunk != "" && slices.ContainsFunc(n.Evidence, func(had note.Evidence) bool { return had.Chunk == e.Chunk })
	})
}
