package web

import (
	"cmp"
	"html/template"
	"net/url"
	"strings"

	"anamnesis/internal/app"
	"anamnesis/internal/app/curate"
	"anamnesis/internal/app/history"
	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
)

// A reviewPage lists what waits for a person.
type reviewPage struct {
	Items  []reviewItem `json:"items"`
	Kind   string       `json:"kind,omitempty"` // of which only these are shown
	Kinds  []count      `json:"kinds"`
	Hidden int          `json:"left"` // items that are not shown
	Skills int          `json:"skill_changes"`
}

// A reviewItem is one thing that waits, with what one has to see to decide.
type reviewItem struct {
	app.InboxItem
	Head     *app.NoteHead       `json:"note,omitempty"`
	Text     string              `json:"body,omitempty"`
	Quotes   []note.Evidence     `json:"evidence,omitempty"`
	Like     []app.NoteView      `json:"like,omitempty"`  // what it says nearly again
	Other    *curate.ReviewOther `json:"other,omitempty"` // what it contradicts
	Versions *app.ConflictAnswer `json:"conflict,omitempty"`
	Diff     []change            `json:"diff,omitempty"`
	Merged   string              `json:"edit_text,omitempty"`
	Next     note.ID             `json:"-"` // the item below, or above the last

	Body template.HTML `json:"-"`
}

// How many things that wait are shown at a time, and how much text of them, about.
const (
	shownItems = 30
	shownBytes = 1 << 20
)

func review(r *request) (any, error) {
	items, err := keep(r, "inbox", func() ([]app.InboxItem, error) { return app.Inbox(r.ctx, r.rooms) })
	if err != nil {
		return nil, err
	}
	p := reviewPage{Kind: r.get("kind")}
	by := app.Counts{}
	for _, it := range items {
		by[string(it.Kind)]++
	}
	p.Kinds = counts(by)
	waits, err := app.CountWaiting(r.ctx, r.rooms, app.WaitingSkill)
	if err != nil {
		return nil, err
	}
	p.Skills = waits[app.WaitingSkill]
	size := 0
	for _, it := range items {
		if p.Kind != "" && p.Kind != string(it.Kind) {
			continue
		}
		if len(p.Items) == shownItems || size > shownBytes {
			p.Hidden++
			continue
		}
		shown, err := show(r, it)
		if err != nil {
			return nil, err
		}
		p.Items = append(p.Items, shown)
		size += len(shown.Body) + len(shown.Text) + len(shown.Merged)
	}
	for i := range p.Items {
		switch {
		case i+1 < len(p.Items):
			p.Items[i].Next = p.Items[i+1].ID
		case i > 0:
			p.Items[i].Next = p.Items[i-1].ID
		}
	}
	return p, nil
}

// show collects what one has to see of a thing that waits.
func show(r *request, it app.InboxItem) (reviewItem, error) {
	v := reviewItem{InboxItem: it}
	if n := it.Note; n != nil {
		head := app.HeadOf(n)
		v.Head, v.Text, v.Quotes = &head, n.Body, n.Evidence
		if it.Kind == app.WaitingQuarantine { // it reads like orders: it is shown as it is written
			v.Body = ""
		} else {
			v.Body = markdownOf(n.Body)
		}
		if it.Kind == app.WaitingDraft {
			like, err := history.LikeDraft(r.ctx, r.rooms, n, 3)
			if err != nil {
				return v, err
			}
			v.Like, v.Other = like, curate.Against(r.rooms, n)
		}
	}
	if it.Conflict != nil {
		c, err := app.ShowConflict(r.rooms.Store, string(it.ID))
		if err != nil {
			return v, err
		}
		v.Versions, v.Diff, v.Merged = &c, changes(c.Diff), c.EditText()
	}
	return v, nil
}

// decide carries out what a person chose.
func decide(r *request) (done, error) {
	kind, choice, id := app.Waiting(r.PathValue("kind")), app.Decision(r.get("choice")), r.id()
	d := done{To: "/review"}
	if from := r.get("from"); from != "" {
		d.To += "?kind=" + url.QueryEscape(from)
	}
	if next, err := note.ParseID(r.get("next")); err == nil { // the place in the list stays
		d.To += "#item-" + string(next)
	}
	defer r.s.changed()
	switch kind {
	case app.WaitingConflict:
		return d.conflict(r, id, choice)
	case app.WaitingDraft:
		return d.draft(r, id, choice)
	case app.WaitingQuarantine, app.WaitingUnread, app.WaitingShare:
		return d.note(r, id, choice)
	case app.WaitingWithheld:
		return d.withheld(r, id, choice)
	}
	return d, app.Errorf(app.NotFound, "nothing of the kind %q waits", kind)
}

