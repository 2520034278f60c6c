package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"anamnesis/internal/app"
	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/recall"

	"github.com/google/jsonschema-go/jsonschema"
)

// Bounds of a search.
const (
	maxHits      = 50
	maxQuery     = 4_000 // characters
	maxExchanges = 3     // exchanges of sessions under the notes of an answer

	answerTokens    = 1_000 // of an answer
	minAnswerTokens = 200
	maxAnswerTokens = maxAnswer / recall.CharsPerToken
	frameSize       = 260 // bytes of an answer without notes and notice: marks, keys, the hint how to get more
	leastBody       = 160 // characters of a body that are worth showing
)

var toolSearch = tool{
	name:  "memory_search",
	doc:   `Find notes and exchanges by a question in plain words: decisions, fixes, earlier work. memory_get reads one whole.`,
	hints: readOnly,
	does:  reads,
	input: schemaOf[searchIn],
	amend: func(p map[string]*jsonschema.Schema) {
		closeFilter(p)
		p["k"].Default = by("8")
	},
	call: takes((*Server).search),
}

// A filterIn says which notes are meant.
type filterIn struct {
	Project     string `json:"project,omitempty" jsonschema:"* for all (default: here and global)"`
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
	K         int `json:"k,omitempty" jsonschema:"up to 50"`
	MaxTokens int `json:"max_tokens,omitempty" jsonschema:"1000 if left out"`

	Fields []string `json:"fields,omitempty" jsonschema:"in place of bodies: fix"`
}

// A hitOut is a note that answers a question.
type hitOut struct {
	lineOut
	Score float64 `json:"score"` // comparable within one answer only
	Why   string  `json:"why"`   // how it was found
	Body  string  `json:"body"`
}

// An exchangeHit is an exchange of a past session that answers a question.
type exchangeHit struct {
	ID    string   `json:"id"`
	At    string   `json:"at"`
	Agent string   `json:"agent"`
	Title string   `json:"title"` // of its session
	Ask   string   `json:"ask"`   // what the user asked
	Lines []string `json:"lines"` // that match
	Reply string   `json:"reply"` // how the agent's answer begins
}

type searchOut struct {
	Result   []hitOut      `json:"result"`
	Sessions []exchangeHit `json:"sessions,omitempty"` // exchanges of past sessions
	answerOut
	More string `json:"more,omitempty"` // how to get what is not here
}

// An answerOut is what else an answer tells.
type answerOut struct {
	LeftOff int    `json:"left_off,omitempty"` // notes and exchanges that did not fit into the answer
	Notice  string `json:"notice,omitempty"`
	Stale   int    `json:"stale,omitempty"` // changed files that the answer does not know yet; -1: some
}

func (searchOut) framed() {}

func (s *Server) search(ctx context.Context, c caller, in searchIn) (searchOut, error) {
	most, err := s.answerSize(in.MaxTokens)
	if err != nil {
		return searchOut{}, err
	}
	if err := checkFields(in.Fields); err != nil {
		return searchOut{}, err
	}
	res, said, err := s.ask(ctx, c, in)
	if err != nil {
		return searchOut{}, err
	}
	found, err := s.sessions(ctx, c, in)
	if err != nil {
		said.Notice += "; left out: sessions: " + err.Error()
	}
	said.Notice = name(said.Notice)
	out := searchOut{Result: []hitOut{}, answerOut: said}
	left := budget(most - frameSize - len(said.Notice))
	sessions := left
	if len(res.Hits) > 0 {
		sessions = left / 3
	}
	left -= sessions
	out.Sessions = exchanges(found, &sessions)
	left += sessions
	cut := false
	out.Result, cut = hits(res.Hits, in.Fields, &left)
	out.LeftOff = len(res.Hits) - len(out.Result) + len(found) - len(out.Sessions)
	if out.LeftOff > 0 || cut {
		out.More = fmt.Sprintf("memory_get reads one whole by its id; max_tokens up to %d shows more", maxAnswerTokens)
	}
	return out, nil
}

