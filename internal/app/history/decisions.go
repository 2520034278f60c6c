package history

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"anamnesis/internal/app"
	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// DecisionsAnswer lists decisions of this machine, newest first.
type DecisionsAnswer struct {
	Decisions []DecisionView `json:"decisions"`
}

// A DecisionView is a decision of the journal.
type DecisionView struct {
	Number   int           `json:"number"`
	At       string        `json:"at"`
	What     string        `json:"what"` // keep, reject, edit, archive, undo …
	By       string        `json:"by"`   // the interface: cli, dashboard, mcp
	Undoes   int           `json:"undoes,omitempty"`
	UndoneBy int           `json:"undone_by,omitempty"`
	Of       []DecidedItem `json:"of"`
}

// A DecidedItem is what a decision is about.
type DecidedItem struct {
	Kind  string  `json:"kind"` // note, draft, alias or trust
	ID    note.ID `json:"id,omitempty"`
	Title string  `json:"title"` // as it is now; of an alias both names, of a teammate the name and how it is proven
}

// UndoneDecision says what taking a decision back did.
type UndoneDecision struct {
	DecisionView
	Items []UndoneItem `json:"items"`
	Left  int          `json:"left"`            // that stay, because they were changed since
	Taken int          `json:"taken_by"`        // the number of this undo, 0 when nothing was taken back
	Undo  string       `json:"undo,omitempty"`  // takes the undo back
	Next  string       `json:"later,omitempty"` // a later decision about what stays
}

// An UndoneItem is one thing that the decision changed, and the result of taking that back.
type UndoneItem struct {
	DecidedItem
	Result string `json:"result"` // restored, removed, archived, edited, gone, lost, unknown or nothing
	Path   string `json:"path,omitempty"`
}

// Decisions lists the newest decisions; at most limit, 0 for all.
func Decisions(_ context.Context, r *app.Rooms, limit int) (a DecisionsAnswer, err error) {
	a.Decisions = []DecisionView{}
	all, err := store.Decisions(r.Store)
	for _, d := range slices.Backward(all) {
		if limit > 0 && len(a.Decisions) == limit {
			break
		}
		a.Decisions = append(a.Decisions, ViewDecision(r, d))
	}
	return a, err
}

// ViewDecision shows a decision of the journal.
func ViewDecision(r *app.Rooms, d store.DecisionLog) DecisionView {
	v := DecisionView{Number: d.N, At: d.At, What: d.What, By: d.By, Undoes: d.Undoes, UndoneBy: d.UndoneBy, Of: []DecidedItem{}}
	for _, c := range d.Changes {
		item := DecidedItem{Kind: c.Kind, ID: c.ID}
		switch c.Kind {
		case store.AuthorChange:
			continue
		case store.AliasChange:
			item.Title = c.Name + " → " + c.To
		case store.TrustChange:
			item.Title = c.Name + " (" + c.To + ")"
		default:
			item.Title = titleOf(r, c)
		}
		same := func(o DecidedItem) bool { return o.ID == item.ID && (o.ID != "" || o.Title == item.Title) }
		if !slices.ContainsFunc(v.Of, same) {
			v.Of = append(v.Of, item)
		}
	}
	return v
}

// titleOf is the title of a note or a draft, or of the newest form of one that is gone.
func titleOf(r *app.Rooms, c store.Change) string {
	if n, err := r.Store.Spool().HeldDraft(c.ID); err == nil {
		return n.Title
	}
	if n, err := r.Store.LatestRevision(c.ID); err == nil && n != nil {
		return n.Title
	}
	if n, err := note.Parse([]byte(c.Text)); err == nil {
		return n.Title
	}
	return ""
}

