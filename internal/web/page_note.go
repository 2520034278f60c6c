package web

import (
	"crypto/sha256"
	"encoding/hex"
	"html/template"
	"net/url"
	"slices"
	"strings"

	"anamnesis/internal/app"
	"anamnesis/internal/app/history"
	"anamnesis/internal/app/setup"
	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
)

// A notePage is a note and all that is known of it.
type notePage struct {
	Memory  app.ShowAnswer    `json:"memory"`
	Why     history.WhyAnswer `json:"why"`
	Fields  []field           `json:"fields"`
	Chain   []app.NoteView    `json:"chain"`
	Related []app.NoteView    `json:"related"`

	Body template.HTML `json:"-"`
	Dead string        `json:"-"` // why it is not recalled
}

// A field is a line of a note's head that not every note has.
type field struct {
	Name  string   `json:"name"`
	Text  string   `json:"text,omitempty"`
	Lines []string `json:"lines,omitempty"`
}

// shownTellings is how many injections a note's page lists.
const shownTellings = 20

func showNote(r *request) (any, error) {
	a, err := app.Show(r.ctx, r.rooms, r.id())
	if err != nil {
		return nil, err
	}
	p := notePage{Memory: a, Body: markdownOf(a.Body)}
	if a.Author != "" { // of the team: what is known of it is what it says
		return p, nil
	}
	if p.Why, err = history.Why(r.ctx, r.rooms, string(a.ID), shownTellings); err != nil {
		return nil, err
	}
	if p.Chain, err = history.Chain(r.ctx, r.rooms, string(a.ID)); err != nil {
		return nil, err
	}
	if p.Related, err = history.Like(r.ctx, r.rooms, string(a.ID), 6); err != nil {
		return nil, err
	}
	p.Fields = fieldsOf(p.Why.Note)
	if len(a.Proposed) > 0 {
		p.Fields = append(p.Fields, field{Name: "Triggers by its form", Lines: a.Proposed})
	}
	if !a.Live {
		p.Dead = p.Why.End
	}
	return p, nil
}

func fieldsOf(n *note.Note) (all []field) {
	for _, f := range []field{
		{Name: "Rule", Text: n.Rule},
		{Name: "Key insight", Text: n.KeyInsight},
		{Name: "How to apply", Text: n.HowToApply},
		{Name: "Problem", Text: n.Problem},
		{Name: "Symptoms", Lines: n.Symptoms},
		{Name: "Root cause", Text: n.RootCause},
		{Name: "Fix", Text: n.Fix},
		{Name: "Commits", Lines: n.Commits},
		{Name: "Named and not found", Lines: n.UnverifiedRefs},
		{Name: "Anchors", Lines: n.Anchors},
		{Name: "Triggers", Lines: n.When},
	} {
		if f.Text != "" || len(f.Lines) > 0 {
			all = append(all, f)
		}
	}
	return all
}

// A noteForm is a note as its owner is about to write it.
type noteForm struct {
	ID       note.ID `json:"id,omitempty"` // "" of a new one
	Title    string  `json:"title"`
	Type     string  `json:"type"`
	Project  string  `json:"project"`
	Scope    string  `json:"scope"`
	Tags     string  `json:"tags"`
	When     string  `json:"when"` // triggers, one a line
	Body     string  `json:"body"`
	Base     string  `json:"base,omitempty"` // names the form that is edited
	Problem  string  `json:"problem,omitempty"`
	Stands   *string `json:"stands,omitempty"` // the text that somebody else wrote at the same time
	Diff     string  `json:"diff,omitempty"`   // from that to this one
	Held     string  `json:"twin,omitempty"`   // the note that says nearly the same
	Force    bool    `json:"-"`
	About    string  `json:"about,omitempty"`
	Rival    string  `json:"rival,omitempty"` // the note of the user that says something else: the form asks what becomes of it
	Projects []count `json:"-"`

	Preview template.HTML `json:"-"`
	Line    string        `json:"-"` // on the page of the project
}

