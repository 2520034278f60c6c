package capture

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"anamnesis/internal/ingest"
	"anamnesis/internal/learn"
	"anamnesis/internal/store"
	"anamnesis/internal/store/queue"
)

// backoff says how long a note whose summary a model could not write waits for
// each of the tries that follow the first. After the last the heuristic's
// summary stays for good.
var backoff = [...]time.Duration{time.Hour, 6 * time.Hour, 24 * time.Hour}

// How many notes one run tries again at most, and how long one waits at all
// while there is no model.
const (
	retriesARun = 10
	retryAge    = 30 * 24 * time.Hour
)

// A retry says which note is to be summarised; its id is the job's.
type retry struct {
	Hash string `json:"hash"`           // of what stands in the note (its import_hash)
	Job  Job    `json:"job"`            // which session it is
	Part string `json:"part,omitempty"` // the id of the part of the session, where that is not the session's
}

// scheduleRetry leaves a job to ask a model again about a session whose summary the
// heuristic wrote. That it cannot be left costs the second try and nothing else.
func (r *Recorder) scheduleRetry(c Capture, q Request) {
	n := c.Outcome.Note
	written := c.Outcome.Result == ingest.Created || c.Outcome.Result == ingest.Updated || c.Outcome.Result == ingest.Unchanged
	if c.Fallback == nil || n == nil || !written || n.Provenance.Model != "" || n.ImportHash != ingest.SummaryHash(n.Title, n.Body) {
		return
	}
	again := retry{Hash: n.ImportHash, Job: Job{
		Harness: q.Harness.Name, Source: q.Source, Session: q.client,
		Transcript: q.Transcript, Offset: q.Offset, Dir: q.asked.Dir, Project: q.asked.Project, Whole: q.asked.Whole,
	}}
	if q.Session != q.client {
		again.Part = q.Session
	}
	_, _ = queue.Of(r.store).Enqueue(queue.Summary, n.ID, again, r.rewriter().Later(c.Fallback, backoff[0]))
}

// retry asks the model again about the notes whose time has come, and returns
// how many it has summarised. It ends at the first that fails: a model that is
// down is not asked about all of them in one run. Without a model nothing is
// asked and nothing is counted.
func (r *Recorder) retry(ctx context.Context, until time.Time) (written int) {
	q := queue.Of(r.store)
	all, err := queue.Jobs[retry](q, queue.Summary)
	if err != nil {
		return 0 // the notes stand as they are
	}
	ctx = store.WithRun(ctx, store.NewRun(r.store, "summary")) // `anamnesis undo` takes the summaries of a run back
	now, tried := r.store.Now(), 0
	for _, j := range all {
		late := now.Sub(j.Due())
		switch {
		case j.Attempts >= len(backoff), late > retryAge:
			_ = q.Finish(j.Job)
		case !r.asked(), late < 0 && -late <= backoff[len(backoff)-1]:
		case ctx.Err() != nil, time.Now().After(until), tried >= retriesARun:
			return written
		default:
			tried++
			done, err := r.retryOne(ctx, q, j)
			if err != nil {
				return written
			}
			if done {
				written++
			}
		}
	}
	return written
}

// retryOne makes one try. It is counted before it is made: a transcript that stops
// the drain does not do so for ever. One that the daily budget refuses was none,
// and waits for the next day; so was one whose answer is not there yet.
func (r *Recorder) retryOne(ctx context.Context, q queue.Queue, j queue.With[retry]) (done bool, err error) {
	h := harness(j.Payload.Job)
	if h == nil || !r.untouched(j) {
		return false, q.Finish(j.Job)
	}
	if j.Job, _, err = q.Claim(j.Job); err != nil {
		return false, err
	}
	request := requestOf(j.Payload.Job, h)
	s, err := r.read(request)
	if err != nil {
		return false, q.Finish(j.Job) // a transcript that is gone does not come back
	}
	r = r.knowing(s)
	parts := r.parts(request, s)
	at := 0
	for at < len(parts) && j.Payload.Part != "" && parts[at].Session != j.Payload.Part {
		at++
	}
	if at == len(parts) { // the projects are divided otherwise by now
		return false, q.Finish(j.Job)
	}
	request, s = parts[at].Request, parts[at].session
	if facts := r.factsOf(request, s); r.trivial(&facts) {
		return false, q.Finish(j.Job)
	}
	became := "summarised"
	sum, err := r.ask(ctx, s)
	switch {
	case learn.Unasked(err): // no try until it is answered
		return false, r.rewriter().Postpone(j.Job, err, backoff[0])
	case err == nil && sum.skips(): // what it would not keep stays as it is
		became = "declined"
	case err == nil:
		_, err = r.ingester.Summarise(ctx, j.ID, j.Payload.Hash, ingest.Summary{Title: sum.Title, Body: sum.Body, Model: r.model.Name()})
		if errors.Is(err, ingest.ErrChanged) || errors.Is(err, fs.ErrNotExist) {
			became, err = "summary too late: the note changed in the meantime", nil
		}
	}
	rec := store.Record{Kind: store.Captured, Session: request.Session, Project: request.Project, Text: became}
	if err != nil {
		rec.Text, rec.Error = "", fmt.Sprintf("summary, try %d of %d: %v", j.Attempts, len(backoff), err)
	}
	_ = r.store.Events().Log(rec)
	if err == nil || j.Attempts >= len(backoff) {
		_ = q.Finish(j.Job)
	} else {
		_ = q.Retry(j.Job, r.store.Now().Add(backoff[j.Attempts]), err.Error())
	}
	return err == nil && became == "summarised", err
}

// untouched reports whether a note is still what the heuristic made of its
// session: live, not edited, and not distilled, after which nobody reads it at
// the start of a session.
func (r *Recorder) untouched(j queue.With[retry]) bool {
	n, _, err := store.Get(r.store, j.ID)
	return err == nil && ingest.SummaryHash(n.Title, n.Body) == j.Payload.Hash && n.Provenance.Model == "" &&
		!n.Decided() && n.Live(r.store.Now()) && !n.HasTag("reflected")
}
