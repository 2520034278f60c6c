package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/capture"
	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/session"
	"anamnesis/internal/store"
	"anamnesis/internal/text"
	"anamnesis/internal/unread"
)

// ForgetSessionsOptions choose what is erased of sessions. What is given holds together; at least one is.
type ForgetSessionsOptions struct {
	IDs          []string // of exchanges and sessions
	Text         string   // exchanges that hold it, whatever its case
	Project      string
	Since, Until string // when the exchange was
	Apply        bool
}

// ForgetSessionsAnswer is what was erased of sessions, or would be.
type ForgetSessionsAnswer struct {
	Applied   bool           `json:"applied"`
	Sessions  int            `json:"sessions"` // of which something is erased
	Exchanges []ExchangeHead `json:"exchanges"`
	Unread    int            `json:"unread"` // unread turns that are erased with them
}

// ForgetSessions erases exchanges of sessions for good: a later capture or import of the session does
// not bring them back. Without Apply it only lists them.
func ForgetSessions(ctx context.Context, r *Rooms, o ForgetSessionsOptions) (a ForgetSessionsAnswer, err error) {
	a.Applied, a.Exchanges = o.Apply, []ExchangeHead{}
	if len(o.IDs) == 0 && o.Text == "" && o.Project == "" && o.Since == "" && o.Until == "" {
		return a, Usagef("sessions forget: give ID..., --text, --project, --since or --until")
	}
	wanted, err := exchangesNamed(ctx, r, o.IDs)
	if err != nil {
		return a, err
	}
	all, err := ChooseSessions(ctx, r, SessionsOptions{Project: o.Project})
	if err != nil {
		return a, err
	}
	within, err := timesOf(r, o)
	if err != nil {
		return a, err
	}
	what := make(map[string][]int)
	erased := make(map[string][]session.Exchange) // by agent and session
	for i := range all {
		s := &all[i]
		numbers, named := wanted[s.Key]
		if len(o.IDs) > 0 && !named {
			continue
		}
		_, exchanges, err := r.Kept.Read(s.Key)
		if err != nil {
			r.Notify("left out: session %s: %v", s.Key, err)
			continue
		}
		gone := 0
		for j := range exchanges {
			e := &exchanges[j]
			if len(numbers) > 0 && !slices.Contains(numbers, e.N) || !within(e, s) || o.Text != "" && !e.Holds(o.Text) {
				continue
			}
			gone++
			what[s.Key] = append(what[s.Key], e.N)
			erased[s.Agent+"/"+s.Session] = append(erased[s.Agent+"/"+s.Session], *e)
			a.Exchanges = append(a.Exchanges, HeadOfExchange(s, e))
		}
		if gone == 0 && len(o.IDs) == 0 && o.Since == "" && o.Until == "" && s.Holds(o.Text) { // the client's own title
			what[s.Key] = []int{session.TitleNumber}
		}
		if gone == len(exchanges) && o.Text == "" && o.Since == "" && o.Until == "" && len(numbers) == 0 {
			what[s.Key] = nil // all that will ever be in it
		}
	}
	like, err := unreadLike(r, o, erased)
	if err != nil {
		return a, err
	}
	if a.Unread, err = countUnread(r, like); err != nil {
		return a, err
	}
	if a.Sessions = len(what); a.Sessions+a.Unread == 0 {
		return a, Errorf(NotFound, "nothing that is kept of sessions is like that")
	}
	if !o.Apply {
		return a, nil
	}
	holds := func(line string) bool {
		says := session.Exchange{Ask: line}
		return o.Text != "" && says.Holds(o.Text)
	}
	if _, err := unread.Of(r.Store).Erase(like, holds); err != nil {
		return a, err
	}
	if err := r.Kept.Forget(ctx, what); err != nil {
		return a, err
	}
	var errs []error
	for i := range all {
		if numbers, ok := what[all[i].Key]; ok {
			errs = append(errs, redraft(ctx, r, &all[i].Head, len(numbers) == 0, erased[all[i].Agent+"/"+all[i].Session], o.Text))
		}
	}
	return a, errors.Join(errs...)
}

