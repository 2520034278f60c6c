package capture

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
	"anamnesis/internal/store/layout"
	"anamnesis/internal/store/project"
	"anamnesis/internal/store/queue"
)

// A Job says which session is to be captured.
type Job struct {
	Harness    string `json:"harness"`
	Event      string `json:"event,omitempty"`
	Source     string `json:"source"` // the tag of the note: session-end, precompact …
	Session    string `json:"session,omitempty"`
	Transcript string `json:"transcript,omitempty"`
	Offset     int64  `json:"offset,omitempty"` // the transcript's size when the hook ran
	Seen       int64  `json:"seen,omitempty"`   // likewise, of an agent that writes on after its hooks
	Dir        string `json:"dir,omitempty"`
	Project    string `json:"project,omitempty"`
	Whole      bool   `json:"whole,omitempty"` // the user named Project, for all of the session
	Sync       bool   `json:"sync,omitempty"`  // sync when the drain is done
}

// queued is a job that waits.
type queued = queue.With[Job]

// Enqueue leaves a job for an event in the queue. It is what a hook does, and
// all it does: no lock, no network, no model, no waiting for the disk.
func (r *Recorder) Enqueue(h *agent.Harness, e agent.Event, source, key string, sync bool) error {
	j := Job{
		Harness: h.Name, Event: e.Name, Source: source, Session: e.SessionID,
		Transcript: e.TranscriptPath, Dir: e.Dir, Project: key, Whole: key != "", Sync: sync,
	}
	if fi, err := os.Stat(e.TranscriptPath); err == nil && !agent.Compressed(e.TranscriptPath) {
		if late(h) {
			j.Seen = fi.Size()
		} else {
			j.Offset = fi.Size()
		}
	}
	if j.Project == "" && e.Dir != "" {
		j.Project = project.Identify(r.store, e.Dir).Key
	}
	_, err := queue.Of(r.store).Enqueue(queue.Capture, "", j, time.Time{})
	return err
}

// A Drain is what became of the sessions in the queue.
type Drain struct {
	Captured   []Capture
	Summarised int // notes of earlier runs that a model summarised at a later try
	Failed     []string
	Left       int  // jobs that wait for the next run
	Sync       bool // one of the jobs asked for a sync
}

// drainLimit bounds one run; maxWait is how long a session waits that cannot be
// captured.
const (
	drainLimit = 10 * time.Minute
	maxWait    = 7 * 24 * time.Hour
)

// Drain does the jobs that wait when it begins, and then asks the model again
// about sessions that it could not summarise. It may be killed at any point: a
// job goes only when its note is on the disk, and doing one twice makes the same
// note. The caller holds the drain lock.
func (r *Recorder) Drain(ctx context.Context, each func(done, left int)) (Drain, error) {
	var d Drain
	began := time.Now()
	jobs, err := queue.Jobs[Job](queue.Of(r.store), queue.Capture)
	if err != nil {
		return d, err
	}
	d.Left = len(jobs)
	done := 0
	tried := make(map[note.ID]bool)
	for _, session := range bySession(jobs) {
		if ctx.Err() != nil || time.Since(began) > drainLimit {
			return d, ctx.Err()
		}
		for _, j := range session {
			tried[j.ID] = true
		}
		r.work(ctx, session, &d)
		if done += len(session); each != nil {
			each(done, len(jobs)-done)
		}
	}
	if jobs, err = queue.Jobs[Job](queue.Of(r.store), queue.Capture); err != nil {
		return d, err
	}
	d.Left = len(slices.DeleteFunc(jobs, func(j queued) bool { return !tried[j.ID] }))
	d.Summarised = r.retry(ctx, began.Add(drainLimit))
	return d, nil
}

// bySession groups jobs of one session; a session's last job knows the most.
func bySession(jobs []queued) [][]queued {
	var groups [][]queued
	at := make(map[[3]string]int)
	for _, j := range jobs {
		key := [...]string{j.Payload.Harness, j.Payload.Session, j.Payload.Transcript}
		i, ok := at[key]
		if !ok {
			i = len(groups)
			at[key] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], j)
	}
	return groups
}

// work captures one session and finishes its jobs.
func (r *Recorder) work(ctx context.Context, jobs []queued, d *Drain) {
	last, q := &jobs[len(jobs)-1], queue.Of(r.store)
	claimed, ok, err := q.Claim(last.Job)
	if err == nil && !ok {
		_, size := tailOf(last.Payload.Transcript)
		if agent.Compressed(last.Payload.Transcript) { // the bytes of its text are more
			size = math.MaxInt64
		}
		_ = r.store.Events().Log(store.Record{ // a sweep does not leave it again before it grows
			Kind: store.Captured, Session: last.Payload.Session, Project: last.Payload.Project, Text: "set aside", Read: size,
		})
		err = fmt.Errorf("job %s stopped the drain too often; it is kept in %s", last.ID, r.store.Path(layout.Poisoned))
	}
	if err != nil {
		d.Failed = append(d.Failed, err.Error())
		return
	}
	last.Job = claimed
	c, err := r.captureJobs(ctx, jobs, d)
	switch {
	case errors.Is(err, errAbsent): // a client that was opened and left writes no file
		_ = r.store.Events().Log(store.Record{
			Kind: store.Captured, Session: last.Payload.Session, Project: last.Payload.Project, Text: NoTranscript,
		})
	case err != nil:
		d.Failed = append(d.Failed, err.Error())
		_ = r.store.Events().Log(store.Record{
			Kind: store.Captured, Session: last.Payload.Session, Project: last.Payload.Project, Error: err.Error(),
		})
	default:
		d.Captured = append(append(d.Captured, c), c.Also...)
	}
	switch {
	case err == nil, errors.Is(err, errNoTranscript): // a transcript that is gone does not come back
		err = nil
		for _, j := range jobs {
			err = errors.Join(err, q.Finish(j.Job))
		}
	case r.store.Now().Sub(last.Created) > maxWait:
		err = q.Poison(last.Job, err.Error())
	default: // the drain lives, so it was not the job that stopped it
		err = q.Release(last.Job, time.Time{}, err.Error())
	}
	if err != nil {
		d.Failed = append(d.Failed, err.Error())
	}
}

// captureJobs captures the session that all the jobs are about, as the last one saw it.
func (r *Recorder) captureJobs(ctx context.Context, jobs []queued, d *Drain) (Capture, error) {
	last := jobs[len(jobs)-1]
	h := harness(last.Payload)
	if h == nil {
		return Capture{}, fmt.Errorf("job %s: no harness named %q", last.ID, last.Payload.Harness)
	}
	awaitEnd(ctx, h, last.Payload)
	q := requestOf(last.Payload, h)
	for _, j := range jobs {
		q.Tags = append(q.Tags, j.Payload.Source)
		d.Sync = d.Sync || j.Payload.Sync
	}
	return r.Capture(ctx, q)
}

// NoTranscript is what the event log says of a session that left no file.
const NoTranscript = "no transcript"

// harness returns the harness that wrote the session of a job, nil when this
// version cannot read its sessions.
func harness(j Job) *agent.Harness {
	if h := agent.ByName(j.Harness); h != nil && h.Sessions != nil {
		return h
	}
	return nil
}

func requestOf(j Job, h *agent.Harness) Request {
	return Request{
		Harness: h, Transcript: j.Transcript, Offset: j.Offset, Session: j.Session,
		Dir: j.Dir, Project: j.Project, Whole: j.Whole, Source: j.Source,
	}
}
