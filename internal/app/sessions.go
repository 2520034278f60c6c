package app

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/imports"
	"anamnesis/internal/note"
	"anamnesis/internal/recall"
	"anamnesis/internal/session"
	"anamnesis/internal/store"
	"anamnesis/internal/store/project"
	"anamnesis/internal/store/tombstone"
)

// An ExchangeHead says which exchange of which session.
type ExchangeHead struct {
	ID      string `json:"id"`
	At      string `json:"at"`
	Agent   string `json:"agent"`
	Project string `json:"project"`
	Branch  string `json:"branch,omitempty"`
	Title   string `json:"title"` // of its session
	Ask     string `json:"ask"`
}

// HeadOfExchange returns the head of an exchange. Its ask says when its words are no person's, or hold no more.
func HeadOfExchange(s *session.Session, e *session.Exchange) ExchangeHead {
	ask := strings.Join(strings.Fields(e.Ask), " ")
	if e.Subagent != "" {
		ask = "(asked of a sub-agent) " + ask
	}
	if e.Program {
		ask = "(asked by a program) " + ask
	}
	if e.TakenBack {
		ask = "(taken back) " + ask
	}
	return ExchangeHead{
		ID: session.ExchangeID(s.Key, e.N), At: stamp(e.At, s.Started, s.Ended), Agent: s.Agent, Project: s.Project, Branch: s.Branch,
		Title: s.Title, Ask: ask,
	}
}

// stamp is the first time that is known, in RFC 3339.
func stamp(times ...time.Time) string {
	for _, t := range times {
		if !t.IsZero() {
			return t.UTC().Format(time.RFC3339)
		}
	}
	return ""
}

// An ExchangeHit is an exchange that answers a question.
type ExchangeHit struct {
	ExchangeHead
	Score    float64  `json:"score"`
	Coverage float64  `json:"coverage"`
	Lines    []string `json:"lines"`
	Reply    string   `json:"reply"` // its beginning
}

// The bounds of a hit as it is shown, in characters.
const (
	ShownAsk   = 200
	ShownReply = 400
)

// SearchSessions finds the exchanges of the projects of a scope that answer a question.
func SearchSessions(ctx context.Context, r *Rooms, text string, scope recall.Scope, most int) ([]ExchangeHit, error) {
	if r.Kept == nil || !r.Kept.On() || most < 1 {
		return []ExchangeHit{}, nil
	}
	var q recall.Query
	scope.Apply(&q)
	hits, err := r.Kept.Search(ctx, session.Query{Text: text, Projects: SessionProjects(q.Projects), Limit: most})
	out := make([]ExchangeHit, len(hits))
	for i := range hits {
		h := &hits[i]
		out[i] = ExchangeHit{
			HeadOfExchange(&h.Session, &h.Exchange), h.Score, h.Coverage, harmless(h.Lines), CutShown(h.Exchange.Reply, ShownReply),
		}
		out[i].Ask = CutShown(out[i].Ask, ShownAsk)
	}
	return out, err
}

// SessionProjects are the projects of a question about sessions, which belong to one each: without the
// global one that every question about notes is about, too.
func SessionProjects(projects []string) []string {
	return slices.DeleteFunc(slices.Clone(projects), func(p string) bool { return p == "" || p == note.Global })
}

func harmless(lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = note.Harmless(l)
	}
	return out
}

// CutShown cuts a text to n characters, and takes the marks of instructions out.
func CutShown(s string, n int) string {
	s = note.Harmless(strings.TrimSpace(s))
	if cut := note.CutRunes(s, n); cut != s {
		return strings.TrimRight(cut, " \t\n") + " …"
	}
	return s
}

// endOfAge returns the time before which sessions, and what is unread of them, are too old to be kept (sessions.days); the zero
// time if none is.
func endOfAge(r *Rooms) (time.Time, error) {
	now, jumped, err := store.Age(r.Store) // also without an end, so that a jump is seen when there is one
	days := r.Config.Sessions.Days
	if days <= 0 {
		return time.Time{}, err
	}
	if jumped {
		r.Notify("the clock is far ahead of the last background run: nothing is deleted for its age until it stays there for three days")
	}
	if err != nil || now.IsZero() {
		return time.Time{}, err
	}
	return now.AddDate(0, 0, -days), nil
}