// redraft takes what was erased of a session out of its note: the note is made again of what is left, or forgotten with the whole
// session, and the lines that hold a text leave the automatic slots. What a person or a model wrote is only named.
func redraft(ctx context.Context, r *Rooms, h *session.Head, whole bool, erased []session.Exchange, what string) error {
	gone := func(line string) bool {
		says := session.Exchange{Ask: line}
		return what != "" && says.Holds(what)
	}
	errs := []error{forgetInSlots(ctx, r, h.Project, func(session, line string) bool {
		return gone(line) || whole && session == note.CutRunes(h.Session, 8)
	})}
	id := note.EpisodicID(h.Started, h.Agent, h.Session)
	n, _, err := store.Get(r.Store, id)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.Join(errs...)
	case err != nil:
		return errors.Join(append(errs, err)...)
	case whole:
		_, err := Forget(ctx, r, string(id), ForgetNow)
		return errors.Join(append(errs, err)...)
	}
	_, left, err := r.Kept.Read(h.Key())
	switch {
	case errors.Is(err, fs.ErrNotExist): // nothing is left
		_, err := Forget(ctx, r, string(id), ForgetNow)
		return errors.Join(append(errs, err)...)
	case err == nil:
		trace := traceIDs(ctx, r, id)
		if err = r.Recorder.Redraft(ctx, *h, left); err == nil {
			err = allowLoss(ctx, r, id)
		}
		erase(ctx, r, trace)
	}
	if errors.Is(err, ingest.ErrChanged) || errors.Is(err, fs.ErrNotExist) {
		err = nil
		if said := (&session.Exchange{Ask: n.Title + "\n" + n.Body}); gone(said.Ask) ||
			slices.ContainsFunc(erased, func(e session.Exchange) bool { return e.Ask != "" && said.Holds(e.Ask) }) {
			r.Notify("the note %s of the session still says some of it, because it was edited or a model wrote it: `anamnesis edit %s`", id, id)
		}
	}
	return errors.Join(append(errs, err)...)
}

// exchangesNamed returns the numbers of exchanges by the key of their session, none for all of one.
func exchangesNamed(ctx context.Context, r *Rooms, ids []string) (map[string][]int, error) {
	named := make(map[string][]int)
	for _, id := range ids {
		key, n, err := session.ParseID(id)
		if err != nil {
			return nil, Usagef("%w", err)
		}
		s, err := r.Kept.Find(ctx, key)
		if err != nil {
			return nil, notKept(err)
		}
		had, any := named[s.Key]
		switch {
		case any && len(had) == 0: // all of it already
		case n == 0:
			named[s.Key] = nil
		default:
			named[s.Key] = append(had, n)
		}
	}
	return named, nil
}

// timesOf returns what says whether an exchange lies within the times of options.
func timesOf(r *Rooms, o ForgetSessionsOptions) (func(*session.Exchange, *session.Session) bool, error) {
	var since, until time.Time
	var err error
	if o.Since != "" {
		if since, err = Moment("--since", o.Since, r.Store.Now()); err != nil {
			return nil, err
		}
	}
	if o.Until != "" {
		if until, err = Moment("--until", o.Until, r.Store.Now()); err != nil {
			return nil, err
		}
	}
	return func(e *session.Exchange, s *session.Session) bool {
		at := e.At
		if at.IsZero() {
			at = s.Ended
		}
		return !at.Before(since) && (until.IsZero() || !at.After(until))
	}, nil
}

// forgetInSlots erases lines of the automatic slots of a project, and what the index holds of them. gone is given the first
// characters of a session's id, and what it wrote.
func forgetInSlots(ctx context.Context, r *Rooms, key string, gone func(session, line string) bool) error {
	rows, err := ingest.SlotsOf(r.Ingester).List(ctx, []string{key}, false)
	if err != nil {
		return err
	}
	var ids []note.ID
	for i := range rows {
		ids = append(ids, rows[i].ID)
	}
	trace := traceIDs(ctx, r, ids...)
	err = r.Recorder.ForgetInSlots(ctx, key, gone)
	erase(ctx, r, trace)
	return err
}

