package capture

import (
	"io"
	"os"
	"slices"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/store"
	"anamnesis/internal/store/queue"
)

// idleSource is the source of a capture of a session that nobody ended: its client
// was killed, or its hook did not run.
const idleSource = "idle"

// idleConfidence is how sure the note of such a session is: it may have stopped in the
// middle. An end that is shown later makes it as sure as others.
const idleConfidence = 0.6

// The bounds of a sweep: how long ago a session may have started or its file been
// written, and how much later than a capture of an earlier version, whose record does not
// say how far it read, a client that is closing may write to the file.
const (
	sweepAge = 30 * 24 * time.Hour
	closing  = 10 * time.Second
)

// Started records that a session started, so that Sweep finds it if its end is
// never shown. A session whose hooks are switched off is not recorded, and so it is
// not found.
func (r *Recorder) Started(h *agent.Harness, e agent.Event, project string) error {
	if e.SessionID == "" || e.TranscriptPath == "" {
		return nil
	}
	return r.store.Events().Log(store.Record{
		Kind: store.Started, Session: e.SessionID, Project: project, Model: h.Name, Text: e.TranscriptPath,
	})
}

// A Sweep looks for sessions that ended without an event: nothing of them waits, and
// nobody captured what stands in their files.
type Sweep struct {
	recorder *Recorder
	now      time.Time
	logged   map[string]logged // by session
	first    map[string]time.Time
	waiting  map[string]bool // sessions with a job
}

// A logged session is what the event log says of one.
type logged struct {
	start    store.Record // its last start, the zero record for none
	captured time.Time    // when it was last captured, trivial or not
	read     int64        // how far its records were read then, 0 where that is not known
	off      bool         // its hooks were switched off
}

// Sweep reads what the event log says of sessions. It returns nil when sweeps are switched
// off (Options.Idle). The caller holds the drain lock until Queue has returned.
func (r *Recorder) Sweep() (*Sweep, error) {
	if r.opts.Idle <= 0 {
		return nil, nil
	}
	s := &Sweep{
		recorder: r, now: r.store.Now(), logged: make(map[string]logged), first: make(map[string]time.Time), waiting: make(map[string]bool),
	}
	waiting, err := queue.Jobs[Job](queue.Of(r.store), queue.Capture)
	if err != nil {
		return nil, err
	}
	for _, j := range waiting {
		s.waiting[j.Payload.Session] = true
	}
	return s, s.readLog()
}

// Rested returns the times between which the file of a session was written last that Queue
// may take. An agent of whose sessions no hook ran before the later of known and a month
// ago has none: known is when the agent was connected, zero when that is not known.
func (s *Sweep) Rested(harness string, known time.Time) (from, until time.Time, ok bool) {
	if first := s.first[harness]; !first.IsZero() && (known.IsZero() || first.Before(known)) {
		known = first
	}
	if oldest := s.now.Add(-sweepAge); !known.IsZero() && known.Before(oldest) {
		known = oldest
	}
	return known, s.now.Add(-time.Duration(s.recorder.opts.Idle) * time.Second), !known.IsZero()
}

// Queue leaves jobs for the sessions that were missed, among those of which a hook saw the
// start and those given, and returns how many it found. settled says for each of those given
// that nothing has to be done about it until its file changes. A session that goes on after
// all is captured again at its end, into the same note.
func (s *Sweep) Queue(given []Request) (found int, settled []bool, err error) {
	settled = make([]bool, len(given))
	queued := make(map[string]bool)
	for i, q := range given {
		missed, done := s.missed(&q)
		if settled[i] = done; !missed || queued[q.Session] {
			continue
		}
		if err := s.enqueue(q); err != nil {
			return found, settled, err
		}
		queued[q.Session] = true
		found++
	}
	for session, l := range s.logged {
		if l.start.Session == "" || queued[session] {
			continue
		}
		q := Request{Harness: harness(Job{Harness: l.start.Model}), Session: session, Transcript: l.start.Text, Project: l.start.Project}
		if missed, _ := s.missed(&q); !missed {
			continue
		}
		if err := s.enqueue(q); err != nil {
			return found, settled, err
		}
		found++
	}
	return found, settled, nil
}

func (s *Sweep) enqueue(q Request) error {
	j := Job{
		Harness: q.Harness.Name, Source: idleSource, Session: q.Session, Transcript: q.Transcript, Offset: q.Offset,
		Project: q.Project, Whole: q.Whole, Dir: q.Dir, Sync: true,
	}
	_, err := queue.Of(s.recorder.store).Enqueue(queue.Capture, "", j, time.Time{})
	return err
}

// missed reports whether a session is silent and has turns that nobody captured, and sets
// how far it is to be read; settled, that it has none. A session with a job is neither.
func (s *Sweep) missed(q *Request) (missed, settled bool) {
	l := s.logged[q.Session]
	switch {
	case q.Harness == nil || s.waiting[q.Session]:
		return false, false
	case l.off:
		return false, true
	}
	q.Transcript = stored(*q)
	fi, err := os.Stat(q.Transcript)
	if err != nil || !fi.Mode().IsRegular() || s.now.Sub(fi.ModTime()) < time.Duration(s.recorder.opts.Idle)*time.Second {
		return false, false // opened and left: nothing was said; or it goes on
	}
	if !l.captured.IsZero() && l.read == 0 && l.captured.After(fi.ModTime().Add(-closing)) {
		return false, true
	}
	records, done, err := open(*q)
	if err != nil {
		return false, false
	}
	defer done()
	if q.Offset = records.Size(); q.Offset <= l.read {
		return false, true
	}
	if l.captured.IsZero() {
		return true, false
	}
	more, err := q.Harness.Sessions.ReadSession(io.NewSectionReader(records, l.read, q.Offset-l.read), agent.Limits{})
	missed = err == nil && slices.ContainsFunc(more.Turns, func(t agent.Turn) bool { return t.Role == agent.Assistant || t.Human() })
	return missed, err == nil && !missed // what a client writes while it closes are no turns
}

// readLog takes in what the event log says of sessions since sweepAge. The log keeps at
// least the month before this one.
func (s *Sweep) readLog() error {
	events := s.recorder.store.Events()
	files, err := events.Files()
	if err != nil {
		return err
	}
	for _, file := range files[max(0, len(files)-2):] {
		_, err := events.Records(file, 0, func(rec store.Record) {
			at, err := time.Parse(time.RFC3339, rec.At)
			if err != nil || at.Before(s.now.Add(-sweepAge)) || rec.Session == "" {
				return
			}
			l := s.logged[rec.Session]
			switch rec.Kind {
			case store.Started:
				if l.start = rec; s.first[rec.Model].IsZero() {
					s.first[rec.Model] = at
				}
			case store.SwitchedOff:
				l.off = true
			case store.Captured:
				if rec.Error != "" && len(rec.Notes) == 0 { // a note whose summary failed is one
					return
				}
				l.captured, l.read = at, max(l.read, rec.Read)
			default:
				return
			}
			s.logged[rec.Session] = l
		})
		if err != nil {
			return err
		}
	}
	return nil
}