// answerSize returns how many bytes an answer may have: a quarter of a token each.
func (s *Server) answerSize(tokens int) (int, error) {
	if tokens < 0 || tokens > maxAnswerTokens {
		return 0, fmt.Errorf("max_tokens is %d; give at most %d, or nothing for %d", tokens, maxAnswerTokens, answerTokens)
	}
	tokens = cmp.Or(tokens, s.rooms.Config.Recall.MaxTokens, answerTokens)
	return max(minAnswerTokens, min(tokens, maxAnswerTokens)) * recall.CharsPerToken, nil
}

// hits returns as many notes as fit, each with a part of its body or with the fields that were asked for, and says whether a body was cut.
func hits(found []*recall.Hit, fields []string, left *budget) (all []hitOut, cut bool) {
	all = []hitOut{}
	rest := *left
	for _, h := range found {
		n := ofNote(h.Note)
		o := hitOut{lineOut: n.line(), Score: round(h.Score()), Why: why(h)}
		body := budget(min(leastBody, len(bodyOf(h.Note, fields))))
		if !rest.room(o) || rest < body {
			if len(all) > 0 {
				break
			}
			o.Tags, o.Title, o.Why = nil, clip(o.Title, leastBody, "…"), "" // one is always shown
		}
		rest -= body
		all = append(all, o)
	}
	for i := range all {
		if !left.room(all[i]) {
			*left = 0
		}
	}
	for i := range all {
		sharers := len(all) - i
		if i == 0 {
			sharers = (sharers + 1) / 2 // the best one is worth two
		}
		all[i].Body = left.cut(bodyOf(found[i].Note, fields), sharers, cutShort)
		cut = cut || strings.HasSuffix(all[i].Body, cutShort)
	}
	return all, cut
}

// bodyOf is what an answer shows of a note below its title: all that it says, or the fields that were asked for (S1), a line each.
func bodyOf(n *note.Note, fields []string) string {
	if len(fields) == 0 {
		return note.Whole(n)
	}
	got := recall.FieldsOf(n, fields)
	var lines []string
	for _, name := range fields {
		if text, ok := got[name]; ok {
			lines = append(lines, name+": "+text)
		}
	}
	return note.ByAgent(n, strings.Join(lines, "\n"))
}

// checkFields normalises and bounds field names.
func checkFields(fields []string) error {
	const most, longest = 20, 64
	for i, name := range fields {
		fields[i] = strings.ToLower(strings.TrimSpace(name))
		if len(name) > longest || strings.ContainsFunc(name, unicode.IsControl) {
			return fmt.Errorf("a field is a key of the front matter, such as rule; %q is none", clip(name, longest, "…"))
		}
	}
	if len(fields) > most {
		return fmt.Errorf("%d fields; give at most %d", len(fields), most)
	}
	return nil
}

// sessions finds the exchanges that answer a question. One that asks for what only notes have finds none.
func (s *Server) sessions(ctx context.Context, c caller, in searchIn) ([]app.ExchangeHit, error) {
	if in.Type != "" || in.Scope != "" || in.UserID != "" || in.WorkspaceID != "" {
		return nil, nil
	}
	scope, err := s.scope(ctx, c, in.Project)
	if err != nil {
		return nil, err
	}
	return app.SearchSessions(ctx, s.rooms, in.Query, scope, min(in.K, maxExchanges))
}

// exchanges returns as many exchanges as fit, their texts shortened as far as that takes.
func exchanges(found []app.ExchangeHit, left *budget) (all []exchangeHit) {
	for i := range found {
		f := &found[i]
		share := *left / budget(len(found)-i)
		for most := maxShown; most >= leastBody; most = most * 3 / 4 {
			h := exchangeHit{
				ID: f.ID, At: f.At, Agent: name(f.Agent), Title: clip(name(f.Title), most, "…"), Ask: clip(name(f.Ask), most, "…"),
				Reply: clip(note.Harmless(f.Reply), most, "…"),
			}
			for _, line := range f.Lines {
				h.Lines = append(h.Lines, clip(note.Harmless(line), most, "…"))
			}
			if rest := share; rest.room(h) {
				*left -= share - rest
				all = append(all, h)
				break
			}
		}
	}
	return all
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
