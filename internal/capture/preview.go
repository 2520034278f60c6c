package capture

import (
	"errors"
	"io/fs"
	"slices"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
	"anamnesis/internal/store/queue"
	"anamnesis/internal/store/tombstone"
)

// Preview makes the notes of the sessions of a project that wait in the queue, without writing
// them: the session that starts after /clear is shown the one before,
// although no hook waits for a disk. It looks at the head and the tail of each
// transcript and stops at the deadline; what it does not get to, the drain does.
// It shows nothing that the drain would not write: of a session that was
// forgotten, archived or edited there is no preview.
func (r *Recorder) Preview(projects []string, deadline time.Time) []*note.Note {
	jobs, err := queue.Jobs[Job](queue.Of(r.store), queue.Capture)
	if err != nil {
		return nil
	}
	var notes []*note.Note
	past := decided{store: r.store}
	groups := bySession(jobs)
	slices.Reverse(groups) // the newest session first
	for _, g := range groups {
		j := g[len(g)-1].Payload
		h := harness(j)
		if h == nil || !slices.Contains(projects, j.Project) || time.Now().After(deadline) {
			continue
		}
		if n := r.preview(j, h, deadline); n != nil && past.allows(n) {
			notes = append(notes, n)
		}
	}
	return notes
}

// private reports whether nothing of a session may be kept. Where that cannot be known,
// it may not.
func (r *Recorder) private(session string) bool {
	quiet, err := r.store.Spool().Quiet()
	return err != nil || slices.Contains(quiet.Private, session)
}

func (r *Recorder) preview(j Job, h *agent.Harness, deadline time.Time) *note.Note {
	q := requestOf(j, h)
	records, done, err := open(q)
	if err != nil {
		return nil
	}
	defer done()
	seen, err := h.Sessions.Peek(records, records.Size(), 0, 0, deadline)
	if err != nil {
		return nil
	}
	if seen.Ended.IsZero() {
		seen.Ended = written(q)
	}
	if len(seen.Moved) > 0 && r.elsewhere(seen, j.Project) {
		return nil // the drain divides it
	}
	facts := r.peekFacts(seen)
	if r.trivial(&facts) || r.private(facts.session(q)) || r.keeps() && facts.answered() {
		return nil
	}
	n := r.draft(q, facts, j.Project)
	if n.Quarantine {
		return nil
	}
	return n
}

// Judge says of a session that was peeked at what the title of its note would be,
// whether it is worth one, and whether it is kept word for word: what Capture finds, as far as the
// peek saw.
func (r *Recorder) Judge(g *agent.PeekResult) (title string, worth, keep bool) {
	f := r.peekFacts(g)
	title, _ = f.titled()
	worth = !g.Complete || !r.trivial(&f) && !(r.keeps() && f.answered())
	return title, worth, !g.Complete || r.keepable(&f)
}

// decided knows what was decided about sessions before. The tombstones are read
// for the first preview that needs them.
type decided struct {
	store  *store.Store
	read   bool
	stones []tombstone.Tombstone
	failed bool
}

// allows reports whether a preview may take the place of its note, or come
// before it: a note that is there has to be live and as the machine wrote it.
func (d *decided) allows(n *note.Note) bool {
	for _, scope := range []note.Scope{note.Portable, note.Local} {
		was, _, _, err := d.store.Read(store.NotePath(scope, note.Episodic, n.ID))
		switch {
		case err == nil:
			return !was.Decided() && was.Live(d.store.Now()) && was.ImportHash == ingest.SummaryHash(was.Title, was.Body)
		case !errors.Is(err, fs.ErrNotExist):
			return false // what stands there cannot be read, and somebody may have changed it
		}
	}
	if !d.read {
		var err error
		d.stones, err = tombstone.Refusing(d.store, note.Local)
		d.read, d.failed = true, err != nil
	}
	_, forgotten := tombstone.Match(d.stones, n)
	return !d.failed && !forgotten
}
