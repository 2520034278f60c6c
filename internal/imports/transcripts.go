package imports

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/capture"
	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/store/project"
)

// TranscriptOptions choose among past sessions.
type TranscriptOptions struct {
	Agent   string    // only of this agent; "" means all
	Agents  []string  // only of these; nil means all
	Project string    // only of this project; "" means all
	Since   time.Time // only sessions that ended then or later; zero means all
	Until   time.Time // only sessions whose file was not written since; zero means all
	Folder  string    // in which the sessions are looked for that tools keep in projects
	Known   bool      // Plan.Sessions returns those that are notes already, too
}

// notWorth says why a session is no note.
const notWorth = "it is not worth a note"

// Transcripts plans the capture of the sessions that are on this machine and
// are no notes yet, the newest first. It looks at the ends of each file only.
func (im *Importer) Transcripts(ctx context.Context, o TranscriptOptions) (*Plan, error) {
	snap, err := im.look(ctx)
	if err != nil {
		return nil, fmt.Errorf("plan the import of sessions: %w", err)
	}
	p := &Plan{From: FromTranscripts, Items: []Item{}}
	var all []past
	for _, h := range agent.All {
		if h.Sessions == nil || o.Agent != "" && o.Agent != h.Name || o.Agents != nil && !slices.Contains(o.Agents, h.Name) {
			continue
		}
		sessions, err := im.past(ctx, h, o, snap, p)
		if err != nil {
			return nil, err
		}
		all = append(all, sessions...)
	}
	more, err := im.inProject(ctx, o, snap, p)
	if err != nil {
		p.Discard()
		return nil, err
	}
	all = append(all, more...)
	slices.SortStableFunc(all, func(a, b past) int {
		return cmp.Or(b.ended.Compare(a.ended), cmp.Compare(a.item.Source, b.item.Source))
	})
	for i := range all {
		p.Items = append(p.Items, all[i].item)
	}
	return p, nil
}

// Sessions returns the sessions of a plan of past ones that can be read.
func (p *Plan) Sessions() (all []capture.Request) {
	for i := range p.Items {
		if q := p.Items[i].session; q != nil {
			all = append(all, *q)
		}
	}
	return all
}

// An AgentSessions is how many sessions of an agent a plan takes in.
type AgentSessions struct {
	Title    string // of the agent
	Sessions int
	Bytes    int64
}

// ByAgent counts the sessions that a plan takes in by the agent that had them.
func (p *Plan) ByAgent() (all []AgentSessions) {
	for i := range p.Items {
		it := &p.Items[i]
		if it.session == nil || !it.acts() {
			continue
		}
		at := slices.IndexFunc(all, func(a AgentSessions) bool { return a.Title == it.session.Harness.Title })
		if at < 0 {
			at, all = len(all), append(all, AgentSessions{Title: it.session.Harness.Title})
		}
		all[at].Sessions++
		all[at].Bytes += it.Bytes
	}
	return all
}

// A past session.
type past struct {
	item  Item
	ended time.Time
}

// past looks at the sessions of one agent.
func (im *Importer) past(ctx context.Context, h *agent.Harness, o TranscriptOptions, snap *snapshot, p *Plan) ([]past, error) {
	t, err := openTree(im.opts.Homes.Agents[h.Name])
	if err != nil {
		p.problem(err)
	}
	if t == nil {
		return nil, nil
	}
	defer t.close()
	reader := sessionReader{im: im, tree: t, harness: h, place: newPlacer(im.store, h, t), snap: snap, options: o}
	var all []past
	for _, pattern := range h.Sessions.SessionFiles() {
		for _, f := range t.match(ctx, pattern) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			p.files++
			all = append(all, reader.file(f)...)
		}
	}
	p.files -= reader.others
	return all, nil
}

// A sessionReader plans what becomes of the sessions of one agent.
type sessionReader struct {
	im      *Importer
	tree    *tree
	harness *agent.Harness
	place   *placer
	snap    *snapshot
	options TranscriptOptions
	others  int // files that are no session
}

