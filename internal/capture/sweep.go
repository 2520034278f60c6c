package capture

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/queue"
	"anamnesis/internal/store"
)

// IdleSource is the source of a capture of a session that nobody ended: its client
// was killed, or its hook did not run.
const IdleSource = "idle"

// idleConfidence is how sure the note of such a session is: it may have stopped in the
// middle. An end that is told later makes it as sure as others.
const idleConfidence = 0.6

// The bounds of a sweep: how long ago a session may have started, and how much
// later than its capture a client that is closing may write to its file.
const (
	sweepAge = 30 * 24 * time.Hour
	closing  = 10 * time.Second
)

// Started records that a session started, so that Sweep finds it if its end is
// never told. A session whose hooks are switched off is not recorded, and so it is
// not found.
func (r *Recorder) Started(h *agent.Harness, e agent.Event, project string) error {
	if e.SessionID == "" || e.TranscriptPath == "" {
		return nil
	}
	return r.store.Events().Log(store.Record{
		Kind: store.Started, Session: e.SessionID, Project: project, Model: h.Name, Text: e.TranscriptPath,
	})
}

// Sweep leaves jobs for sessions that ended without telling: they started, their
// file was not written for Options.Idle seconds, and they were not captured since
// that. It returns how many it found. A session that goes on after all is captured
// again at its end, into the same note. The caller holds the drain lock.
func (r *Recorder) Sweep() (found int, err error) {
	if r.opts.Idle <= 0 {
		return 0, nil
	}
	now := r.store.Now()
	open, err := r.open(now.Add(-sweepAge))
	if err != nil {
		return 0, err
	}
	waiting, err := queue.Jobs[Job](queue.Of(r.store), queue.Capture)
	if err != nil {
		return 0, err
	}
	for _, j := range waiting {
		delete(open, j.Payload.Session)
	}
	for session, s := range open {
		fi, err := os.Stat(s.rec.Text)
		switch {
		case errors.Is(err, fs.ErrNotExist): // opened and left: nothing was said
			continue
		case err != nil || !fi.Mode().IsRegular() || harness(Job{Harness: s.rec.Model}) == nil:
			continue
		case now.Sub(fi.ModTime()) < time.Duration(r.opts.Idle)*time.Second, s.captured.After(fi.ModTime().Add(-closing)):
			continue
		}
		j := Job{
			Harness: s.rec.Model, Source: IdleSource, Session: session, Transcript: s.rec.Text, Offset: fi.Size(),
			Project: s.rec.Project, Sync: true,
		}
		if _, err := queue.Of(r.store).Enqueue(queue.Capture, "", j, time.Time{}); err != nil {
			return found, err
		}
		found++
	}
	return found, nil
}

// A started session: its last start, and when it was last captured, trivial or not.
type started struct {
	rec      store.Record
	captured time.Time
}

// open returns the sessions that started since a time, by their ids. The event log
// keeps at least the month before this one.
func (r *Recorder) open(since time.Time) (map[string]started, error) {
	files, err := r.store.Events().Files()
	if err != nil {
		return nil, err
	}
	open := make(map[string]started)
	for _, file := range files[max(0, len(files)-2):] {
		_, err := r.store.Events().Records(file, 0, func(rec store.Record) {
			at, err := time.Parse(time.RFC3339, rec.At)
			if err != nil || at.Before(since) || rec.Session == "" {
				return
			}
			switch s := open[rec.Session]; {
			case rec.Kind == store.Started:
				s.rec = rec
				open[rec.Session] = s
			case rec.Kind == store.Captured && rec.Error == "" && s.rec.Session != "":
				s.captured = at
				open[rec.Session] = s
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return open, nil
}