// ForgetSession erases all that one session left, in whatever project: its notes, also those that were learnt from it and that
// nothing else supports, its proposals, and all that forgetting its note reaches.
func ForgetSession(ctx context.Context, r *Rooms, id string) error {
	of := func(session string) bool { // of a note, or of evidence, which has the name of the client before it
		return agent.PartOf(session[strings.LastIndexByte(session, '/')+1:], id)
	}
	var ids []note.ID
	for ref := range r.Store.Walk() {
		n, _, _, err := r.Store.Read(ref.Path)
		if err == nil && of(n.Provenance.Session) && n.Kind != note.Slot &&
			!slices.ContainsFunc(n.Evidence, func(e note.Evidence) bool { return !of(e.Session) }) {
			ids = append(ids, n.ID)
		}
	}
	errs := []error{EraseUnreadOf(r, id)}
	if len(ids) > 0 {
		_, err := forgetNow(ctx, r, ids...)
		errs = append(errs, err)
	}
	errs = append(errs, ingest.ForgetEvidence(ctx, r.Ingester, of)) // of those that other sessions support, too
	for _, d := range r.Store.Spool().Held() {
		if of(d.Provenance.Session) {
			errs = append(errs, ingest.DropDraft(ctx, r.Store, d.ID))
		}
	}
	all, err := r.Kept.Sessions(ctx)
	errs = append(errs, err)
	for i := range all {
		if of(all[i].Session) {
			errs = append(errs, r.Kept.Forget(ctx, map[string][]int{all[i].Key: nil}))
			errs = append(errs, forgetInSlots(ctx, r, all[i].Project, func(session, _ string) bool {
				return session == note.CutRunes(all[i].Session, 8)
			}))
		}
	}
	return errors.Join(errs...)
}

// forgetSession erases what is kept of the session that a forgotten note was made of.
func forgetSession(ctx context.Context, r *Rooms, n *note.Note) error {
	if n == nil || n.Provenance.Session == "" {
		return nil
	}
	if err := eraseUnread(r, n); err != nil {
		return err
	}
	if n.Type == note.Episodic && n.Kind == "" && r.Recorder != nil {
		if err := forgetSlotsOf(ctx, r, n); err != nil {
			return err
		}
	}
	all, err := r.Kept.Sessions(ctx)
	if err != nil {
		return err
	}
	for i := range all {
		s := &all[i]
		if s.Session == n.Provenance.Session && note.EpisodicID(s.Started, s.Agent, s.Session) == n.ID {
			return r.Kept.Forget(ctx, map[string][]int{s.Key: nil})
		}
	}
	return nil
}

// forgetSlotsOf erases the lines that a session wrote into the automatic slots of its project.
func forgetSlotsOf(ctx context.Context, r *Rooms, n *note.Note) error {
	of := note.CutRunes(n.Provenance.Session, 8)
	return forgetInSlots(ctx, r, n.Project, func(session, _ string) bool { return session == of })
}

// maxSharedText is how many characters of an exchange a note of it holds.
const maxSharedText = 1500

// KeepExchange makes a note of an exchange, which travels as notes do. title is "" for the one of the
// exchange.
func KeepExchange(ctx context.Context, r *Rooms, id, title string) (Written, error) {
	if err := r.MayRedact(); err != nil {
		return Written{}, err
	}
	key, n, err := session.ParseID(id)
	if err == nil && n == 0 {
		err = fmt.Errorf("%q is a session; name one of its exchanges, as in %s", id, session.ExchangeID(id, 1))
	}
	if err != nil {
		return Written{}, Usagef("%w", err)
	}
	s, err := r.Kept.Find(ctx, key)
	if err != nil {
		return Written{}, notKept(err)
	}
	_, all, err := r.Kept.Read(s.Key)
	if err != nil {
		return Written{}, err
	}
	at := slices.IndexFunc(all, func(e session.Exchange) bool { return e.N == n })
	if at < 0 {
		return Written{}, Errorf(NotFound, "session %s has no exchange %d", s.Key, n)
	}
	e := &all[at]
	if title == "" {
		title = session.TitleOf("", nil, all[at:at+1])
	}
	body, _ := fitText(e.Text(), maxSharedText)
	for _, sol := range session.Solutions(session.Talk(all, e.Subagent)) {
		if sol.Exchange == n {
			body = "**Fixed:** " + sol.String() + "\n\n" + body
		}
	}
	draft := &note.Note{
		Type: note.Episodic, Title: text.Cut(title, note.MaxTitle), Body: body, Scope: note.Portable, Project: s.Project,
		Tags:       []string{"exchange"},
		Provenance: note.Provenance{Confidence: 1, Session: s.Session},
	}
	if !e.At.IsZero() {
		draft.CreatedAt = note.At(e.At)
	}
	for i := range e.Steps {
		draft.Commits = append(draft.Commits, e.Steps[i].Commits...)
	}
	if s.Dir != "" {
		capture.Stamp(draft, s.Dir, r.Redactor)
	}
	out, err := r.Ingester.Admit(ctx, ingest.Draft{Note: draft, By: r.Host.By, Here: s.Project, Account: true, Dir: s.Dir})
	if err != nil {
		return Written{}, err
	}
	return NewWritten(r, "sessions keep", out)
}