// file plans what becomes of the sessions in one file; none were not asked for.
func (r *sessionReader) file(f found) []past {
	s := past{item: Item{Source: r.harness.Name + ":" + f.name, Type: note.Episodic}}
	it := &s.item
	if f.err != nil {
		it.Action, it.Why = Refused, f.err.Error()
		return []past{s}
	}
	it.Bytes, s.ended = f.info.Size(), f.info.ModTime()
	if !r.options.Until.IsZero() && s.ended.After(r.options.Until) {
		return nil
	}
	if s.ended.Before(r.options.Since) { // a session ends before its file does
		return nil
	}
	ids, err := r.tree.sessionsIn(r.harness.Sessions, f.name)
	switch {
	case err != nil:
		it.Action, it.Why = Refused, err.Error()
		return []past{s}
	case len(ids) == 0: // of a sub-agent: its session has it
		r.others++
		return nil
	}
	if ids[0] != "" { // one file holds them all
		it.Bytes /= int64(len(ids))
	}
	var all []past
	for _, id := range ids {
		if one, ok := r.session(f, id, s); ok {
			all = append(all, one)
		}
	}
	return all
}

// session plans what becomes of one session of a file, of which s says what is
// known. It reports false for what was not asked for.
func (r *sessionReader) session(f found, id string, s past) (past, bool) {
	h, snap, o := r.harness, r.snap, r.options
	it := &s.item
	if id != "" {
		it.Source += "#" + id
	}
	g, err := r.tree.peek(h.Sessions, f.name, id)
	if err != nil {
		it.Action, it.Why = Refused, err.Error()
		return s, true
	}
	if !g.Ended.IsZero() {
		s.ended = g.Ended
	}
	dir, noted := g.Dir, ""
	if dir == "" {
		noted = r.place.noted(f.name)
		dir = noted
	}
	if dir != "" {
		it.Project = r.place.dir(dir)
	} else {
		it.Project = r.place.file(f.name)
	}
	if s.ended.Before(o.Since) || o.Project != "" && it.Project != project.Canonical(r.im.store, o.Project) {
		return s, false
	}
	session := id
	if session == "" {
		session = sessionID(r.tree, g, f)
	}
	it.ID = note.EpisodicID(g.Started, h.Name, session)
	title, worth, keep := r.im.recorder.Judge(g)
	it.Title = line(title, 80)
	if it.Action, it.Why = snap.session(it.ID, it.Bytes); it.Action == Adds && !worth {
		it.Action, it.Why = Skipped, notWorth
	}
	if it.Action == Skipped && it.Why == notWorth {
		it.Unreadable = r.tree.unreadable(h.Sessions, f.name, id)
	}
	if other, twice := snap.taken[it.ID]; twice && it.Action == Adds {
		it.Action, it.Why = Skipped, "it is the session of "+other
	}
	noNote := it.Action == Unchanged || it.Action == Skipped && it.Why == notWorth
	if keep && noNote && !snap.forgotten(it.ID, nil) && r.im.recorder.Unkept(h.Name, session, s.ended) {
		it.Action, it.Why = Keeps, ""
	}
	if it.Action == Adds || it.Action == Keeps || o.Known && it.Action == Unchanged {
		snap.taken[it.ID] = it.Source
		it.session = &capture.Request{
			Harness: h, Transcript: filepath.Join(r.tree.dir, filepath.FromSlash(f.name)), Session: session,
			Source: capture.PastSource, Project: it.Project, Dir: noted,
		}
		if dir != "" {
			it.session.Project = "" // capture asks the same function, and knows aliases made since
		}
	}
	return s, true
}

// maxCounted is how much of a session is read to count the lines that cannot be read, in bytes: it is one of which
// nothing is made.
const maxCounted = 64 << 20

// unreadable counts the lines of a session that cannot be read.
func (t *tree) unreadable(sessions agent.SessionSource, name, id string) int {
	f, err := t.open(name)
	if err != nil {
		return 0 // whoever looked at it before says so
	}
	defer f.Close()
	records, err := sessions.Open(f, id)
	if err != nil {
		return 0 // likewise
	}
	s, _ := sessions.ReadSession(records, agent.Limits{Bytes: maxCounted})
	return s.Skipped.Unreadable()
}

