package capture

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/ingest"
	"anamnesis/internal/learn"
	"anamnesis/internal/note"
	"anamnesis/internal/session"
	"anamnesis/internal/store"
	"anamnesis/internal/store/queue"
	"anamnesis/internal/text"
)

// learn takes in what a session teaches without a reader, and leaves the rest to one. It runs in
// the background, after the hooks have left; a session that is captured again teaches nothing
// twice.
//
// Three things are taken in at once: what was ordered to be remembered, what the user decided for
// good about a tool, and what the agent wrote itself (agentNotes) or into its own memory. Everything else is unread until a reader
// decides on it: the next agent, a model, a person. Of a run in which a program asked one thing only the orders are taken in.
func (r *Recorder) learn(ctx context.Context, q Request, s *agent.Session, f *facts, key string) (learnt int, err error) {
	if !r.opts.Learn {
		return 0, nil
	}
	from, clean := r.origin(q, f, key, s)
	l := lessons{Recorder: r, ctx: ctx, s: s, from: from}
	asked := programTurns(s)
	if f.headless && len(s.Prompts()) < 2 {
		l.orders(asked, clean, ingest.Program, nil)
		return l.end()
	}
	said := learn.SaidIn(s, clean)
	l.fail(r.withdraw(ctx, q, s, said, from, clean))
	written, err := r.agentNotes(ctx, s, said, from)
	l.fail(err)
	l.orders(s, clean, ingest.Order, written)
	l.orders(asked, clean, ingest.Program, written)
	for _, p := range learn.Permissions(s, clean, r.noted(q.client)...) {
		n := p.Note(from)
		l.taken = append(l.taken, p.Quote.Said.Turn)
		l.take(n, p.Quote, p.Call+"\n"+n.Title, ingest.Order) // the title says what was decided about the call
	}
	known, err := r.remembered(ctx, said, slices.Concat(written, l.taken), from)
	l.fail(err)
	l.fail(r.leaveUnread(q, s, said, slices.Concat(written, l.taken, known), from, clean))
	if r.model != nil && r.opts.Read {
		l.fail(r.leaveToModel(s, from, clean))
	}
	return l.end()
}

// lessons are what is taken in of one session.
type lessons struct {
	*Recorder
	ctx  context.Context
	s    *agent.Session
	from learn.Origin

	taken   []int // turns of which something was taken in, and on which no reader needs to decide
	learnt  int
	refused int
	errs    []error
}

func (l *lessons) fail(err error) { l.errs = append(l.errs, err) }

// orders takes in what was ordered in the turns of asked, on which the agent wrote nothing. What a person did not type is
// no person's note.
func (l *lessons) orders(asked *agent.Session, clean learn.Clean, by ingest.Author, written []int) {
	for _, o := range learn.Orders(asked, clean) {
		if slices.Contains(written, o.Quote.Said.Turn) {
			continue // the agent wrote it down, in better words
		}
		n := o.Note(l.from)
		if !o.Doubt {
			l.take(n, o.Quote, "", by) // its turn stays unread: a reader names what it is about, and when it will matter
			continue
		}
		l.taken = append(l.taken, o.Quote.Said.Turn)
		source := note.User
		if by == ingest.Program {
			source = note.Program
		}
		n.StatusReason = "it is inside a text of several lines, which may have been pasted"
		l.fail(ingest.InboxOf(l.ingester).Propose(l.ctx, n, source))
	}
}

// take admits a note of what was said in a session. shown is what the user had in front of them.
func (l *lessons) take(n *note.Note, quote learn.Quote, shown string, by ingest.Author) {
	n.Commits = session.CommitAfter(session.Commits(l.s), quote.Said.Turn)
	Stamp(n, l.from.Dir, l.redactor, l.from.Edited...)
	if n.Quarantine { // it reads like orders to an agent
		l.refused++
		return
	}
	d := ingest.Draft{
		Note: n, By: by, Here: l.from.Project, Dir: l.from.Dir, Once: true, Shown: shown,
		Beside: func(n *note.Note) *note.Sidecar {
			return learn.Relate(l.store, l.redactor, &learn.Rule{Title: n.Title}, n)
		},
	}
	if by == ingest.Order {
		d.Typed = quote.Typed()
	}
	b, err := l.ingester.Admit(l.ctx, d)
	if err != nil {
		l.fail(err)
		return
	}
	if b.Effect != ingest.Known && b.Note != nil {
		l.learnt++
		learn.LogLearnt(l.store, l.from, &b)
	}
}

