// Package capture turns sessions into drafts: it decides whether a session is
// worth a note, summarises it, and hands the draft to ingest.
//
// One session is one note, however often it is captured: the note's id is made
// from the session's start and id, so capturing again updates it.
//
// Failure policy: capture falls back, it never breaks a session's teardown. A
// transcript that cannot be read is a session without content; a summary of a
// model that fails, whatever the reason, is replaced by the heuristic one. A later
// drain asks again, three times at most, and leaves what anybody touched since.
package capture

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"anamnesis/internal/agent"
	"anamnesis/internal/ingest"
	"anamnesis/internal/llm"
	"anamnesis/internal/note"
	"anamnesis/internal/redact"
	"anamnesis/internal/session"
	"anamnesis/internal/store"
	"anamnesis/internal/store/project"
)

// Options are the settings of capture.
type Options struct {
	MachineID string
	Idle      int    // seconds of silence after which a session counts as ended, 0 for never (Sweep)
	Headless  bool   // keep a session in which a program asked one short thing
	Slots     bool   // keep what sessions leave open, fail at and edit in slots
	FollowUp  bool   // work out what became of the notes that a session was shown
	Directive string // what a model that writes a summary is shown besides, "" for nothing
	Learn     bool   // keep what a session teaches as notes of their own
	Summary   bool   // let the model write the summary, when there is one (Recorder.WithModel)
	Nudge     bool   // ask the agent to keep what the user lays down
	Read      bool   // let the model read sessions for what they teach, when there is one
	MaxTokens int    // of the prompt of a summary; four bytes count as one, and 0 means 120000
}

// A Recorder captures sessions.
type Recorder struct {
	store    *store.Store
	ingester *ingest.Ingester
	redactor *redact.Redactor
	model    llm.Generator // nil: the heuristic writes the summaries
	reverts  Reverts       // nil: no repository is asked
	kept     *session.Kept // nil: no session is kept word for word
	opts     Options
}

// New returns a Recorder.
func New(s *store.Store, g *ingest.Ingester, r *redact.Redactor, o Options) *Recorder {
	return &Recorder{store: s, ingester: g, redactor: r, opts: o}
}

// A Request says which session to capture.
type Request struct {
	Harness    *agent.Harness
	Transcript string // path of the session file
	Offset     int64  // read no further than this; 0 means to the end
	Session    string // the id the hook named; "" means the one in the file
	Dir        string // where the session worked, if the file does not say
	Project    string // of Dir, or where that is "" of the folder in which the session began; "" to look it up
	Whole      bool   // all of the session belongs to Project, wherever it worked
	Source     string // session-end, precompact, …; a tag of the note
	Tags       []string
	Commits    []session.CommitAt // that others say were made of the session
	History    bool               // a repository keeps it: who typed in it is not known

	// Of a part of a session (Recorder.parts).
	client string                // the session's own id
	asked  *Request              // of the whole session
	inPart func(dir string) bool // whether a sub-agent that worked in a folder belongs to the part; nil when there is one part
}

// A Capture is what became of a session.
type Capture struct {
	Project  string
	Dir      string // in which the session worked, "" when nobody knows
	Source   string
	Trivial  bool // not worth a note
	Learnt   int  // lessons that were new, or confirmed one that stands
	Declined bool // the model says that it is not worth one
	Skipped  agent.Skipped
	Also     []Capture      // what became of the parts of the session in other projects
	Kept     error          // why it could not be kept word for word
	Fallback error          // why the heuristic wrote the summary, when a model should have
	Outcome  ingest.Outcome // when neither trivial nor declined
}

// Projects returns the projects in which a session was.
func (c *Capture) Projects() []string {
	all := []string{c.Project}
	for i := range c.Also {
		all = append(all, c.Also[i].Project)
	}
	return all
}

// errNoTranscript says that there is no such session file, and that waiting will not bring it.
var errNoTranscript = errors.New("no such transcript")

// errAbsent is the usual case: nobody wrote a file.
var errAbsent = fmt.Errorf("%w; check the path", errNoTranscript)

// Capture reads one session and takes it in.
func (r *Recorder) Capture(ctx context.Context, q Request) (Capture, error) {
	if ofSubagent(q) { // an event inside of one names its file
		return Capture{Source: q.Source, Trivial: true}, nil
	}
	s, err := r.read(q)
	if err != nil {
		return Capture{}, fmt.Errorf("capture %s: %w", q.Transcript, err)
	}
	r = r.knowing(s)
	id := sessionOf(q, s)
	r.logDamage(q, s, id)
	parts := r.parts(q, s)
	c := Capture{Project: parts[0].Project, Dir: cmp.Or(s.Dir, q.Dir), Source: q.Source, Skipped: s.Skipped}
	if r.private(id) {
		c.Trivial = true
		return c, r.skipped(q.Session, c.Project, "private", s)
	}
	if llm.Ours(c.Dir) { // what we asked comes back as a session of an agent that keeps all
		c.Trivial = true
		return c, r.skipped(q.Session, "", "trivial", s)
	}
	if !s.Headless {
		_ = r.followUp(id, c.Project, s) // a later capture finds it again
	}
	var names []string
	for _, p := range parts {
		names = append(names, project.Names(r.store, project.Identity{Key: p.Project})...)
	}
	_ = r.ended(q, s, id, names) // without it the session is handed out once more
	for i, p := range parts {
		got, err := r.capturePart(ctx, p.Request, p.session)
		if i == 0 {
			c = got
		} else {
			c.Also = append(c.Also, got)
		}
		if err != nil {
			return c, err
		}
	}
	return c, nil
}

