package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"anamnesis/internal/claim"
	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/redact"
	"anamnesis/internal/store"
)

// A Rival says what becomes of the note of the user that a person's note contradicts, or whose subject it settles otherwise.
type Rival int

// What becomes of it.
const (
	AskFirst     Rival = iota // nothing is written: the person is asked (Asked)
	ReplaceRival              // the new note takes its place; undoable
	KeepRival                 // both hold
)

// onSubject returns a note in force that settles the subject of n in its project and at its paths; nil when there is none. Of several
// it is one that states something else, and one of the user's before any other.
func (g *Ingester) onSubject(ctx context.Context, n *note.Note) (found *Neighbour, err error) {
	if note.Subject(n.About) == "" {
		return nil, nil //nolint:nilnil // no note is one of the answers
	}
	rows, err := g.index.Select(ctx, index.Filter{
		Projects: []string{n.Project}, Types: []note.Type{note.Procedural, note.Semantic}, Scope: n.Scope,
		Tags: []string{note.SubjectTag(n.About)}, Now: g.store.Now(), WithoutKinds: []note.Kind{note.Slot, note.Handoff},
	}, 0)
	if errors.Is(err, index.ErrAway) {
		return nil, nil //nolint:nilnil // see above
	}
	if err != nil {
		return nil, fmt.Errorf("look for notes about %q: %w", note.Subject(n.About), err)
	}
	weight := func(x *Neighbour) int {
		w := 0
		if claim.Exclude(n, x.Note) {
			w += 2
		}
		if x.Note.UserSaid() {
			w++
		}
		return w
	}
	for _, row := range rows {
		if row.ID == n.ID || row.SupersededBy != "" || slices.Contains(n.Supersedes, row.ID) {
			continue
		}
		was, _, ref, err := g.store.Read(row.Ref.Path)
		if err != nil || !was.Live(g.store.Now()) || !slices.Equal(note.PathsOf(was), note.PathsOf(n)) {
			continue // of the index alone, which is behind
		}
		x := &Neighbour{Note: was, Ref: ref, Relation: claim.Notes(n, was), Shared: claim.Shared(claim.Of(n), claim.Of(was)), near: true}
		if x.Relation == claim.Unrelated && !claim.Exclude(n, was) {
			continue // both hold
		}
		if found == nil || cmp.Compare(weight(x), weight(found)) > 0 {
			found = x
		}
	}
	return found, nil
}

// opposed says that n, of an author, states something else than a note of the user.
func (x *Neighbour) opposed(n *note.Note, by Author) string {
	who, how, did := "your user", "contradicts", "wrote"
	if by == Person {
		who = "you"
	}
	if s := note.Subject(n.About); s != "" && x.Relation != claim.Opposite && s == note.Subject(x.Note.About) {
		how = fmt.Sprintf("says otherwise about %q than", s)
	}
	if x.Note.Provenance.Source == note.User && !x.Note.IsReviewed() {
		did = "said"
	}
	return fmt.Sprintf("it %s %s %q, which %s %s", how, x.Note.ID, shorten(x.Note.Title), who, did)
}

// rivalsOf returns the notes in force that n contradicts, or whose subject it settles otherwise, those of the user first.
func (g *Ingester) rivalsOf(ctx context.Context, n *note.Note) (all []*Neighbour, err error) {
	if !n.Type.Durable() || n.Kind != "" {
		return nil, nil
	}
	near, err := g.neighbours(ctx, n, false)
	if err != nil {
		return nil, err
	}
	for i := range near {
		if x := &near[i]; x.Relation == claim.Opposite && !slices.Contains(n.Supersedes, x.Note.ID) && x.Note.Kind != note.Handoff {
			all = append(all, x)
		}
	}
	x, err := g.onSubject(ctx, n)
	if err != nil {
		return nil, err
	}
	if x != nil && claim.Exclude(n, x.Note) && !slices.ContainsFunc(all, func(had *Neighbour) bool { return had.Note.ID == x.Note.ID }) {
		all = append(all, x)
	}
	slices.SortStableFunc(all, func(a, b *Neighbour) int {
		switch {
		case a.Note.UserSaid() == b.Note.UserSaid():
			return 0
		case a.Note.UserSaid():
			return -1
		}
		return 1
	})
	return all, nil
}

// Contradicted returns the note of the user that a note which a person is about to write contradicts, or whose subject it settles
// otherwise, and says so in a sentence; "" where there is none.
func Contradicted(ctx context.Context, g *Ingester, n *note.Note) (id note.ID, why string, err error) {
	all, err := g.rivalsOf(ctx, n)
	if err != nil || len(all) == 0 || !all[0].Note.UserSaid() {
		return "", "", err
	}
	return all[0].Note.ID, all[0].opposed(n, Person), nil
}