// base names the bytes of a file.
func base(file []byte) string {
	sum := sha256.Sum256(file)
	return hex.EncodeToString(sum[:12])
}

func newNote(r *request) (any, error) {
	f := noteForm{Type: string(note.Semantic), Project: r.get("project"), Scope: string(note.Portable), Title: r.get("title")}
	if f.Project == "" {
		f.Project = note.Global
	}
	return f.with(r)
}

// with adds what the form offers.
func (f noteForm) with(r *request) (noteForm, error) {
	side, err := r.s.side.get(r.ctx, r.rooms)
	if err == nil {
		f.Projects = side.Projects
	}
	if f.Title != "" {
		f.Line = setup.PageLine(f.ID, f.Title, f.Body)
	}
	return f, err
}

func editNote(r *request) (any, error) {
	e, err := app.ReadEditable(r.ctx, r.rooms, r.id())
	if err != nil {
		return nil, err
	}
	return formOf(e).with(r)
}

func formOf(e app.Editable) noteForm {
	n := e.Note
	return noteForm{
		ID: e.ID, Title: n.Title, Type: string(n.Type), Project: n.Project, Scope: string(n.Scope), Tags: strings.Join(n.Tags, ", "),
		When: strings.Join(n.When, "\n"), Body: n.Body, Base: base(e.File), About: n.About,
	}
}

// posted reads the form of a note.
func posted(r *request) noteForm {
	f := noteForm{
		Title: strings.TrimSpace(r.get("title")), Type: r.get("type"), Project: strings.TrimSpace(r.get("project")), Scope: r.get("scope"),
		Tags: strings.Join(tagsOf(r), ", "), When: strings.Join(whenOf(r), "\n"), Base: r.get("base"), Force: r.get("force") != "",
		Body:  strings.TrimRight(strings.ReplaceAll(r.get("body"), "\r\n", "\n"), "\n"),
		About: note.Subject(r.get("about")),
	}
	if f.Type == "" {
		f.Type = string(note.Semantic)
	}
	if f.Scope == "" {
		f.Scope = string(note.Portable)
	}
	if f.Project == "" {
		f.Project = note.Global
	}
	return f
}

func tagsOf(r *request) (tags []string) {
	for _, line := range r.all("tags") {
		for t := range strings.SplitSeq(line, ",") {
			if t = strings.TrimSpace(t); t != "" && !slices.Contains(tags, t) {
				tags = append(tags, t)
			}
		}
	}
	return tags
}

// whenOf reads triggers, one a line.
func whenOf(r *request) (when []string) {
	for _, field := range r.all("when") {
		for line := range strings.Lines(field) {
			if line = strings.TrimSpace(line); line != "" {
				when = append(when, line)
			}
		}
	}
	return when
}

var editPage = page{name: "edit", area: "browse"}

// again shows a form once more, and why.
func (f noteForm) again(r *request, code int, problem string) (done, error) {
	f.Problem = problem
	f, err := f.with(r)
	return done{Show: &editPage, Data: f, Code: code, Text: problem}, err
}

func createNote(r *request) (done, error) {
	f := posted(r)
	if r.get("action") == "preview" {
		f.Preview = markdownOf(f.Body)
		return f.again(r, 200, "")
	}
	if f.Title == "" {
		return f.again(r, 400, "title is required")
	}
	d := app.Draft{
		Type: f.Type, Title: f.Title, Body: f.Body, Tags: tagsOf(r), When: whenOf(r), Project: f.Project, Global: f.Project == note.Global,
		Scope: f.Scope, Force: f.Force, About: f.About, Rival: rivalOf(r),
	}
	if err := d.Check(); err != nil {
		return f.again(r, 400, app.Explain(err).Message)
	}
	w, err := app.Add(r.ctx, r.rooms, d)
	if !app.Answers(err) {
		return f.failed(r, err)
	}
	if w.Rival != "" {
		return f.asks(r, w)
	}
	if err != nil { // it was forgotten, or is a near-duplicate
		f.Held = string(w.Twin)
		f.Force = true
		return f.again(r, 409, app.Explain(err).Message)
	}
	r.s.changed()
	return done{Text: "Note " + w.Result, To: "/notes/" + url.PathEscape(string(w.ID)), Data: w, Code: 201}, nil
}