// session decides about a session by the id of its note.
func (s *snapshot) session(id note.ID, size int64) (Action, string) {
	if _, ok := s.paths[id]; ok {
		return Unchanged, "it is a note already"
	}
	if s.forgotten(id, nil) {
		return Skipped, "it was forgotten here"
	}
	switch e := s.ledger.Entries[id]; {
	case e.State == stateTrivial && e.Size == size:
		return Skipped, notWorth
	case e.State == stateTrivial:
		return Adds, ""
	case e.As != "":
		return s.session(e.As, size)
	}
	if s.gone(id) {
		return Skipped, "its note was deleted here"
	}
	return Adds, ""
}

// sessionID returns the id that capture gives a session: the file's name where
// a record bears it, because a resumed session's file begins with records of
// the one before, else the first in the file.
func sessionID(t *tree, g *agent.PeekResult, f found) string {
	stem := agent.FileStem(f.name)
	if g.ID == "" || g.ID == stem || t.bears(f, stem) {
		return stem
	}
	return g.ID
}

// bears reports whether the head or the tail of a file holds a name in quotes.
func (t *tree) bears(f found, name string) bool {
	file, err := t.open(f.name)
	if err != nil {
		return false
	}
	defer file.Close()
	const part = 256 << 10
	buf := make([]byte, part)
	for _, from := range []int64{0, max(0, f.info.Size()-part)} {
		n, err := file.ReadAt(buf, from)
		if (err == nil || err == io.EOF) && bytes.Contains(buf[:n], []byte(`"`+name+`"`)) {
			return true
		}
	}
	return false
}

// readers is how many sessions are read at once. One more than the disk and the
// store's lock keep busy brings nothing.
const readers = 2

// sessions captures the sessions of a plan.
func (r *run) sessions(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	work := make(chan *Done)
	var mu sync.Mutex // guards the run, and with it the report
	var wait sync.WaitGroup
	for range readers {
		wait.Go(func() {
			for it := range work {
				if it.Action == Keeps {
					kept, skipped, err := r.im.recorder.Keep(ctx, *it.session)
					mu.Lock()
					it.Unreadable = skipped.Unreadable()
					r.kept(it, kept, err)
					mu.Unlock()
					continue
				}
				c, err := r.im.recorder.Capture(ctx, *it.session)
				mu.Lock()
				it.Unreadable = c.Skipped.Unreadable()
				if err := r.captured(it, c, err, ctx.Err()); err != nil {
					stop(err)
				}
				mu.Unlock()
			}
		})
	}
feed:
	for i := range r.report.Items {
		it := &r.report.Items[i]
		if !it.acts() {
			continue
		}
		select {
		case work <- it:
		case <-ctx.Done():
			break feed
		}
	}
	close(work)
	wait.Wait()
	return context.Cause(ctx)
}

// kept writes down that a session was kept word for word.
func (r *run) kept(it *Done, kept bool, err error) {
	switch it.Outcome = Trivial; {
	case err != nil:
		it.Outcome, it.Why = Failed, err.Error()
	case kept:
		it.Outcome = Kept
	}
	r.step(it.Bytes)
}

// captured writes down what became of a session. The error stops the run.
func (r *run) captured(it *Done, c capture.Capture, err, stopped error) error {
	switch {
	case err != nil && (stopped != nil || stops(err)):
		return err
	case err != nil:
		it.Outcome, it.Why = Failed, err.Error()
		r.step(it.Bytes)
		return nil
	}
	defer r.step(it.Bytes)
	if it.Project = c.Project; c.Trivial {
		it.Outcome = Trivial
		return r.note(it.ID, entry{State: stateTrivial, Size: it.Bytes})
	}
	out, planned := c.Outcome, it.ID
	if it.Why = out.Why; out.Note != nil {
		it.ID, it.Title = out.Note.ID, out.Note.Title
	}
	e := entry{Batch: r.ledger.Entries[planned].Batch}
	switch out.Result {
	case ingest.Dropped:
		it.Outcome = Dropped
		return nil
	case ingest.Held:
		it.Outcome, e.State = Held, stateHeld
	case ingest.Created:
		it.Outcome, e.Batch = Created, r.report.Batch
	case ingest.Updated:
		it.Outcome = Updated
	default:
		it.Outcome = Known
	}
	if it.ID != planned { // the peek saw another start or id than the whole reading
		if err := r.note(planned, entry{As: it.ID}); err != nil {
			return err
		}
	}
	return r.note(it.ID, e)
}
