package capture

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
	"anamnesis/internal/store/project"
)

// Enqueue leaves a job for an event in the spool. It is what a hook does, and
// all it does: no lock, no network, no model, no waiting for the disk.
func (r *Recorder) Enqueue(h *agent.Harness, e agent.Event, source, key string, sync bool) (store.Job, error) {
	j := store.Job{
		Kind: "capture", Harness: h.Name, Event: e.Name, Source: source, Session: e.SessionID,
		Transcript: e.TranscriptPath, Dir: e.Dir, Project: key, Sync: sync,
	}
	if fi, err := os.Stat(e.TranscriptPath); err == nil {
		j.Offset = fi.Size()
	}
	if j.Project == "" && e.Dir != "" {
		j.Project = project.Identify(r.store, e.Dir).Key
	}
	return r.store.Spool().Enqueue(j)
}

// A Drain is what became of the jobs in the spool.
type Drain struct {
	Captured   []Capture
	Summarised int // notes of earlier runs that a model summarised at a later try
	Failed     []string
	Left       int  // jobs that wait for the next run
	Sync       bool // one of the jobs asked for a sync
}

// drainLimit bounds one run.
const drainLimit = 10 * time.Minute

// Drain works through the spool until it is empty, and then asks the model again
// about sessions that it could not summarise. It may be killed at any point: a
// job goes only when its note is on the disk, and doing one twice makes the same
// note. The caller holds the drain lock.
func (r *Recorder) Drain(ctx context.Context, each func(done, left int)) (Drain, error) {
	var d Drain
	began := time.Now()
	done := 0
	tried := make(map[note.ID]bool)
	for {
		jobs, err := r.store.Spool().Jobs()
		if err != nil {
			return d, err
		}
		d.Left = len(jobs)
		jobs = slices.DeleteFunc(jobs, func(j store.Job) bool { return tried[j.ID] })
		if len(jobs) == 0 {
			d.Summarised = r.retry(ctx, began.Add(drainLimit))
			return d, nil
		}
		for _, session := range bySession(jobs) {
			if ctx.Err() != nil || time.Since(began) > drainLimit {
				return d, ctx.Err()
			}
			for _, j := range session {
				tried[j.ID] = true
			}
			r.work(ctx, session, &d)
			if done += len(session); each != nil {
				each(done, max(0, len(jobs)-done))
			}
		}
	}
}

// bySession groups jobs of one session; a session's last job knows the most.
func bySession(jobs []store.Job) [][]store.Job {
	var groups [][]store.Job
	at := make(map[string]int)
	for _, j := range jobs {
		key := j.Harness + "\x00" + j.Session + "\x00" + j.Transcript
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
func (r *Recorder) work(ctx context.Context, jobs []store.Job, d *Drain) {
	last, ok, err := r.store.Spool().Begin(jobs[len(jobs)-1])
	if err != nil {
		d.Failed = append(d.Failed, err.Error())
		return
	}
	if !ok {
		d.Failed = append(d.Failed, fmt.Sprintf("job %s stopped the drain too often; it is kept in %s", last.ID, r.store.Path("spool/poisoned")))
		return
	}
	jobs[len(jobs)-1] = last
	c, err := r.captureJobs(ctx, jobs, d)
	if err != nil {
		d.Failed = append(d.Failed, err.Error())
		_ = r.store.Events().Log(store.Record{Kind: store.Captured, Session: last.Session, Project: last.Project, Error: err.Error()})
	}
	if err != nil && !errors.Is(err, ErrNoTranscript) { // a transcript that is gone does not come back
		if err := r.store.Spool().Defer(last); err != nil {
			d.Failed = append(d.Failed, err.Error())
		}
		return
	}
	if err == nil {
		d.Captured = append(d.Captured, c)
	}
	for _, j := range jobs {
		if err := r.store.Spool().Finish(j); err != nil {
			d.Failed = append(d.Failed, err.Error())
		}
	}
}

// captureJobs captures the session that all the jobs are about, as the last one saw it.
func (r *Recorder) captureJobs(ctx context.Context, jobs []store.Job, d *Drain) (Capture, error) {
	last := jobs[len(jobs)-1]
	h := harness(last)
	if h == nil {
		return Capture{}, fmt.Errorf("job %s: no harness named %q", last.ID, last.Harness)
	}
	q := requestOf(last, h)
	for _, j := range jobs {
		q.Tags = append(q.Tags, j.Source)
		d.Sync = d.Sync || j.Sync
	}
	return r.Capture(ctx, q)
}

// harness returns the harness that wrote the session of a job, nil when this
// version cannot read its sessions.
func harness(j store.Job) *agent.Harness {
	if h := agent.ByName(j.Harness); h != nil && h.Sessions != nil {
		return h
	}
	return nil
}

func requestOf(j store.Job, h *agent.Harness) Request {
	return Request{
		Harness: h, Transcript: j.Transcript, Offset: j.Offset, Session: j.Session,
		Dir: j.Dir, Project: j.Project, Source: j.Source,
	}
}
