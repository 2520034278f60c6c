package web

import (
	"net/url"
	"strconv"
	"strings"

	"anamnesis/internal/app"
	"anamnesis/internal/app/history"
	"anamnesis/internal/note"
)

// A browsePage is a list of notes: the newest, or those that answer a question.
type browsePage struct {
	Notes   []listed       `json:"notes"`
	Query   string         `json:"query"`
	Total   int            `json:"total"` // of the selection; of a question, what was found
	Facets  history.Facets `json:"facets"`
	Held    string         `json:"held,omitempty"` // why a question has no answer
	TookMS  float64        `json:"took_ms"`
	Missing []string       `json:"missing,omitempty"`

	Sessions []app.ExchangeHit `json:"sessions,omitempty"` // exchanges of sessions that answer

	Choice   choice  `json:"-"`
	Projects []count `json:"-"`
	Next     string  `json:"-"` // the address of the following notes
	Prev     string  `json:"-"`
}

// A listed note is a line of a list.
type listed struct {
	app.NoteView
	Excerpt string  `json:"excerpt,omitempty"`
	Score   float64 `json:"score,omitempty"`
}

// A choice is what a list was asked for, and makes the addresses of other choices.
type choice struct {
	Query, Project, Type, Tag, Scope, State string
	From                                    int
}

// With returns the address with one part changed; the list starts over.
func (c choice) With(key, value string) string {
	c.From = 0
	switch key {
	case "project":
		c.Project = value
	case "type":
		c.Type = value
	case "tag":
		c.Tag = value
	case "scope":
		c.Scope = value
	case "state":
		c.State = value
	case "from":
		c.From, _ = strconv.Atoi(value)
	}
	v := url.Values{}
	for _, each := range []struct{ key, value string }{
		{"q", c.Query}, {"project", c.Project}, {"type", c.Type}, {"tag", c.Tag}, {"scope", c.Scope}, {"state", c.State},
	} {
		if each.value != "" {
			v.Set(each.key, each.value)
		}
	}
	if c.From > 0 {
		v.Set("from", strconv.Itoa(c.From))
	}
	if len(v) == 0 {
		return "/browse"
	}
	return "/browse?" + v.Encode()
}

// Hidden returns the parts of a choice that a new question keeps.
func (c choice) Hidden() map[string]string {
	kept := map[string]string{}
	for key, value := range map[string]string{"project": c.Project, "type": c.Type, "tag": c.Tag, "scope": c.Scope, "state": c.State} {
		if value != "" {
			kept[key] = value
		}
	}
	return kept
}

const (
	listedNotes = 50  // on one page
	foundNotes  = 50  // of a question
	mostNotes   = 300 // of a twin
	mostFrom    = 5000
)

func (c choice) selection() app.Selection {
	s := app.Selection{Project: c.Project, Scope: c.Scope, All: c.State == "all" || c.State == "gone"}
	if c.Type != "" {
		s.Types = []string{c.Type}
	}
	if c.Tag != "" {
		s.Tags = []string{c.Tag}
	}
	return s
}

func browse(r *request) (any, error) {
	c := choice{
		Query: strings.TrimSpace(r.get("q")), Project: r.get("project"), Type: r.get("type"), Tag: r.get("tag"), Scope: r.get("scope"),
		State: r.get("state"), From: r.number("from", 0, mostFrom),
	}
	if c.Type != "" && !isType(c.Type) {
		c.Type = "" // as the program before this one did
	}
	side, err := r.s.side.get(r.ctx, r.rooms)
	if err != nil {
		return nil, err
	}
	p := browsePage{Query: c.Query, Choice: c, Facets: side.Facets, Projects: side.Projects}
	if c.Project != "" {
		if p.Facets, err = history.CountNotes(r.ctx, r.rooms, c.Project); err != nil {
			return nil, err
		}
	}
	limit := r.number("limit", listedNotes, mostNotes)
	if c.Query != "" {
		return p.ask(r, min(limit, foundNotes))
	}
	list, err := app.List(r.ctx, r.rooms, c.selection(), c.From+limit+1)
	if err != nil {
		return nil, err
	}
	rows := list.Notes[min(c.From, len(list.Notes)):]
	if len(rows) > limit {
		rows = rows[:limit]
		p.Next = c.With("from", strconv.Itoa(c.From+limit))
	}
	if c.From > 0 {
		p.Prev = c.With("from", strconv.Itoa(max(0, c.From-limit)))
	}
	for _, row := range rows {
		p.Notes = append(p.Notes, listed{NoteView: row})
	}
	p.Total = p.Facets.Live
	if c.Type != "" {
		p.Total = p.Facets.ByType[c.Type]
	}
	if c.State != "" {
		p.Total = p.Facets.Total
	}
	return p, nil
}

func isType(t string) bool {
	for _, known := range note.Types {
		if t == string(known) {
			return true
		}
	}
	return false
}

// ask fills a page with the answer to a question.
func (p browsePage) ask(r *request, limit int) (any, error) {
	c := p.Choice
	o := app.SearchOptions{
		Question: app.Question{
			Selection: c.selection(), Global: c.Project == "", AllBranches: true, Lambda: app.Unset, Mode: app.Modes[0].Name,
		},
		Text: c.Query, K: max(1, limit), Sessions: 3, Look: true,
	}
	a, err := app.Search(r.ctx, r.rooms, o)
	if !app.Answers(err) {
		return nil, err
	}
	for i, h := range a.Hits {
		row := app.ViewRow(r.rooms, a.Result.Hits[i].Row)
		p.Notes = append(p.Notes, listed{row, excerpt(h.Body, a.Result.Hits[i].Start, a.Result.Hits[i].End), h.Score})
	}
	p.Total, p.TookMS, p.Missing, p.Sessions = len(p.Notes), a.TookMS, a.Missing, a.Sessions
	if a.Held && a.Gate != nil {
		p.Held = a.Gate.Reason
	}
	return p, nil
}

// excerpt returns the passage of a body that answered.
func excerpt(body string, start, end int) string {
	if start < 0 || end > len(body) || start >= end {
		start, end = 0, len(body)
	}
	return note.Line(strings.ToValidUTF8(body[start:end], ""), 220)
}
