package mcp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"anamnesis/internal/app"
	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/recall"

	"github.com/google/jsonschema-go/jsonschema"
)

// Bounds of a search.
const (
	maxHits  = 50
	maxQuery = 4_000 // characters
)

var toolSearch = tool{
	name:   "memory_search",
	doc:    `Find notes and exchanges of sessions by a question in plain words. Ask for decisions, fixes, earlier work.`,
	hints:  readOnly,
	input:  schemaOf[searchIn],
	output: schemaOf[searchOut],
	amend: func(p map[string]*jsonschema.Schema) {
		closeFilter(p)
		p["k"].Default = by("8")
	},
	call: takes((*Server).search),
}

// A filterIn says which notes are meant.
type filterIn struct {
	Project     string `json:"project,omitempty" jsonschema:"key; * for all (default: this project and global notes)"`
	Type        string `json:"type,omitempty"`
	Scope       string `json:"scope,omitempty"`
	UserID      string `json:"user_id,omitempty"`
	WorkspaceID string `json:"workspace_id,omitempty"`
}

// closeFilter names the closed sets of a filter.
func closeFilter(p map[string]*jsonschema.Schema) {
	p["type"].Enum, p["scope"].Enum = ofTypes(), ofScopes()
}

type searchIn struct {
	Query string `json:"query"`
	filterIn
	K int `json:"k,omitempty" jsonschema:"how many, up to 50"`
}

// A hitOut is a note that answers a question.
type hitOut struct {
	noteOut
	Score float64 `json:"score" jsonschema:"comparable within one answer only"`
	Why   string  `json:"why" jsonschema:"how it was found"`
	Body  string  `json:"body" jsonschema:"up to 4,000 characters"`
}

// An exchangeHit is an exchange of a past session that answers a question.
type exchangeHit struct {
	ID      string   `json:"id"`
	At      string   `json:"at"`
	Agent   string   `json:"agent"`
	Project string   `json:"project"`
	Title   string   `json:"title" jsonschema:"of its session"`
	Ask     string   `json:"ask" jsonschema:"what the user asked"`
	Lines   []string `json:"lines" jsonschema:"that match"`
	Reply   string   `json:"reply" jsonschema:"how the agent's answer begins"`
}

// maxExchanges is how many exchanges stand under the notes of an answer.
const maxExchanges = 3

type searchOut struct {
	Begin  string   `json:"begin,omitempty" jsonschema:"mark before text of notes"`
	Result []hitOut `json:"result"`

	Sessions []exchangeHit `json:"sessions,omitempty" jsonschema:"exchanges of past sessions; memory_get reads one whole"`
	answerOut
	Until string `json:"until,omitempty" jsonschema:"mark behind text of notes"`
}

// An answerOut is what else an answer tells.
type answerOut struct {
	LeftOff int    `json:"left_off,omitempty" jsonschema:"notes that did not fit into the answer"`
	Notice  string `json:"notice,omitempty"`
	Stale   int    `json:"stale,omitempty" jsonschema:"changed files that the answer does not know yet; -1: some"`
}

func (o searchOut) frame(start, end string) any {
	o.Begin, o.Until = start, end
	return o
}

func (s *Server) search(ctx context.Context, c caller, in searchIn) (searchOut, error) {
	res, out, err := s.ask(ctx, c, in)
	if err != nil {
		return searchOut{}, err
	}
	left := budget(maxAnswer)
	sessions, err := s.sessions(ctx, c, in, &left)
	if err != nil {
		out.Notice = name(out.Notice + "; left out: sessions: " + err.Error())
	}
	all := make([]hitOut, 0, len(res.Hits))
	for i, h := range res.Hits {
		o := hitOut{noteOut: ofNote(h.Note), Score: round(h.Score()), Why: why(h)}
		if !left.room(o) {
			break
		}
		o.Body = left.body(h.Note.Body, len(res.Hits)-i)
		all = append(all, o)
	}
	out.LeftOff = len(res.Hits) - len(all)
	return searchOut{Result: all, Sessions: sessions, answerOut: out}, nil
}

