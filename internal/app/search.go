package app

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/recall"
	"anamnesis/internal/store"
)

// SearchOptions are a question and how much of the answer is wanted.
type SearchOptions struct {
	Question
	Text      string
	K         int
	MaxTokens int // of all that is rendered; 0 means no end
	Strict    bool
	Persona   bool // only the answer to a question about a habit
	Explain   bool
	Sessions  int    // exchanges of sessions under the notes, at most
	Only      string // OnlyNotes, OnlySessions; "" asks both
	Look      bool   // nobody needs the answer: it is not logged, and no gap
	Fields    []string
	Cost      func(*recall.Hit) int // the tokens of a hit as the face renders it
}

// What a search may be narrowed to.
const (
	OnlyNotes    = "notes"
	OnlySessions = "sessions"
)

// asksSessions reports whether a search looks at sessions, too: not where it asks for what only notes
// have.
func (o *SearchOptions) asksSessions() bool {
	if o.Only == OnlySessions {
		return true
	}
	return o.Only == "" && !o.Persona && len(o.Types) == 0 && len(o.Tags) == 0 && o.Scope == "" && o.Corpus == "" && len(o.Fields) == 0 &&
		len(o.Arms) == 0 && o.AsOf == "" && o.KnownAt == "" && !o.All
}

// SearchAnswer is what a question found.
type SearchAnswer struct {
	Query    string             `json:"query"`
	Mode     string             `json:"mode"`
	Count    int                `json:"count"`
	Fields   *[]string          `json:"field"` // null: the passage
	Held     bool               `json:"ood_gated"`
	Scope    recall.Scope       `json:"scope"`
	Hits     []HitView          `json:"results"`
	Searched int                `json:"searched"`
	Stale    int                `json:"stale"`
	Tokens   int                `json:"tokens"`
	TookMS   float64            `json:"took_ms"`
	Missing  []string           `json:"missing"`
	Failed   []string           `json:"failed"`
	Gate     *recall.Gate       `json:"gate"`
	Temporal *WindowView        `json:"temporal"`
	Persona  *recall.Persona    `json:"persona"`
	Recent   bool               `json:"recent"`
	Cache    string             `json:"cache"`
	Arms     []recall.ArmReport `json:"arms"`
	Reranker string             `json:"reranker"`
	Without  int                `json:"without_vector"` // passages that only their words can find yet
	HeldBack int                `json:"held_back"`      // notes that would answer, and are of other branches that are open

	Sessions []ExchangeHit `json:"sessions"` // exchanges that answer, under the notes

	Result *recall.Result `json:"-"`
}

// DropLast leaves out the last hit, which has no room.
func (a *SearchAnswer) DropLast() {
	last := len(a.Hits) - 1
	a.Tokens -= a.Hits[last].Tokens
	a.Hits, a.Result.Hits = a.Hits[:last], a.Result.Hits[:last]
	a.Count = last
}

// fitSessions leaves out the last exchanges, which have no room beside the notes; most is 0 for no end.
func (a *SearchAnswer) fitSessions(most int) {
	left := most - a.Tokens
	for i := range a.Sessions {
		h := &a.Sessions[i]
		left -= recall.Tokens(h.Title+h.Ask+strings.Join(h.Lines, "\n")+h.Reply) + exchangeFrame
		if most > 0 && left < 0 && (i > 0 || len(a.Hits) > 0) {
			a.Sessions = a.Sessions[:i]
			return
		}
	}
}

// exchangeFrame is what stands around the texts of an exchange that is printed, in tokens.
const exchangeFrame = 40

// A WindowView is the time a question speaks of.
type WindowView struct {
	Start      string  `json:"start"`
	End        string  `json:"end"`
	Confidence float64 `json:"confidence"`
	Matched    string  `json:"matched_text"`
}

// A HitView is a hit with its note.
type HitView struct {
	NoteView
	Score       float64                 `json:"score"`
	Base        float64                 `json:"base"`
	Coverage    float64                 `json:"coverage"`
	Arms        map[string]recall.Found `json:"arms"`
	Sure        float64                 `json:"confidence_num"` // the same as confidence, by its other name
	KeyInsight  string                  `json:"key_insight"`
	HowToApply  string                  `json:"how_to_apply"`
	Fields      map[string]*string      `json:"fields,omitempty"` // null: the note has no such field
	EffectiveAt string                  `json:"effective_at"`
	Tokens      int                     `json:"tokens"`
	Body        string                  `json:"body"`
	Reasons     []recall.Reason         `json:"reasons,omitempty"`
	Shares      []recall.Share          `json:"features,omitempty"` // what the built-in reranker saw
}