// end returns how much was learnt, and what went wrong.
func (l *lessons) end() (learnt int, err error) {
	if l.refused > 0 { // the newest record of a session counts: it may be captured again
		_ = l.store.Events().Log(store.Record{Kind: store.Refused, Session: l.from.Session, Project: l.from.Project, Count: l.refused})
	}
	if err := errors.Join(l.errs...); err != nil {
		return l.learnt, fmt.Errorf("learn from session %s: %w", l.from.Session, err)
	}
	return l.learnt, nil
}

// maxEdited is how many edited files a reader's notes are looked up in.
const maxEdited = 20

// leaveToModel leaves the slice of a session to the model. A session in which nothing was
// typed since it was read, or nothing was done and one thing asked, is not read.
func (r *Recorder) leaveToModel(s *agent.Session, from learn.Origin, clean learn.Clean) error {
	st, err := r.store.Spool().ShownLog(from.Session, "").State()
	if err != nil {
		return err
	}
	if p := r.reading(s, from, clean, st.Read); p != nil {
		return r.EnqueueReading(p)
	}
	return nil
}

// EnqueueReading leaves a session to the model. It is not left again before more is typed.
func (r *Recorder) EnqueueReading(p *learn.Reading) error {
	from := &p.Origin
	if _, err := queue.Of(r.store).Enqueue(queue.Read, note.EpisodicID(from.Started, from.Harness, from.Session), p, time.Time{}); err != nil {
		return err
	}
	return r.store.Spool().ShownLog(from.Session, "").SeenTo(p.Seen)
}

// reading cuts what a model reads of a session from the first turn on that was not read; nil for
// a session that is not worth it: in all of it one sentence was typed, and no failure was cured.
func (r *Recorder) reading(s *agent.Session, from learn.Origin, clean learn.Clean, read int) *learn.Reading {
	slice := learn.SliceOf(s, clean, learn.SliceOptions{From: read})
	n := len(slice.Said)
	if n == 0 || n == 1 && read == 0 && len(slice.Fixes) == 0 && len(text.Sentences(slice.Said[0].Text)) < 2 {
		return nil
	}
	return &learn.Reading{
		Origin: from, Slice: r.redactor.Redact(slice.Text).String(), Said: slice.Said, Fixes: slice.Fixes, Commits: session.Commits(s),
		Seen: s.Number(slice.Said[len(slice.Said)-1].Turn) + 1,
	}
}

// Readings cuts what a model reads of a past session, by project; nothing of one that is not worth it,
// that is private, or of which everything was read.
func (r *Recorder) Readings(ctx context.Context, q Request) (all []*learn.Reading, err error) {
	s, err := r.read(q)
	if err != nil {
		return nil, fmt.Errorf("read session %s: %w", q.Transcript, err)
	}
	r = r.knowing(s)
	if r.private(sessionOf(q, s)) || s.Headless && len(s.Prompts()) < 2 {
		return nil, nil
	}
	for _, p := range r.parts(q, s) {
		f := r.factsOf(p.Request, p.session)
		st, err := r.store.Spool().ShownLog(p.Session, "").State()
		if err != nil {
			return nil, err
		}
		from, clean := r.origin(p.Request, &f, p.Project, p.session)
		if one := r.reading(p.session, from, clean, st.Read); one != nil {
			all = append(all, one)
		}
	}
	return all, nil
}

// origin says where a session was, and how its texts are cleaned.
func (r *Recorder) origin(q Request, f *facts, key string, s *agent.Session) (learn.Origin, learn.Clean) {
	from := learn.Origin{
		Harness: q.Harness.Name, Session: f.session(q), Project: key, Dir: f.folder(q), Machine: r.opts.MachineID, Started: f.started,
	}
	if files := s.FilesTouched(); len(files) > 0 {
		from.Edited = files[:min(len(files), maxEdited)]
	}
	return from, r.cleaner(f.folder(q))
}

// noted returns the events of a session that its records do not keep. Without them it is
// learnt from the records alone.
func (r *Recorder) noted(session string) (all []learn.Observed) {
	events, err := r.store.Spool().ShownLog(session, "").Observed()
	if err != nil {
		return nil
	}
	for _, e := range events {
		all = append(all, learn.Observed{At: e.At, Kind: learn.ObservedKind(e.Kind), Tool: e.Tool})
	}
	return all
}

// folder is where a session worked.
func (f *facts) folder(q Request) string {
	if f.dir != "" {
		return f.dir
	}
	return q.Dir
}