// sessions finds the exchanges that answer a question. One that asks for what only notes have finds none.
func (s *Server) sessions(ctx context.Context, c caller, in searchIn, left *budget) (all []exchangeHit, err error) {
	if in.Type != "" || in.Scope != "" || in.UserID != "" || in.WorkspaceID != "" {
		return nil, nil
	}
	scope, err := s.scope(ctx, c, in.Project)
	if err != nil {
		return nil, err
	}
	found, err := app.SearchSessions(ctx, s.rooms, in.Query, scope, min(in.K, maxExchanges))
	for i := range found {
		f := &found[i]
		h := exchangeHit{f.ID, f.At, name(f.Agent), name(f.Project), name(f.Title), name(f.Ask), f.Lines, f.Reply}
		if !left.room(h) {
			break
		}
		all = append(all, h)
	}
	return all, err
}

// ask puts a question to memory and writes down that it was put.
func (s *Server) ask(ctx context.Context, c caller, in searchIn) (*recall.Result, answerOut, error) {
	var out answerOut
	switch {
	case strings.TrimSpace(in.Query) == "":
		return nil, out, errors.New("the query is empty; ask something")
	case utf8.RuneCountInString(in.Query) > maxQuery:
		return nil, out, fmt.Errorf("the query is longer than %d characters; ask for less at once", maxQuery)
	case in.K < 1:
		return nil, out, fmt.Errorf("k is %d; ask for 1 to %d notes", in.K, maxHits)
	}
	var err error
	if out.Stale, err = s.refresh(ctx); err != nil {
		return nil, out, err
	}
	scope, err := s.scope(ctx, c, in.Project)
	if err != nil {
		return nil, out, err
	}
	q := recall.Query{
		Text: in.Query, K: min(in.K, maxHits), Scope: note.Scope(in.Scope), UserID: in.UserID, WorkspaceID: in.WorkspaceID,
	}
	if in.Type != "" {
		q.Types = []note.Type{note.Type(in.Type)}
	}
	scope.Apply(&q)
	res, held, err := app.Ask(ctx, s.rooms, q, scope, "mcp")
	if err != nil {
		return nil, out, err
	}
	out.Notice = notice(res, scope, held)
	return res, out, nil
}

// notice says what one should know of an answer besides its notes.
func notice(res *recall.Result, scope recall.Scope, held int) string {
	var parts []string
	if scope.Fallback != "" {
		parts = append(parts, scope.Fallback+`; project "*" searches all projects`)
	}
	if held > 0 {
		parts = append(parts, recall.HeldBackLine(held)+"; anamnesis search --all-branches shows them")
	}
	if g := res.Gate; g != nil && !g.Open {
		parts = append(parts, "nothing relevant: "+g.Reason)
	}
	for _, what := range append(res.Failed, res.Missing...) {
		parts = append(parts, "left out: "+what)
	}
	if res.WithoutVector > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d passages have no vector yet and are found by their words only", res.WithoutVector,
			res.Passages))
	}
	return clip(note.Harmless(strings.Join(parts, "; ")), 1000, "…")
}

// why tells in one line how a note was found.
func why(h *recall.Hit) string {
	var parts []string
	for _, arm := range recall.Sources() {
		if f, ok := h.Found[arm]; ok {
			parts = append(parts, fmt.Sprintf("%s #%d", arm, f.Rank))
		}
	}
	return fmt.Sprintf("%s; holds %.0f %% of the question", strings.Join(parts, ", "), 100*h.Coverage)
}

func round(x float64) float64 { return math.Round(x*1000) / 1000 }

// filter makes of a call's filter one of the index.
func (s *Server) filter(ctx context.Context, c caller, in filterIn) (index.Filter, error) {
	scope, err := s.scope(ctx, c, in.Project)
	var q recall.Query
	scope.Apply(&q)
	f := index.Filter{
		Projects: q.Projects, Branches: q.Branches, Scope: note.Scope(in.Scope),
		UserID: in.UserID, WorkspaceID: in.WorkspaceID, Now: s.rooms.Store.Now(),
	}
	if in.Type != "" {
		f.Types = []note.Type{note.Type(in.Type)}
	}
	return f, err
}
