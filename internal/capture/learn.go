package capture

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"anamnesis/internal/agent"
	"anamnesis/internal/ingest"
	"anamnesis/internal/lesson"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// LearningTag marks the notes of what sessions taught.
const LearningTag = "learning"

// learn takes in what a session teaches. It runs in the background, after the hooks
// have left; a session that is captured again teaches nothing twice.
func (r *Recorder) learn(ctx context.Context, q Request, s *agent.Session, f *facts, key string) (learnt int, err error) {
	if !r.opts.Learn || f.headless && len(s.Prompts()) < 2 { // a program asked one thing
		return 0, nil
	}
	places := placesOf(f.folder(q), r.store.Home())
	clean := func(text string) string { return places.short(r.redactor.Redact(text).String()) }
	var errs []error
	commits := lesson.Commits(s)
	lessons, refused := lesson.Sift(s, clean, r.noted(f.session(q))...)
	if refused > 0 { // the newest record of a session counts: it may be captured again
		_ = r.store.Events().Log(store.Record{Kind: store.Refused, Session: f.session(q), Project: key, Count: refused})
	}
	for _, l := range lessons {
		n := r.learning(q, f, key, &l)
		n.Commits = commitOf(commits, l.Window.To)
		b, err := ingest.BeliefsOf(r.ingester).Learn(ctx, ingest.Learning{
			Note: n, Turned: l.Now, Again: l.Again, Except: l.Except, Dir: f.folder(q),
			Beside: func(n *note.Note) *note.Sidecar { return r.relate(&l, n) },
		})
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if b.Bearing == ingest.Known {
			continue
		}
		learnt++
		r.unrefined(s, &l, &b)
		rec := store.Record{Kind: store.Learnt, Session: f.session(q), Project: key, Notes: []note.ID{n.ID}, Text: string(b.Bearing)}
		if b.Of != "" {
			rec.Notes = append(rec.Notes, b.Of)
		}
		_ = r.store.Events().Log(rec)
	}
	if err := errors.Join(errs...); err != nil {
		return learnt, fmt.Errorf("learn from session %s: %w", f.session(q), err)
	}
	return learnt, nil
}

// noted returns the events of a session that its records do not keep. Without them it is
// learnt from the records alone.
func (r *Recorder) noted(session string) (all []lesson.Noted) {
	events, err := r.store.Spool().Told(session, "").Noted()
	if err != nil {
		return nil
	}
	for _, e := range events {
		all = append(all, lesson.Noted{At: e.At, Kind: lesson.NotedKind(e.Kind), Tool: e.Tool})
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

// learning makes the note of a lesson.
func (r *Recorder) learning(q Request, f *facts, key string, l *lesson.Lesson) *note.Note {
	session := f.session(q)
	n := &note.Note{
		ID: note.LearningID(l.Window.At, l.Window.Hash), Type: note.Semantic, Title: l.Title, Body: lessonBody(l),
		Project: key, MachineID: r.opts.MachineID, Scope: note.Portable,
		Provenance: note.Provenance{Source: note.Learning, Confidence: l.Confidence, Session: session},
		Category:   l.Category, LearningType: string(l.Kind), Rule: l.Rule, HowToApply: l.Apply, Anchors: l.Anchors,
		Evidence: []note.Evidence{{
			Session: q.Harness.Name + "/" + session, Chunk: l.Window.Hash, Quote: note.CutRunes(l.Window.Quote, note.MaxQuote),
		}},
		ProofCount: 1,
	}
	if l.Kind == lesson.Fix || l.Kind == lesson.Decision {
		n.Type = note.Procedural
	}
	if !l.Window.At.IsZero() {
		n.CreatedAt = note.At(l.Window.At)
		n.UpdatedAt = n.CreatedAt
	}
	n.AddTags(LearningTag)
	if r.opts.Stamp {
		Stamp(n, f.folder(q), r.redactor)
	}
	return n
}

// lessonBody writes a lesson for its readers.
func lessonBody(l *lesson.Lesson) string {
	var b strings.Builder
	if strings.TrimRight(l.Rule, ".。") != strings.TrimRight(l.Title, ".。…") {
		fmt.Fprintf(&b, "%s\n\n", l.Rule)
	}
	fmt.Fprintf(&b, "**Why:** %s\n", l.Why)
	if l.Apply != "" {
		fmt.Fprintf(&b, "**Said:** %s\n", l.Apply)
	}
	if l.Policy != "" {
		fmt.Fprintf(&b, "**Policy:** a line of policy-rules.jsonl that would hold it: `%s`\n", l.Policy)
	}
	return strings.TrimRight(b.String(), "\n")
}