// ViewHit returns a hit with its note, or with the fields that were wanted.
func ViewHit(s *store.Store, h *recall.Hit, o *SearchOptions) HitView {
	v := HitView{
		NoteView: viewNote(s, h.Note, &h.Row), Score: h.Score(), Base: h.Base(), Coverage: h.Coverage, Arms: h.Found,
		Sure: h.Note.Provenance.Confidence, KeyInsight: h.Note.KeyInsight, HowToApply: h.Note.HowToApply,
		Tokens: h.Tokens, Body: h.Note.Body,
	}
	if t := h.Row.Effective(); !t.IsZero() {
		v.EffectiveAt = string(note.At(t))
	}
	if len(o.Fields) > 0 { // one line was wanted, not the note
		v.Fields, v.Body = make(map[string]*string), ""
		for _, name := range o.Fields {
			v.Fields[name] = nil
			if f, ok := h.Fields[name]; ok {
				v.Fields[name] = &f
			}
		}
	}
	if o.Explain {
		v.Reasons, v.Shares = h.Reasons, h.Shares()
	}
	return v
}

// Search answers a question and logs it. Without a hit the error is of kind
// NotFound and comes with the answer, which says why.
func Search(ctx context.Context, r *Rooms, o SearchOptions) (SearchAnswer, error) {
	q, scope, err := o.NewQuery(ctx, r, o.Text)
	if err != nil {
		return SearchAnswer{}, err
	}
	q.K, q.MaxTokens, q.Strict, q.Fields, q.Cost, q.PersonaOnly = o.K, o.MaxTokens, o.Strict, o.Fields, o.Cost, o.Persona
	q.Synthetic = o.Look
	sessions := []ExchangeHit{}
	if o.asksSessions() {
		if sessions, err = SearchSessions(ctx, r, o.Text, scope, o.Sessions); err != nil {
			r.Notify("left out: what is kept of sessions: %v", err)
		}
	}
	if o.Only == OnlySessions {
		a := SearchAnswer{Query: o.Text, Mode: o.Mode, Scope: scope, Hits: []HitView{}, Sessions: sessions, Result: &recall.Result{}}
		a.fitSessions(o.MaxTokens)
		if len(a.Sessions) == 0 {
			return a, &Error{Kind: NotFound}
		}
		return a, nil
	}
	via := "search"
	switch {
	case o.Look:
		via = ""
	case r.Host.By == ingest.Agent:
		via = "shell"
	}
	res, held, err := Ask(ctx, r, q, scope, via)
	if err == nil && len(res.Hits) == 0 && catchUp(ctx, r) {
		res, held, err = Ask(ctx, r, q, scope, via)
	}
	if err != nil {
		return SearchAnswer{}, err
	}
	if held > 0 {
		r.Notify("%s; --all-branches shows them", recall.HeldBackLine(held))
	}
	leftOut(r, res)
	embedMissing(r, res)
	a := SearchAnswer{
		Query: res.Query.Text, Mode: o.Mode, Count: len(res.Hits), Held: res.Gate != nil && !res.Gate.Open, Scope: scope,
		Searched: res.Searched, Stale: r.Stale, Tokens: res.Tokens, TookMS: Milliseconds(res.Took), Missing: res.Missing, Failed: res.Failed,
		Gate: res.Gate, Persona: res.Persona,
		Recent: res.Recent, Cache: res.Cached, Arms: res.Arms, Reranker: res.Reranker, Without: res.WithoutVector, HeldBack: held,
		Sessions: sessions, Result: res,
	}
	if o.Fields != nil {
		a.Fields = &o.Fields
	}
	for _, h := range res.Hits {
		a.Hits = append(a.Hits, ViewHit(r.Store, h, &o))
	}
	if w := res.Window; w != nil {
		a.Temporal = &WindowView{isoMicros(w.From), isoMicros(w.To), w.Confidence, w.Phrase}
	}
	a.fitSessions(o.MaxTokens)
	if len(a.Sessions) > 0 {
		return a, nil
	}
	if len(res.Hits) == 0 && !o.Look {
		offerHere(ctx, r)
	}
	return a, nothing(res)
}

// Ask puts a query to memory, for every face. When the mirror of a team is old, a background run is started. The
// log gets what was found and by which way it was asked; an empty via logs nothing. held is how
// many notes of other branches were held back.
func Ask(ctx context.Context, r *Rooms, q recall.Query, scope recall.Scope, via string) (res *recall.Result, held int, err error) {
	refreshMirror(ctx, r)
	if res, err = r.Engine.Recall(ctx, q); err != nil {
		return nil, 0, asked(err)
	}
	if via != "" {
		ids := make([]note.ID, len(res.Hits))
		for i, h := range res.Hits {
			ids[i] = h.Row.ID
		}
		logRecall(r, res, ids, via)
	}
	if held, err = scope.HeldBack(ctx, r.Engine, q); err != nil {
		res.Failed = append(res.Failed, fmt.Sprintf("the count of other branches: %v", err))
	}
	return res, held, nil
}

// Milliseconds is d as answers give it.
func Milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// isoMicros writes a time as Python's isoformat does: the program before this
// one promised that.
func isoMicros(t time.Time) string { return t.Format("2006-01-02T15:04:05.999999") }