func noChoice(c app.Decision) error { return app.Errorf(app.Usage, "%q is no choice here", c) }

// releasePage is what would go where, if a person lets it.
func releasePage(r *request) (any, error) {
	return app.ReleaseWithheld(r.ctx, r.rooms, r.id(), app.ReleasePlan)
}

// releasePath is the address of the page that asks whether a file may travel.
func releasePath(name string) string { return "/review/withheld/" + url.PathEscape(name) }

// withheld lets a file travel: the first time it only shows what would go where.
func (d done) withheld(r *request, name string, choice app.Decision) (done, error) {
	step := app.ReleaseUndo
	switch {
	case choice == app.Allow && r.get("apply") == "":
		a, err := app.ReleaseWithheld(r.ctx, r.rooms, name, app.ReleasePlan)
		return done{To: releasePath(name), Data: a}, err
	case choice == app.Allow:
		step = app.ReleaseApply
	case choice != app.Hold:
		return d, noChoice(choice)
	}
	a, err := app.ReleaseWithheld(r.ctx, r.rooms, name, step)
	d.Data = a
	switch {
	case a.Applied:
		d.Text = "It goes to " + cmp.Or(a.Remote, "the remote that you set") + " with the next sync"
		d.Back = &undo{releasePath(name), map[string]string{"choice": string(app.Hold)}}
	case a.Undone:
		d.Text = "It stays here"
	default:
		d.Text = "Nothing was to be done"
	}
	return d, err
}

func (d done) conflict(r *request, id string, choice app.Decision) (done, error) {
	choices := map[app.Decision]ingest.Choice{
		app.Keep: ingest.KeepWinner, app.Take: ingest.TakeLoser, app.Both: ingest.KeepBoth, app.EditIt: ingest.TakeEdited,
	}
	c, ok := choices[choice]
	if !ok {
		return d, noChoice(choice)
	}
	var edited []byte
	if choice == app.EditIt {
		edited = []byte(strings.ReplaceAll(r.get("text"), "\r\n", "\n"))
		a, err := app.ShowConflict(r.rooms.Store, id)
		if err != nil {
			return d, err
		}
		if err := a.CheckEdited(r.rooms.Store, edited); err != nil {
			return d, app.Errorf(app.Usage, "the text cannot be taken: %w", err)
		}
	}
	a, err := app.ResolveConflict(r.ctx, r.rooms, id, c, edited)
	d.Data = a
	d.Text = map[app.Decision]string{
		app.Keep: "The version in its place stays", app.Take: "The other version took its place", app.Both: "Both stay, as two notes",
		app.EditIt: "Your text took its place",
	}[choice]
	if a.Resolved.NoteID != "" && choice == app.Take {
		d.Back = r.restored(a.Resolved.NoteID)
	}
	return d, err
}

func (d done) draft(r *request, id string, choice app.Decision) (done, error) {
	said := map[app.Decision]string{
		app.Keep: "The draft is a note now", app.Retire: "The draft is a note now, and takes the place of the other",
		app.Reject: "Archived: it is not recalled, and does not come back on its own",
	}[choice]
	if said == "" {
		return d, noChoice(choice)
	}
	a, err := curate.DecideReview(r.ctx, r.rooms, id, choice, app.Edit{})
	if err != nil {
		return d, err
	}
	d.Text, d.Data = said, a
	return d, nil
}

func (d done) note(r *request, id string, choice app.Decision) (done, error) {
	switch choice {
	case app.Keep:
		a, err := curate.KeepReviewed(r.ctx, r.rooms, []string{id})
		d.Text, d.Data = "It is right, and is recalled", a
		return d, err
	case app.Drop:
		a, err := app.Archive(r.ctx, r.rooms, app.ArchiveOptions{Names: []string{id}, Reason: r.get("reason")})
		if err != nil {
			return d, err
		}
		d.Text, d.Data = "Archived: it is not recalled", a
		return d, nil
	}
	return d, noChoice(choice)
}

// restored makes the form that gives a note the form it had before the last change.
func (r *request) restored(id note.ID) *undo {
	h, err := history.History(r.ctx, r.rooms, string(id), 0)
	if err != nil {
		return nil
	}
	for _, c := range h.Changes {
		if c.Kind == "former" {
			return &undo{notePath(id) + "/restore", map[string]string{"rev": c.Rev}}
		}
	}
	return nil
}

// keepNote says that a note is right, as the program before this one did.
func keepNote(r *request) (done, error) { return done{To: "/review"}.note(r, r.id(), app.Keep) }