// skipped records that no note was made of a session, and why.
func (r *Recorder) skipped(id, project, why string, s *agent.Session) error {
	return r.store.Events().Log(store.Record{Kind: store.Captured, Session: id, Project: project, Text: why, Read: s.Next})
}

// capturePart takes in what a session was in one project.
func (r *Recorder) capturePart(ctx context.Context, q Request, s *agent.Session) (c Capture, err error) {
	facts := r.factsOf(q, s)
	r.withKept(q, &facts)
	c = Capture{Project: q.Project, Dir: facts.folder(q), Source: q.Source, Skipped: s.Skipped}
	if q.Source == note.SessionEnd && facts.asked() {
		// A person who was shown a handoff and went on working has taken it over. If
		// that cannot be written now, the next session is shown once more.
		_ = r.ingester.AcknowledgeHandoffs(ctx, q.client, project.Names(r.store, project.Identity{Key: c.Project}))
		_ = r.slots(ctx, q, s, &facts, c.Project) // likewise
	}
	defer func() { _ = r.undo(ctx, q, s, &facts, c.Project) }() // a later capture finds it again
	switch c.Learnt, err = r.learn(ctx, q, s, &facts, c.Project); {
	case errors.Is(err, store.ErrLocked):
		return c, err // a later drain learns the rest; what is learnt stays
	case err != nil:
		_ = r.store.Events().Log(store.Record{Kind: store.Learnt, Session: q.Session, Project: c.Project, Error: err.Error()})
	}
	c.Kept = r.keep(ctx, q, s, &facts, c.Project)
	if r.trivial(&facts) || c.Learnt == 0 && r.keeps() && facts.answered() {
		c.Trivial = true
		return c, r.skipped(q.Session, c.Project, "trivial", s)
	}
	n := r.draft(q, facts, c.Project)
	if r.asked() && !r.summarise(ctx, q, s, &facts, n, &c) { // a note that an earlier capture of the session made stays
		c.Declined = true
		return c, r.skipped(n.Provenance.Session, c.Project, "declined", s)
	}
	c.Outcome, err = r.ingester.Admit(ctx, ingest.Draft{
		Note: n, By: ingest.Model, Here: c.Project, Account: true, Reason: store.Capture, Dir: facts.folder(q),
	})
	if err != nil {
		return c, fmt.Errorf("capture %s: %w", q.Transcript, err)
	}
	rec := store.Record{
		Kind: store.Captured, Session: n.Provenance.Session, Project: c.Project,
		Notes: []note.ID{n.ID}, Text: c.Outcome.Result.String(), In: tokensOf(s), Read: s.Next,
	}
	switch {
	case c.Fallback != nil:
		rec.Error = "summary: " + c.Fallback.Error()
	case c.Kept != nil:
		rec.Error = c.Kept.Error()
	}
	_ = r.store.Events().Log(rec)
	r.scheduleRetry(c, q)
	return c, nil
}

// logDamage records for doctor that lines of a session could not be read. Where the agent may still write, a half
// last line is none of them.
func (r *Recorder) logDamage(q Request, s *agent.Session, id string) {
	count := s.Skipped.Bad()
	if q.Offset == 0 || q.Source == idleSource {
		count = s.Skipped.Unreadable()
	}
	if count > 0 && !r.private(id) {
		_ = r.store.Events().Log(store.Record{Kind: store.Damaged, Session: id, Text: q.Transcript, Count: count}) // the session counts
	}
}

// summarise lets the model write the note of a session. It reports false when the model would not keep it.
func (r *Recorder) summarise(ctx context.Context, q Request, s *agent.Session, f *facts, n *note.Note, c *Capture) bool {
	sum, err := r.ask(ctx, s)
	if err == nil && !sum.skips() {
		if ids := ingest.InventedCommits(ctx, r.ingester, f.folder(q), sum.Title+"\n"+sum.Body); ids != nil {
			err = fmt.Errorf("it names commits that are not in the repository: %s", strings.Join(ids, ", "))
		}
	}
	switch {
	case err != nil:
		c.Fallback = err
	case sum.skips():
		return false
	default:
		n.Title, n.Body, n.Provenance.Model = sum.Title, sum.Body, r.model.Name()
		n.ImportHash = ingest.SummaryHash(n.Title, n.Body)
	}
	return true
}