// FindDecision finds a decision by its number, or the last one in force about a note or a draft;
// "" is the last one of the user that is in force and takes nothing back. ok is false when nothing of that name
// was decided.
func FindDecision(ctx context.Context, r *app.Rooms, name string) (d store.DecisionLog, ok bool, err error) {
	all, err := store.Decisions(r.Store)
	if err != nil {
		return d, false, err
	}
	pick := func(want func(*store.DecisionLog) bool) bool {
		for i := len(all) - 1; i >= 0 && !ok; i-- {
			if want(&all[i]) {
				d, ok = all[i], true
			}
		}
		return ok
	}
	name = strings.TrimSpace(name)
	open := func(l *store.DecisionLog) bool { return l.UndoneBy == 0 && l.Undoes == 0 }
	if name == "" {
		if !pick(func(l *store.DecisionLog) bool { return open(l) && !ingest.Unasked(l.By) }) {
			err = app.Errorf(app.NotFound, "there is no decision to take back; `anamnesis undo --list` lists what was decided")
		}
		return d, ok, err
	}
	n, nerr := strconv.Atoi(name)
	if nerr == nil && strconv.Itoa(n) != name { // the beginning of an id
		nerr = strconv.ErrSyntax
	}
	if nerr == nil && pick(func(l *store.DecisionLog) bool { return l.N == n }) {
		return d, true, nil
	}
	if nerr == nil && len(name) < app.MinPrefix {
		return d, false, app.Errorf(app.NotFound, "there is no decision %s; `anamnesis undo --list` lists what was decided", name)
	}
	id, err := decidedID(ctx, r, name, all)
	if err != nil || id == "" {
		return d, false, err
	}
	about := func(l *store.DecisionLog) bool { return l.About(id) }
	if !pick(func(l *store.DecisionLog) bool { return open(l) && about(l) }) && pick(about) {
		return d, false, app.Errorf(app.Conflict, "every decision about %s is taken back; `anamnesis undo --list` has their numbers", id)
	}
	return d, ok, nil
}

// decidedID returns the id that a name means among those of the journal, "" for none.
func decidedID(ctx context.Context, r *app.Rooms, name string, all []store.DecisionLog) (note.ID, error) {
	part := strings.ToUpper(name)
	var found []note.ID
	for _, d := range all {
		for _, c := range d.Changes {
			id := strings.ToUpper(string(c.ID))
			switch {
			case id == "":
			case id == part:
				return c.ID, nil
			case len(part) >= app.MinPrefix && (strings.HasPrefix(id, part) || strings.HasSuffix(id, part)):
				found = append(found, c.ID)
			}
		}
	}
	slices.Sort(found)
	switch found = slices.Compact(found); len(found) {
	case 0:
		return "", nil
	case 1:
		return found[0], nil
	}
	row, err := app.Resolve(ctx, r, name)
	return row.ID, err
}

// UndoDecision takes a decision back at once. What was changed since stays, and the error is of
// kind Conflict and comes with the answer.
func UndoDecision(ctx context.Context, r *app.Rooms, d store.DecisionLog) (a UndoneDecision, err error) {
	a.Items, a.DecisionView = []UndoneItem{}, ViewDecision(r, d)
	if d.UndoneBy > 0 {
		return a, app.Errorf(app.Conflict, "decision %d is taken back already; `anamnesis undo %d` decides so again", d.N, d.UndoneBy)
	}
	trust := func(c store.Change) bool { return c.Kind == store.TrustChange }
	if err := ingest.May(r.Host.By, ingest.Trust); err != nil && slices.ContainsFunc(d.Changes, trust) {
		return a, app.Errorf(app.Failed, "undo: decision %d is about whom you trust: %w", d.N, err)
	}
	ctx, decision := store.Undoing(ctx, r.Store, r.Host.Face, d.N)
	all, err := ingest.UndoDecision(ctx, r.Ingester, d)
	err = app.StaleIndex(r, err)
	for _, t := range all {
		item := UndoneItem{DecidedItem{t.Kind, t.ID, t.Title}, t.Result, ""}
		if t.Path != "" {
			item.Path = r.Store.Path(t.Path)
		}
		if t.Left() {
			a.Left++
		}
		a.Items = append(a.Items, item)
	}
	if a.Taken = decision.Number(); a.Taken > 0 {
		a.Undo = fmt.Sprintf("anamnesis undo %d", a.Taken)
	}
	if err != nil || a.Left == 0 {
		return a, err
	}
	a.Next = laterAbout(r, d, all)
	return a, &app.Error{Kind: app.Conflict}
}

// laterAbout names the newest decision in force about something that stays.
func laterAbout(r *app.Rooms, d store.DecisionLog, all []ingest.TakenBack) string {
	later, err := store.Decisions(r.Store)
	if err != nil {
		return ""
	}
	for _, l := range slices.Backward(later) {
		about := slices.ContainsFunc(all, func(t ingest.TakenBack) bool { return t.Left() && t.ID != "" && l.About(t.ID) })
		if l.N > d.N && l.UndoneBy == 0 && l.Undoes == 0 && about {
			return fmt.Sprintf("anamnesis undo %d", l.N)
		}
	}
	return ""
}
