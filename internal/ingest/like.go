package ingest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"anamnesis/internal/claim"
	"anamnesis/internal/index"
	"anamnesis/internal/note"
)

// likely is how many notes that share words with a statement are compared with it.
const likely = 50

// What a Like is, besides the states that a note names itself ("archived").
const (
	LikeLive       = ""            // sessions are shown it
	LikeSuperseded = "superseded"  // kept, and hidden behind another note
	LikeQuarantine = "quarantine"  // kept, until its owner has read it
	LikeExpired    = "expired"     // kept, its time is over
	LikeDraft      = "draft"       // it waits in held/
	LikeResurfaced = "shown again" // hidden behind the note itself, so that forgetting brings it back
)

// A Like is a note or a draft that forgetting another one leaves.
type Like struct {
	Row     index.Row // the zero Row for a draft
	ID      note.ID
	Title   string
	Project string
	State   string // one of the constants, or the status of a note that is not live
}

// Alike returns what forgetting n leaves, because only what says exactly the same
// goes with it: the notes and drafts that say nearly what n says, live ones and
// others, and the notes that n supersedes and that would be shown again. They come
// in the order of their ids.
//
// Near ones share enough words by the rule of the door (claim.Repeats), are
// of any type and scope, and of the project of n, or n or they are global.
func (g *Ingester) Alike(ctx context.Context, n *note.Note) ([]Like, error) {
	fail := func(err error) ([]Like, error) { return nil, fmt.Errorf("look for notes like %s: %w", n.ID, err) }
	all, err := g.resurfaced(ctx, n)
	if err != nil {
		return fail(err)
	}
	// Those that are shown come first, so that the others do not crowd them out.
	rows, err := g.sharing(ctx, n, likely, index.Filter{Now: g.store.Now()}, index.Filter{Now: g.store.Now(), Dead: true})
	if err != nil {
		return fail(err)
	}
	near := g.nearTo(n)
	for _, r := range rows {
		if slices.ContainsFunc(all, func(l Like) bool { return l.ID == r.ID }) {
			continue
		}
		other, _, _, err := g.store.Read(r.Ref.Path)
		if err != nil || !near(other) {
			continue // or the index is behind; Sync will notice
		}
		all = append(all, Like{r, r.ID, r.Title, r.Project, g.stateOf(r, other)})
	}
	for _, draft := range g.store.Spool().Held() {
		if near(draft) {
			all = append(all, Like{ID: draft.ID, Title: draft.Title, Project: draft.Project, State: LikeDraft})
		}
	}
	slices.SortFunc(all, func(a, b Like) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return all, nil
}

// nearTo returns the function that says whether another note says nearly what n says.
func (g *Ingester) nearTo(n *note.Note) func(*note.Note) bool {
	was := n.Fingerprint()
	return func(other *note.Note) bool {
		if other.ID == n.ID || other.Project != n.Project && other.Project != note.Global && n.Project != note.Global {
			return false
		}
		said := other.Fingerprint()
		return !said.Same(&was) && claim.Repeats(&was, &said)
	}
}

func (g *Ingester) stateOf(r index.Row, n *note.Note) string {
	state, _ := n.State(note.Known{Now: g.store.Now(), By: r.SupersededBy})
	if n.Decided() && state != note.Standing {
		return n.Status
	}
	return map[note.State]string{note.Replaced: LikeSuperseded, note.Proposed: LikeQuarantine, note.Expired: LikeExpired}[state]
}

// resurfaced returns the live notes that nothing but n hides.
func (g *Ingester) resurfaced(ctx context.Context, n *note.Note) ([]Like, error) {
	var all []Like
	for _, id := range n.Supersedes {
		r, ok, err := g.index.Lookup(ctx, id)
		if err != nil {
			return nil, err
		}
		if !ok || r.ID == n.ID || r.SupersededBy != n.ID && (r.SupersededBy != "" || n.HeldTo() == "") {
			continue
		}
		old, _, _, err := g.store.Read(r.Ref.Path)
		if err != nil || !old.Live(g.store.Now()) || g.hidden(r.ID, n) {
			continue
		}
		all = append(all, Like{r, r.ID, r.Title, r.Project, LikeResurfaced})
	}
	return all, nil
}

// hidden reports whether a note that stays when n is forgotten supersedes a note.
func (g *Ingester) hidden(id note.ID, n *note.Note) bool {
	was := n.Fingerprint()
	stays := func(other *note.Note) bool {
		said := other.Fingerprint()
		return !said.Same(&was)
	}
	for ref := range g.store.Walk() {
		other, _, _, err := g.store.Read(ref.Path)
		if err == nil && other.ID != n.ID && other.ID != id && slices.Contains(other.Supersedes, id) &&
			other.HeldTo() == "" && stays(other) {
			return true
		}
	}
	return false
}
