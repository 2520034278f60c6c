package web

import (
	"fmt"
	"net/url"
	"strings"

	"anamnesis/internal/app"
	"anamnesis/internal/app/curate"
	"anamnesis/internal/app/history"
	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// changed is called when something was written here: what stands beside the pages is
// rebuilt, and the other tabs are shown.
func (s *Server) changed() {
	s.side.forget()
	s.feed.poke()
}

func notePath(id note.ID) string { return "/notes/" + url.PathEscape(string(id)) }

func archiveNote(r *request) (done, error) {
	back := r.get("back") != ""
	a, err := app.Archive(r.ctx, r.rooms, app.ArchiveOptions{Names: []string{r.id()}, Reason: r.get("reason"), Back: back})
	if err != nil {
		return done{}, err
	}
	r.s.changed()
	one := a.Notes[0]
	d := done{To: notePath(one.ID), Data: a}
	switch {
	case !one.Changed:
		d.Text = "Nothing changed"
	case back:
		d.Text = "Back in recall"
	default:
		d.Text = "Archived: it is not recalled any more"
	}
	return d, nil
}

func restoreNote(r *request) (done, error) {
	a, err := history.Restore(r.ctx, r.rooms, r.id(), r.get("rev"), true)
	if err != nil {
		return done{}, err
	}
	r.s.changed()
	d := done{Text: "The note has that form again", To: notePath(a.ID), Undo: a.Undo, Data: a}
	if !a.Changed {
		d.Text = "Nothing changed"
	}
	return d, nil
}

func supersedeNote(r *request) (done, error) {
	by := strings.TrimSpace(r.get("by"))
	if by == "" {
		return done{}, app.Errorf(app.Usage, "name the note that takes its place")
	}
	undoing := r.get("undo") != ""
	a, err := app.Supersede(r.ctx, r.rooms, r.id(), by, undoing)
	if err != nil {
		return done{}, err
	}
	r.s.changed()
	d := done{
		Text: fmt.Sprintf("%q takes the place of %q", note.Line(a.NewTitle, 60), note.Line(a.OldTitle, 60)), Undo: a.Undo, Data: a,
		To: notePath(a.Old),
	}
	if undoing {
		d.Text = "It stands for itself again"
	}
	return d, nil
}

// undoneBy offers to take the decision of a number back, if anything was decided.
func (d *done) undoneBy(number int) {
	if number > 0 {
		d.Undo, d.Back = fmt.Sprintf("anamnesis undo %d", number), &undo{fmt.Sprintf("/undo/%d", number), nil}
	}
}

// undoDecision takes a decision back, and goes to what it was about.
func undoDecision(r *request) (done, error) {
	dec, ok, err := history.FindDecision(r.ctx, r.rooms, r.PathValue("number"))
	if err == nil && !ok {
		err = app.Errorf(app.NotFound, "there is no decision %s", r.PathValue("number"))
	}
	if err != nil {
		return done{}, err
	}
	a, err := history.UndoDecision(r.ctx, r.rooms, dec)
	if !app.Answers(err) {
		return done{}, err
	}
	r.s.changed()
	d := done{Text: "It is taken back", To: "/review", Data: a}
	if len(a.Items) > 0 && a.Items[len(a.Items)-1].Kind == store.NoteChange && a.Items[len(a.Items)-1].Result != ingest.UndoRemoved {
		d.To = notePath(a.Items[len(a.Items)-1].ID)
	}
	if a.Left > 0 {
		d.Text = app.Plural(a.Left, "thing") + " changed since, and stays as it is"
	}
	return d, nil
}

// A forgetPage is what forgetting a note would erase.
type forgetPage struct {
	app.ForgetAnswer
	Title string `json:"title"`
}

func forgetPlan(r *request) (any, error) {
	a, err := keep(r, "forget "+r.id(), func() (app.ForgetAnswer, error) { // it reads every note
		return app.Forget(r.ctx, r.rooms, r.id(), app.ForgetPlan)
	})
	if err != nil {
		return nil, err
	}
	p := forgetPage{ForgetAnswer: a}
	if n, err := app.Show(r.ctx, r.rooms, r.id()); err == nil {
		p.Title = n.Title
	}
	return p, nil
}

// forgetNote forgets a note, or brings it back. As with the command, it is a dry run unless apply is said.
func forgetNote(r *request) (done, error) {
	if r.get("undo") == "1" {
		u, err := app.Unforget(r.ctx, r.rooms, r.id())
		r.s.changed()
		return done{Text: "It is not forgotten any more", To: notePath(u.ID), Data: u}, err
	}
	apply, how := r.get("apply") == "1", app.ForgetPlan
	if apply {
		how = app.ForgetSoon
	}
	a, err := app.Forget(r.ctx, r.rooms, r.id(), how)
	if err != nil {
		return done{}, err
	}
	if !apply {
		return done{Text: "Nothing was erased: this is what would be", To: notePath(a.ID) + "/forget", Data: a}, nil
	}
	r.s.changed()
	text := "Forgotten: " + app.Plural(len(a.Notes), "note") + " and " + app.Plural(a.History, "former state") +
		", erased at " + a.Until.Local().Format("15:04")
	return done{
		Text: text, To: "/browse", Data: a, Undo: "anamnesis forget --undo " + string(a.ID),
		Back: &undo{notePath(a.ID) + "/forget", map[string]string{"undo": "1"}},
	}, nil
}

// closeGap takes a question out of the list of those without an answer.
func closeGap(r *request) (done, error) {
	a, err := curate.CloseGap(r.ctx, r.rooms, r.get("words"))
	r.s.week.forget()
	return done{Text: "It is off the list until somebody asks again", To: "/", Data: a}, err
}