// TendSessions brings what is kept of sessions into step: its index, its bounds, and what tombstones
// of this or another machine name.
func TendSessions(ctx context.Context, r *Rooms) error {
	if r.Kept == nil || r.Store.ReadOnly() {
		return nil
	}
	stones, err := tombstone.For(r.Store, note.Local)
	if err != nil {
		return err
	}
	forgotten := make(map[note.ID]bool, len(stones))
	for i := range stones {
		forgotten[stones[i].ID] = true
	}
	quiet, err := r.Store.Spool().Quiet()
	if err != nil {
		return err
	}
	if err := r.Kept.Sync(ctx, nil); err != nil {
		return err
	}
	before, err := endOfAge(r)
	if err != nil {
		return err
	}
	beyond, until, err := r.Kept.Prune(ctx, before, func(h *session.Head) bool {
		return forgotten[note.EpisodicID(h.Started, h.Agent, h.Session)] ||
			slices.ContainsFunc(quiet.Private, func(private string) bool { return agent.PartOf(h.Session, private) })
	})
	if beyond > 0 {
		r.Notify("%s, ended on %s or before, not kept any more: beyond sessions.mb or sessions.days", Plural(beyond, "session"),
			until.Format(time.DateOnly))
	}
	return err
}

// IndexSessions brings the index of sessions into step after an import of past ones.
func IndexSessions(ctx context.Context, r *Rooms, p *imports.Plan) error {
	if p.From != imports.FromTranscripts {
		return nil
	}
	bar := r.Progress("indexing sessions")
	defer bar.Done()
	if err := r.Kept.Sync(context.WithoutCancel(ctx), bar.Step); err != nil {
		return err
	}
	return TendSessions(context.WithoutCancel(ctx), r) // what is beyond the bounds leaves at once, and is said
}

// SessionsOptions choose among what is kept.
type SessionsOptions struct {
	Project string // its key, "." for the one of the current folder, "" for all
	Agent   string
	Since   string
	Limit   int
}

// SessionsAnswer lists what is kept of sessions, newest first.
type SessionsAnswer struct {
	Sessions []SessionView `json:"sessions"`
	Count    int           `json:"count"` // of all that were chosen
	Bytes    int64         `json:"bytes"` // of all that are kept
}

// A SessionView is one session that is kept.
type SessionView struct {
	Key       string `json:"key"`
	Session   string `json:"session"`
	Agent     string `json:"agent"`
	Project   string `json:"project"`
	Branch    string `json:"branch,omitempty"`
	Title     string `json:"title"`
	Started   string `json:"started"`
	Ended     string `json:"ended"`
	Exchanges int    `json:"exchanges"`
	Bytes     int64  `json:"bytes"`
	Program   bool   `json:"program,omitempty"` // programs asked, and no person
}

// ViewSession views what is kept of a session.
func ViewSession(s *session.Session) SessionView {
	return SessionView{
		s.Key, s.Session, s.Agent, s.Project, s.Branch, s.Title, stamp(s.Started, s.Ended), stamp(s.Ended, s.Started), s.Exchanges, s.Size,
		s.Program,
	}
}

// Sessions lists what is kept.
func Sessions(ctx context.Context, r *Rooms, o SessionsOptions) (a SessionsAnswer, err error) {
	chosen, err := ChooseSessions(ctx, r, o)
	if err != nil {
		return a, err
	}
	a.Count, a.Sessions = len(chosen), []SessionView{}
	for i := range chosen {
		if o.Limit == 0 || i < o.Limit {
			a.Sessions = append(a.Sessions, ViewSession(&chosen[i]))
		}
	}
	usage, err := r.Kept.Usage()
	a.Bytes = usage.Bytes
	return a, err
}

