package capture

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/ingest"
	"anamnesis/internal/learn"
	"anamnesis/internal/llm"
	"anamnesis/internal/note"
	"anamnesis/internal/session"
	"anamnesis/internal/store"
	"anamnesis/internal/store/tombstone"
)

// Keeping returns a Recorder that keeps the sessions it reads word for word, too.
func (r *Recorder) Keeping(k *session.Kept) *Recorder {
	with := *r
	with.kept = k
	return &with
}

// keeps reports whether sessions are kept word for word.
func (r *Recorder) keeps() bool { return r.kept != nil && r.kept.On() }

// Unkept reports whether a session is to be kept word for word and is not yet. id is the one that its
// client gave it, ended when it ended.
func (r *Recorder) Unkept(harness, id string, ended time.Time) bool {
	return r.keeps() && r.kept.Within(ended) && !r.private(id) && !r.kept.Has(harness, id) &&
		!r.kept.Has(harness, agent.PartID(id, 2)) // of one that moved before anything was asked
}

// Keep keeps a session word for word and makes no note of it: one that is a note already, or that is
// not worth one. It reports false for one in which nothing was asked or done.
func (r *Recorder) Keep(ctx context.Context, q Request) (kept bool, skipped agent.Skipped, err error) {
	s, err := r.read(q)
	if err != nil {
		return false, skipped, fmt.Errorf("keep %s: %w", q.Transcript, err)
	}
	r = r.knowing(s)
	id := sessionOf(q, s)
	if r.private(id) {
		return false, s.Skipped, nil
	}
	r.logDamage(q, s, id)
	for _, p := range r.parts(q, s) {
		f := r.factsOf(p.Request, p.session)
		if r.opts.Learn {
			from, clean := r.origin(p.Request, &f, p.Project, p.session)
			err = errors.Join(err, r.leaveUnread(p.Request, p.session, learn.SaidIn(p.session, clean), nil, from, clean))
		}
		err = errors.Join(err, r.keep(ctx, p.Request, p.session, &f, p.Project))
		kept = kept || r.keeps() && r.kept.Has(q.Harness.Name, p.Session)
	}
	return kept, s.Skipped, err
}

// keepable reports whether a session is kept word for word: anything was asked or done in it. What a
// program asked once is not kept, unless such sessions are.
func (r *Recorder) keepable(f *facts) bool {
	return r.keeps() && !llm.Ours(f.dir) && !(f.headless && r.trivial(f)) && (f.real() || f.tools())
}

// forgotten reports whether the note of a session was forgotten, here or on another machine.
func (r *Recorder) forgotten(id note.ID) bool {
	for _, scope := range []note.Scope{note.Portable, note.Local} {
		data, err := r.store.ReadFile(tombstone.Path(scope, id), tombstone.MaxSize)
		if t, ok := tombstone.Parse(data); err == nil && ok && len(tombstone.InForce([]tombstone.Tombstone{t})) > 0 {
			return true
		}
	}
	return false
}

// absolute is a path that means the same in any folder, "" when it is unknown.
func absolute(name string) string {
	name, err := filepath.Abs(name)
	if err != nil {
		return ""
	}
	return name
}

// withKept adds to the facts of a session what only an earlier reading of it has, and takes out what was forgotten: the note of
// a session whose transcript got shorter is the same note, and tells all of it.
func (r *Recorder) withKept(q Request, f *facts) {
	if !r.keeps() {
		return
	}
	began, all, err := r.kept.Whole(session.Head{Agent: q.Harness.Name, Session: f.session(q)}, f.kept, r.cleaner(f.folder(q)))
	if err != nil {
		return // keep says why
	}
	f.kept, f.exchanges = all, session.InForce(all)
	if !began.IsZero() && began.Before(f.started) {
		f.started = began
	}
}

// keep keeps a session word for word, with what its sub-agents found.
func (r *Recorder) keep(ctx context.Context, q Request, s *agent.Session, f *facts, project string) error {
	if !r.keepable(f) || r.forgotten(note.EpisodicID(f.started, q.Harness.Name, f.session(q))) {
		return nil
	}
	title, _ := f.titled()
	return r.kept.Put(ctx, session.Head{
		Session: f.session(q), Agent: q.Harness.Name, Project: project, Dir: f.folder(q), Branch: f.cleanBranch,
		Title: title, Program: f.headless, Started: f.started, Ended: f.ended, Undated: f.undated, Transcript: absolute(stored(q)),
	}, r.reports(q, s, f), r.cleaner(f.folder(q)))
}

// Redraft makes the note of a session again of what is left of it, after some of it was forgotten, and erases what it said before.
// The error is ingest.ErrChanged when a person or a model wrote the note.
func (r *Recorder) Redraft(ctx context.Context, h session.Head, left []session.Exchange) error {
	f := facts{
		id: h.Session, dir: h.Dir, started: h.Started, ended: h.Ended, headless: h.Program,
		kept: left, exchanges: session.InForce(session.Talk(left, "")),
	}
	for i := range f.exchanges {
		for _, s := range f.exchanges[i].Steps {
			if s.File != "" && !slices.Contains(f.files, s.File) {
				f.files = append(f.files, s.File)
			}
		}
	}
	id := note.EpisodicID(h.Started, h.Agent, h.Session)
	n, _, err := store.Get(r.store, id)
	if err != nil {
		return err
	}
	title, body := summarize(&f)
	if title != n.Title || body != n.Body {
		_, err = r.ingester.Summarise(ctx, id, n.ImportHash, ingest.Summary{Title: title, Body: body})
	}
	if err != nil {
		return err
	}
	return ingest.EraseFormer(ctx, r.ingester, id)
}