func saveNote(r *request) (done, error) {
	f := posted(r)
	e, err := app.ReadEditable(r.ctx, r.rooms, r.id())
	if err != nil {
		return done{}, err
	}
	f.ID = e.ID
	switch {
	case r.get("action") == "preview":
		f.Preview = markdownOf(f.Body)
		return f.again(r, 200, "")
	case f.Title == "":
		return f.again(r, 400, "title is required")
	case f.Base != base(e.File):
		return f.changed(r, e)
	}
	tags := tagsOf(r)
	change := app.Edit{Title: &f.Title, Body: &f.Body, Type: &f.Type, Scope: &f.Scope, Project: &f.Project, Tag: tags}
	if r.form.Has("about") {
		change.About = &f.About
	}
	if when := whenOf(r); r.form.Has("when") { // a program may not know of them
		change.When = &when
	}
	for _, t := range e.Note.Tags {
		if !slices.Contains(tags, t) {
			change.Untag = append(change.Untag, t)
		}
	}
	data, err := e.With(change)
	if err != nil {
		return f.again(r, 400, app.Explain(err).Message)
	}
	e.Rival = rivalOf(r)
	w, err := app.ApplyEdit(r.ctx, r.rooms, e, data)
	if w.Rival != "" {
		return f.asks(r, w)
	}
	if app.Changed(err) { // between our reading and our writing
		if e, err = app.ReadEditable(r.ctx, r.rooms, r.id()); err == nil {
			return f.changed(r, e)
		}
	}
	if err != nil {
		return f.failed(r, err)
	}
	r.s.changed()
	return done{Text: "Note " + w.Result, Undo: w.Undo, To: "/notes/" + url.PathEscape(string(w.ID)), Data: w}, nil
}

// rivalOf reads what becomes of a note that says something else.
func rivalOf(r *request) ingest.Rival {
	switch r.get("action") {
	case "replace":
		return ingest.ReplaceRival
	case "both":
		return ingest.KeepRival
	}
	return ingest.AskFirst
}

// asks shows a form once more, with the note of the user that says something else and what may become of it.
func (f noteForm) asks(r *request, w app.Written) (done, error) {
	f.Rival = string(w.Rival)
	return f.again(r, 409, "Nothing is written yet: "+w.Why)
}

// failed shows a form that could not be saved once more: what was written in it is not
// lost. A program gets the error.
func (f noteForm) failed(r *request, err error) (done, error) {
	if r.json {
		return done{}, err
	}
	e := app.Explain(err)
	return f.again(r, statusOf(e.Code), e.Message)
}

// at the same time shows a form beside what somebody else wrote while it was filled in. Saving
// it again writes it over that.
func (f noteForm) changed(r *request, e app.Editable) (done, error) {
	stands := formOf(e)
	text := stands.text()
	f.Stands, f.Diff = &text, note.Unified("stands", "yours", text, f.text())
	f.Base = stands.Base
	return f.again(r, 409,
		"the note changed while you edited it: both texts are below, and nothing is lost; saving writes yours over the other")
}

// text is a form as one text, to be compared.
func (f *noteForm) text() string {
	head := "title: " + f.Title + "\ntype: " + f.Type + "\nproject: " + f.Project + "\nscope: " + f.Scope + "\ntags: " + f.Tags +
		"\nwhen: " + strings.ReplaceAll(f.When, "\n", ", ")
	return head + "\n\n" + f.Body + "\n"
}
