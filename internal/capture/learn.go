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
)

// learn takes in what a session teaches without a reader, and leaves the rest to one. It runs in
// the background, after the hooks have left; a session that is captured again teaches nothing
// twice.
//
// Three things are taken in at once: what the user ordered to remember, what they decided for
// good about a tool, and what the agent wrote itself (agentNotes). Everything else waits: for the
// model that reads the session, where there is one, else as a candidate for a person.
func (r *Recorder) learn(ctx context.Context, q Request, s *agent.Session, f *facts, key string) (learnt int, err error) {
	if !r.opts.Learn || f.headless && len(s.Prompts()) < 2 { // a program asked one thing
		return 0, nil
	}
	from, clean := r.origin(q, f, key, s)
	var errs []error
	refused := 0
	take := func(n *note.Note, quote learn.Quote, shown string) {
		n.Commits = session.CommitAfter(session.Commits(s), quote.Said.Turn)
		Stamp(n, from.Dir, r.redactor, from.Edited...)
		if n.Quarantine { // it reads like orders to an agent
			refused++
			return
		}
		b, err := r.ingester.Admit(ctx, ingest.Draft{
			Note: n, By: ingest.Order, Here: from.Project, Dir: from.Dir, Once: true, Typed: quote.Typed(), Shown: shown,
			Beside: func(n *note.Note) *note.Sidecar {
				return learn.Relate(r.store, r.redactor, &learn.Rule{Title: n.Title}, n)
			},
		})
		if err != nil {
			errs = append(errs, err)
			return
		}
		if b.Effect != ingest.Known && b.Note != nil {
			learnt++
			learn.LogLearnt(r.store, from, &b)
		}
	}
	said := learn.SaidIn(s, clean)
	errs = append(errs, r.withdraw(ctx, s, said, from, clean))
	written, err := r.agentNotes(ctx, s, said, from)
	errs = append(errs, err)
	var taken []int // turns of which something was taken in
	for _, o := range learn.Orders(s, clean) {
		if slices.Contains(written, o.Quote.Said.Turn) {
			continue // the agent wrote it down, in better words
		}
		if o.Doubt {
			n := o.Note(from)
			n.StatusReason = "it is inside a text of several lines, which may have been pasted"
			errs = append(errs, ingest.InboxOf(r.ingester).Propose(ctx, n, note.User))
		} else {
			take(o.Note(from), o.Quote, "")
		}
		taken = append(taken, o.Quote.Said.Turn)
	}
	for _, p := range learn.Permissions(s, clean, r.noted(from.Session)...) {
		n := p.Note(from)
		take(n, p.Quote, p.Call+"\n"+n.Title) // the title says what was decided about the call
		taken = append(taken, p.Quote.Said.Turn)
	}
	errs = append(errs, r.leaveUnread(q, s, said, slices.Concat(written, taken), from, clean))
	candidates := slices.DeleteFunc(learn.Candidates(s, clean), func(c learn.Candidate) bool {
		if slices.Contains(taken, c.Quote.Said.Turn) || slices.Contains(written, c.Quote.Said.Turn) {
			return true
		}
		known, err := r.remembered(ctx, &c.Quote, from)
		errs = append(errs, err)
		return known
	})
	if refused > 0 { // the newest record of a session counts: it may be captured again
		_ = r.store.Events().Log(store.Record{Kind: store.Refused, Session: from.Session, Project: key, Count: refused})
	}
	errs = append(errs, r.leave(ctx, s, candidates, from, clean))
	if err := errors.Join(errs...); err != nil {
		return learnt, fmt.Errorf("learn from session %s: %w", from.Session, err)
	}
	return learnt, nil
}

// maxEdited is how many edited files a reader's notes are looked up in.
const maxEdited = 20

// leave leaves a session to its reader: a job for the model, and without one the candidates for
// a person. A sentence that the agent was asked to keep, and did not, has been decided.
func (r *Recorder) leave(ctx context.Context, s *agent.Session, candidates []learn.Candidate, from learn.Origin, clean learn.Clean) error {
	shown := r.store.Spool().ShownLog(from.Session, "")
	st, err := shown.State()
	if err != nil {
		return err
	}
	if r.model != nil && r.opts.Read {
		return r.enqueueReading(ctx, s, candidates, from, clean, st.Read)
	}
	declined := 0
	for i := range candidates {
		c := &candidates[i]
		if slices.Contains(st.Nudges, learn.NudgeHash(c.Quote.Words)) {
			declined++
			continue
		}
		if err := ingest.InboxOf(r.ingester).Propose(ctx, c.Draft(from), note.User); err != nil {
			return err
		}
	}
	if len(st.Nudges) > 0 {
		return r.store.Events().Log(store.Record{
			Kind: store.Nudged, Session: from.Session, Project: from.Project, Count: len(st.Nudges), Text: fmt.Sprintf("%d declined", declined),
		})
	}
	return nil
}

// enqueueReading leaves the slice of a session to the model. A session in which nothing was
// typed since it was read, or nothing was done and one thing asked, is not read.
func (r *Recorder) enqueueReading(
	ctx context.Context, s *agent.Session, candidates []learn.Candidate, from learn.Origin, clean learn.Clean, read int,
) error {
	p, err := r.reading(s, candidates, from, clean, read)
	if err != nil || p == nil {
		return err
	}
	return r.EnqueueReading(p)
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
// a session that is not worth it.
func (r *Recorder) reading(
	s *agent.Session, candidates []learn.Candidate, from learn.Origin, clean learn.Clean, read int,
) (*learn.Reading, error) {
	slice := learn.SliceOf(s, clean, learn.SliceOptions{From: read})
	asked := slices.ContainsFunc(slice.Said, func(w learn.Said) bool { return w.Did != "" })
	if len(slice.Said) == 0 || len(candidates) == 0 && !asked {
		return nil, nil
	}
	return &learn.Reading{
		Origin: from, Slice: r.redactor.Redact(slice.Text).String(), Said: slice.Said, Fixes: slice.Fixes, Commits: session.Commits(s),
		Seen: s.Number(slice.Said[len(slice.Said)-1].Turn) + 1,
	}, nil
}

// Reading cuts what a model reads of a past session; nil for one that is not worth it, that is
// private, or of which everything was read.
func (r *Recorder) Reading(ctx context.Context, q Request) (*learn.Reading, error) {
	s, err := r.read(q)
	if err != nil {
		return nil, fmt.Errorf("read session %s: %w", q.Transcript, err)
	}
	r = r.knowing(s)
	f := r.factsOf(q, s)
	if r.private(f.session(q)) || f.headless && len(s.Prompts()) < 2 {
		return nil, nil
	}
	st, err := r.store.Spool().ShownLog(f.session(q), "").State()
	if err != nil {
		return nil, err
	}
	from, clean := r.origin(q, &f, r.project(q, f.dir), s)
	return r.reading(s, learn.Candidates(s, clean), from, clean, st.Read)
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