// ChooseSessions returns the sessions that options name, newest first.
func ChooseSessions(ctx context.Context, r *Rooms, o SessionsOptions) ([]session.Session, error) {
	all, err := r.Kept.Sessions(ctx)
	if err != nil {
		return nil, err
	}
	var names []string
	if o.Project != "" {
		names = project.Names(r.Store, PlaceProject(r.Store, o.Project))
	}
	var since time.Time
	if o.Since != "" {
		if since, err = Moment("--since", o.Since, r.Store.Now()); err != nil {
			return nil, err
		}
	}
	all = slices.DeleteFunc(all, func(s session.Session) bool {
		return names != nil && !slices.Contains(names, s.Project) || o.Agent != "" && s.Agent != o.Agent || s.Ended.Before(since)
	})
	slices.SortFunc(all, func(a, b session.Session) int {
		if c := b.Ended.Compare(a.Ended); c != 0 {
			return c
		}
		return strings.Compare(a.Key, b.Key)
	})
	return all, nil
}

// ExchangeAnswer is an exchange with its neighbours.
type ExchangeAnswer struct {
	Session   SessionView    `json:"session"`
	Exchanges []ExchangeText `json:"exchanges"`
	Before    int            `json:"before"` // exchanges of the session that stand before those
	After     int            `json:"after"`
}

// An ExchangeText is an exchange, word for word.
type ExchangeText struct {
	ID   string `json:"id"`
	At   string `json:"at"`
	Text string `json:"text"`
	Cut  bool   `json:"cut"` // its end did not fit
}

// DefaultShown is how many tokens of a session are shown.
const DefaultShown = 2000

// ShowExchange returns an exchange by its id with the one before and the one behind it, or a session by
// its key or by the id its client gave it, at most maxTokens in all; 0 has no end. The exchange itself is
// given the most room.
func ShowExchange(ctx context.Context, r *Rooms, id string, maxTokens int) (a ExchangeAnswer, err error) {
	key, n, err := session.ParseID(id)
	if err != nil {
		return a, Usagef("%w", err)
	}
	s, err := r.Kept.Find(ctx, key)
	if err != nil {
		return a, notKept(err)
	}
	_, all, err := r.Kept.Read(s.Key)
	if err != nil {
		return a, err
	}
	a.Session = ViewSession(&s)
	from, to, at := 0, len(all), 0
	if n > 0 {
		if at = slices.IndexFunc(all, func(e session.Exchange) bool { return e.N == n }); at < 0 {
			return a, Errorf(NotFound, "session %s has no exchange %d", s.Key, n)
		}
		from, to = max(0, at-1), min(len(all), at+2)
	}
	a.Exchanges = []ExchangeText{}
	room := maxTokens * recall.CharsPerToken
	for i := from; i < to; i++ {
		e := &all[i]
		t := ExchangeText{ID: session.ExchangeID(s.Key, e.N), At: stamp(e.At, s.Started, s.Ended), Text: note.Harmless(e.Text())}
		if most := room / 5; n > 0 && i != at && room > 0 { // a neighbour gets a fifth
			t.Text, t.Cut = fitText(t.Text, most)
		} else if n > 0 && room > 0 {
			t.Text, t.Cut = fitText(t.Text, room*3/5)
		} else if room > 0 {
			left := room - textLength(a.Exchanges)
			if left < 200 {
				to = i
				break
			}
			t.Text, t.Cut = fitText(t.Text, left)
		}
		a.Exchanges = append(a.Exchanges, t)
	}
	a.Before, a.After = from, len(all)-to
	return a, nil
}

func textLength(all []ExchangeText) (n int) {
	for i := range all {
		n += len(all[i].Text)
	}
	return n
}

// fitText cuts a text in its middle to about most bytes, at line ends: how it began and how it ended
// matter most.
func fitText(s string, most int) (string, bool) {
	if len(s) <= most {
		return s, false
	}
	head, tail := s[:most/2], s[len(s)-most/2:]
	if i := strings.LastIndexByte(head, '\n'); i > 0 {
		head = head[:i+1]
	}
	if i := strings.IndexByte(tail, '\n'); i >= 0 {
		tail = tail[i+1:]
	}
	return strings.ToValidUTF8(head+"…\n"+tail, ""), true
}

// notKept gives the error of a session that is not kept its kind.
func notKept(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Errorf(NotFound, "%w; `anamnesis sessions` lists those that are", err)
	case errors.Is(err, fs.ErrExist):
		return Usagef("%w", err)
	}
	return err
}