// settles decides on the notes that an edited one contradicts: those of a machine are replaced, and of those of the user the person
// decides. With Asked that decision is open; else Of names a note that holds, too.
func (g *Ingester) settles(ctx context.Context, before, now *note.Note, rival Rival) (out Outcome, err error) {
	if before != nil && before.Statement() == now.Statement() && note.Subject(before.About) == note.Subject(now.About) &&
		slices.Equal(note.PathsOf(before), note.PathsOf(now)) {
		return out, nil // it says what it said
	}
	all, err := g.rivalsOf(ctx, now)
	if err != nil || len(all) == 0 {
		return out, err
	}
	if first := all[0]; first.Note.UserSaid() {
		out = Outcome{Effect: Contradicts, Of: first.Note.ID, Why: first.opposed(now, Person)}
		if rival == AskFirst {
			out.Result, out.Note = Asked, now
			return out, nil
		}
	}
	if rival != KeepRival {
		g.supersede(now, all)
		return Outcome{}, nil
	}
	return out, nil
}

// supersede puts n in the place of its rivals.
func (g *Ingester) supersede(n *note.Note, rivals []*Neighbour) {
	for _, x := range rivals {
		if !slices.Contains(n.Supersedes, x.Note.ID) && !Replaces(g.store, x.Note.ID, n.ID) {
			n.Supersedes = append(n.Supersedes, x.Note.ID)
		}
	}
}

// settleSubject decides between a note whose subject a reader has named, under the store lock, and another one in force on the subject.
// Of two sentences of the user that share a word the later holds. Otherwise, and if the user wrote or reviewed one, the user
// is asked which holds. The user's note replaces one of a machine.
func (a *admission) settleSubject(ctx context.Context, now *note.Note) error {
	x, err := a.g.onSubject(ctx, now)
	if err != nil || x == nil || !claim.Exclude(now, x.Note) || !now.UserSaid() {
		return err
	}
	a.out.Effect, a.out.Of = Contradicts, x.Note.ID
	store.NameDecision(a.w, "replace")
	was := x.Note
	switch shares := claim.Shared(claim.Text(note.RuleOf(now)), claim.Text(note.RuleOf(was))) > 0; {
	case !was.UserSaid(), now.Quoted() && was.Quoted() && shares && !lastSaid(now).Before(lastSaid(was)):
		a.g.supersede(now, []*Neighbour{x})
	case now.Quoted() && was.Quoted() && shares:
		other := was.Clone()
		other.Supersedes = append(other.Supersedes, now.ID)
		return a.g.write(ctx, a.w, other, x.Ref, store.Update, &Outcome{})
	default:
		now.ConflictOf = was.ID
	}
	return nil
}

// nameSubject gives a note its subject, if it has none, and settles that (settleSubject). What that changed is in out.
func (g *Ingester) nameSubject(ctx context.Context, id note.ID, about string, out *Outcome) error {
	return locked(ctx, g.store, func(w *store.Writer) error {
		n, ref, err := store.Get(g.store, id)
		if err != nil || n.About != "" {
			return err
		}
		now := n.Clone()
		now.About = about
		a := admission{g: g, w: w, out: out}
		if err := a.settleSubject(ctx, now); err != nil {
			return err
		}
		out.Result, out.Note = Updated, now
		return g.write(ctx, w, now, ref, store.Update, out)
	})
}

// lastSaid is when the user said a note last.
func lastSaid(n *note.Note) time.Time {
	_, last := note.Said(n)
	at, _ := note.Later(n.CreatedAt, last).Time()
	return at
}

// maxSubjects is how many subjects a reader is offered.
const maxSubjects = 12

// Subjects returns the subjects that notes of the user settle in a project, those of the newest notes first, so that a reader uses
// the same words for them. Notes for which no person vouches offer none, because the request to an agent quotes the subjects.
func Subjects(ctx context.Context, g *Ingester, project string) (all []string, err error) {
	rows, err := g.index.Select(ctx, index.Filter{
		Projects: []string{project, note.Global}, Types: []note.Type{note.Procedural, note.Semantic}, Now: g.store.Now(),
		Sources: []string{note.User, note.Human}, WithoutKinds: []note.Kind{note.Slot, note.Handoff},
	}, 0)
	if err != nil && !errors.Is(err, index.ErrAway) {
		return nil, fmt.Errorf("list the subjects of %s: %w", project, err)
	}
	slices.SortStableFunc(rows, func(a, b index.Row) int { return b.Updated.Compare(a.Updated) })
	for _, row := range rows {
		for _, tag := range row.Tags {
			about := note.SubjectOf(tag)
			if about == "" || row.SupersededBy != "" || slices.Contains(all, about) || redact.PromptInjection(about) {
				continue
			}
			if all = append(all, about); len(all) == maxSubjects {
				return all, nil
			}
		}
	}
	return all, nil
}