// tokensOf estimates what the session cost the one who reads it whole: a quarter of the
// characters of what was said, asked of tools and answered by them.
func tokensOf(s *agent.Session) int {
	n := 0
	for i := range s.Turns {
		t := &s.Turns[i]
		n += utf8.RuneCountInString(t.Text)
		for j := range t.Tools {
			n += utf8.RuneCountInString(t.Tools[j].Result) + utf8.RuneCount(t.Tools[j].Input)
		}
	}
	return (n + 3) / 4
}

// read reads a session file as far as the request says.
func (r *Recorder) read(q Request) (*agent.Session, error) {
	s, err := readAll(q)
	if err == nil {
		dropForkedTurns(q, s)
		session.Own{Store: r.store.Root(), Home: r.store.Home()}.SetAside(s)
	}
	return s, err
}

// readAll is read with what a fork copied.
func readAll(q Request) (*agent.Session, error) {
	records, done, err := open(q)
	if err != nil {
		return nil, err
	}
	defer done()
	s, err := q.Harness.Sessions.ReadSession(records, agent.Limits{})
	if s.Ended.IsZero() {
		s.Ended, s.Undated = written(q), true
	}
	return s, err
}

// written is when the file of a session was written, which counts where no record says when it was: it was not later
// than now.
func written(q Request) time.Time {
	fi, err := os.Stat(stored(q))
	if err != nil {
		return time.Time{}
	}
	if now := time.Now(); fi.ModTime().After(now) {
		return now
	}
	return fi.ModTime().UTC()
}

// open opens the records of a session as far as the request says. What is no
// regular file (a pipe would block for ever) is refused.
func open(q Request) (records *io.SectionReader, done func(), err error) {
	q.Transcript = stored(q)
	f, err := openRegular(q.Transcript)
	if err != nil {
		return nil, nil, err
	}
	if records, err = q.Harness.Sessions.Open(f, q.Session); err != nil {
		f.Close()
		return nil, nil, err
	}
	p := partsOf(q, records)
	return io.NewSectionReader(p, 0, p.upTo(q.Offset)), func() {
		p.close()
		f.Close()
	}, nil
}

// stored returns the file in which a session is by now: its agent may have compressed the file that an event
// named, or decompressed it.
func stored(q Request) string {
	if q.Harness.OtherName == nil {
		return q.Transcript
	}
	plain, packed := q.Transcript, q.Harness.OtherName(q.Transcript)
	if agent.Compressed(plain) {
		plain, packed = packed, plain
	}
	for _, name := range []string{plain, packed} {
		if _, err := os.Lstat(name); err == nil {
			return name
		}
	}
	return q.Transcript
}

func openRegular(name string) (*os.File, error) {
	fi, err := os.Stat(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, errAbsent
	}
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: it is not a regular file", errNoTranscript)
	}
	return os.Open(name)
}

// draft makes the note of a session.
func (r *Recorder) draft(q Request, f facts, project string) *note.Note {
	id := f.session(q)
	title, body := summarize(&f)
	n := &note.Note{
		ID: note.EpisodicID(f.started, q.Harness.Name, id), Type: note.Episodic,
		Title: title, Body: body, Project: project, MachineID: r.opts.MachineID, Scope: note.Portable,
		Provenance: note.Provenance{Source: note.SessionEnd, Confidence: 1, Session: id},
		ImportHash: ingest.SummaryHash(title, body), Branch: f.branchScope(q),
		Quarantine: redact.PromptInjection(title + "\n" + body),
	}
	if q.Source == idleSource { // nobody said that it is over
		n.Speculative, n.Provenance.Confidence = true, idleConfidence
	}
	n.Commits = f.commits
	n.AddTags("session")
	n.AddTags(q.Tags...)
	n.AddTags(q.Source)
	if f.headless {
		n.AddTags(note.ProgramTag)
	}
	if began := cmp.Or(f.started, f.ended); !began.IsZero() {
		n.CreatedAt, n.UpdatedAt = note.At(began), note.At(cmp.Or(f.ended, began))
	}
	return n
}

// branchScope is the branch that the note of a session holds for: "" on the trunk. A
// name that holds a secret is not written down.
func (f facts) branchScope(q Request) string {
	dir := f.folder(q)
	if dir == "" || f.branch != f.cleanBranch {
		return ""
	}
	return project.BranchScope(dir, f.branch)
}

// session returns the id of the session: the one the hook named, else the
// file's name where a record bears it (a resumed session's file begins with
// records of the one before), else the first in the file, else the file's name.
func (f facts) session(q Request) string { return idOf(q, f.id, f.also) }

// sessionOf is facts.session for a session that was read.
func sessionOf(q Request, s *agent.Session) string { return idOf(q, s.ID, s.Also) }

func idOf(q Request, id string, also []string) string {
	name := agent.FileStem(q.Transcript)
	switch {
	case q.Session != "":
		return q.Session
	case id == "", slices.Contains(also, name):
		return name
	}
	return id
}
