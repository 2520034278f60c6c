package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"anamnesis/internal/claim"
	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/redact"
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
		if x.excludes() {
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
		if found == nil || cmp.Compare(weight(x), weight(found)) > 0 {
			found = x
		}
	}
	return found, nil
}

// excludes reports whether a note on one subject with another one settles it otherwise: it neither repeats that one nor is a wider or
// a narrower form of it.
func (x *Neighbour) excludes() bool {
	return x.Relation == claim.Unrelated || x.Relation == claim.Opposite
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

// rivalOf returns the note in force that n contradicts, or whose subject it settles otherwise; nil when there is none.
func (g *Ingester) rivalOf(ctx context.Context, n *note.Note) (*Neighbour, error) {
	if !n.Type.Durable() || n.Kind != "" {
		return nil, nil //nolint:nilnil // no note is one of the answers
	}
	near, err := g.neighbours(ctx, n, false)
	if err != nil {
		return nil, err
	}
	for i := range near {
		if x := &near[i]; x.Relation == claim.Opposite && !slices.Contains(n.Supersedes, x.Note.ID) && x.Note.Kind != note.Handoff {
			return x, nil
		}
	}
	x, err := g.onSubject(ctx, n)
	if err != nil || x == nil || !x.excludes() {
		return nil, err
	}
	return x, nil
}

// settles decides on the note that an edited one contradicts: one of a machine is replaced, and of one of the user's the person decides.
// asked is the question to the person, nil where there is none.
func (g *Ingester) settles(ctx context.Context, before, now *note.Note, rival Rival) (asked *Outcome, err error) {
	if before != nil && before.Statement() == now.Statement() && note.Subject(before.About) == note.Subject(now.About) &&
		slices.Equal(note.PathsOf(before), note.PathsOf(now)) {
		return nil, nil //nolint:nilnil // it says what it said
	}
	x, err := g.rivalOf(ctx, now)
	switch {
	case err != nil || x == nil, rival == KeepRival:
	case rival == AskFirst && x.Note.UserSaid():
		return &Outcome{Result: Asked, Note: now, Effect: Contradicts, Of: x.Note.ID, Why: x.opposed(now, Person)}, nil
	case !Replaces(g.store, x.Note.ID, now.ID):
		now.Supersedes = append(now.Supersedes, x.Note.ID)
	}
	return nil, err
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