// nothing is the error of an answer without a hit. The answer says why.
func nothing(res *recall.Result) error {
	if len(res.Hits) > 0 {
		return nil
	}
	return &Error{Kind: NotFound}
}

// leftOut tells people what could not be asked or read.
func leftOut(r *Rooms, res *recall.Result) {
	for _, s := range append(res.Failed, res.Missing...) {
		r.Notify("left out: %s", s)
	}
}

// embedMissing says that notes wait for their vectors, and starts the run that
// makes them.
func embedMissing(r *Rooms, res *recall.Result) {
	if res.WithoutVector == 0 {
		return
	}
	what := ""
	if !r.Store.ReadOnly() && r.Detach("drain") == nil {
		what = "; a background run makes them"
	}
	r.Notify("%d of %d passages have no vector yet and are found by their words only%s", res.WithoutVector, res.Passages, what)
}

// asked makes an error of wrong usage of one that a corpus's name brought about.
func asked(err error) error {
	if errors.Is(err, recall.ErrNoCorpus) {
		return Usagef("--corpus %w", err)
	}
	return err
}

// logRecall records what a question returned, and by which way it was asked.
func logRecall(r *Rooms, res *recall.Result, ids []note.ID, via string) {
	rec := store.Record{Kind: store.Recalled, Text: via, Count: len(ids), MS: Milliseconds(res.Took), Notes: ids, Out: res.Tokens}
	if r.Config.Events.Queries {
		rec.Query = r.Redactor.Redact(res.Query.Text).String()
	}
	_ = r.Store.Events().Log(rec)
}

// RowsAnswer is the first layer: one row a note.
type RowsAnswer struct {
	Step  int               `json:"step"`
	Query string            `json:"query"`
	Count int               `json:"count"`
	Rows  []recall.StageRow `json:"results"`

	Result *recall.Result `json:"-"`
}

// Rows answers a question with one row for each note, at most limit. Without a
// row the error is of kind NotFound and comes with the answer.
func Rows(ctx context.Context, r *Rooms, question Question, text string, limit int) (RowsAnswer, error) {
	q, _, err := question.NewQuery(ctx, r, text)
	if err != nil {
		return RowsAnswer{}, err
	}
	q.K = limit
	rows, res, err := r.Engine.Index(ctx, q)
	if err != nil {
		return RowsAnswer{}, asked(err)
	}
	leftOut(r, res)
	return RowsAnswer{1, text, len(rows), rows, res}, nothing(res)
}

// TimelineAnswer is the second layer: what was made before and after a note.
type TimelineAnswer struct {
	Step   int               `json:"step"`
	Query  string            `json:"query"`
	Anchor note.ID           `json:"anchor"` // "" when there is none
	Before int               `json:"depth_before"`
	After  int               `json:"depth_after"`
	Count  int               `json:"count"`
	Rows   []recall.StageRow `json:"results"`
	Error  string            `json:"error,omitempty"`
}

// Timeline lists the notes that were made before and after one, the oldest
// first: after anchor, or the best answer to text when anchor is "". Without
// such a note the error is of kind NotFound and comes with the answer.
func Timeline(ctx context.Context, r *Rooms, question Question, anchor note.ID, text string, before, after int) (TimelineAnswer, error) {
	q, _, err := question.NewQuery(ctx, r, text)
	if err != nil {
		return TimelineAnswer{}, err
	}
	rows, err := r.Engine.Timeline(ctx, anchor, q, before, after)
	a := TimelineAnswer{Step: 2, Query: text, Before: before, After: after, Count: len(rows), Rows: rows}
	for _, row := range rows {
		if row.Anchor {
			a.Anchor = row.ID
		}
	}
	if errors.Is(err, recall.ErrNoNote) {
		a.Error = err.Error()
		return a, &Error{Kind: NotFound}
	}
	return a, asked(err)
}

// HydrateAnswer is the third layer: whole notes.
type HydrateAnswer struct {
	Step  int               `json:"step"`
	Count int               `json:"count"`
	Notes []recall.Hydrated `json:"results"`
}

// Hydrate returns the notes with these ids, or beginnings of ids, in that order.
// When none was found the error is of kind NotFound and comes with the answer.
func Hydrate(ctx context.Context, r *Rooms, names []string) (HydrateAnswer, error) {
	ids := make([]note.ID, len(names))
	for i, name := range names {
		ids[i] = note.ID(strings.TrimSpace(name))
	}
	all, err := r.Engine.Hydrate(ctx, ids)
	if err != nil {
		return HydrateAnswer{}, err
	}
	rec := store.Record{Kind: store.Recalled, Text: "hydrate"}
	for _, h := range all {
		if h.Found {
			rec.Notes = append(rec.Notes, h.ID)
		}
	}
	a := HydrateAnswer{3, len(all), all}
	if rec.Count = len(rec.Notes); rec.Count == 0 {
		return a, &Error{Kind: NotFound}
	}
	_ = r.Store.Events().Log(rec) // somebody chose them
	return a, nil
}
