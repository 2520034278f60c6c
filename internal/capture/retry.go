package capture

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"anamnesis/internal/ingest"
	"anamnesis/internal/llm"
	"anamnesis/internal/store"
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

// scheduleRetry notes that a model is to be asked again about a session whose summary the
// heuristic wrote. That it cannot be noted costs the second try and nothing else.
func (r *Recorder) scheduleRetry(c Capture, q Request) {
	n := c.Outcome.Note
	written := c.Outcome.Result == ingest.Created || c.Outcome.Result == ingest.Updated || c.Outcome.Result == ingest.Unchanged
	if c.Fallback == nil || n == nil || !written || n.Provenance.Model != "" || n.ImportHash != ingest.SummaryHash(n.Title, n.Body) {
		return
	}
	w := store.Retry{ID: n.ID, Hash: n.ImportHash, Due: due(r.store.Now(), 0), Job: store.Job{
		Kind: "capture", Harness: q.Harness.Name, Source: q.Source, Session: n.Provenance.Session,
		Transcript: q.Transcript, Offset: q.Offset, Dir: q.Dir, Project: c.Project,
	}}
	if errors.Is(c.Fallback, llm.ErrSpent) {
		w.Due = tomorrow(r.store.Now())
	}
	_ = r.store.Spool().SaveRetry(w)
}

func due(now time.Time, tries int) string { return now.Add(backoff[tries]).UTC().Format(time.RFC3339) }

// tomorrow is when the budget of models is full again: a day is one of UTC.
func tomorrow(now time.Time) string {
	return now.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour).Format(time.RFC3339)
}

// retry asks the model again about the notes whose time has come, and returns
// how many it has summarised. It ends at the first that fails: a model that is
// down is not asked about all of them in one run. Without a model nothing is
// asked and nothing is counted.
func (r *Recorder) retry(ctx context.Context, until time.Time) (written int) {
	all, err := r.store.Spool().Retries()
	if err != nil {
		return 0 // the notes stand as they are
	}
	now, tried := r.store.Now(), 0
	for _, w := range all {
		late := now.Sub(w.When())
		switch {
		case w.Tries >= len(backoff), late > retryAge:
			_ = r.store.Spool().DropRetry(w.ID)
		case !r.asked(), late < 0 && -late <= backoff[len(backoff)-1]:
		case ctx.Err() != nil, time.Now().After(until), tried >= retriesARun:
			return written
		default:
			tried++
			done, err := r.retryOne(ctx, w)
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

// retryOne makes one try. The try is counted before it is made: a transcript that
// stops the drain does not do so for ever. One that the daily budget refuses was
// none, and waits for the next day.
func (r *Recorder) retryOne(ctx context.Context, w store.Retry) (done bool, err error) {
	h := harness(w.Job)
	if h == nil || !r.untouched(w) {
		return false, r.store.Spool().DropRetry(w.ID)
	}
	session, err := read(requestOf(w.Job, h))
	if err != nil || trivial(sessionFacts(session)) {
		return false, r.store.Spool().DropRetry(w.ID) // a transcript that is gone does not come back
	}
	w.Tries++
	last := w.Tries == len(backoff)
	w.Due = due(r.store.Now(), min(w.Tries, len(backoff)-1))
	if err := r.store.Spool().SaveRetry(w); err != nil {
		return false, err
	}
	became := "summarised"
	sum, err := r.ask(ctx, session)
	switch {
	case errors.Is(err, llm.ErrSpent):
		w.Tries--
		w.Due = tomorrow(r.store.Now())
		return false, errors.Join(err, r.store.Spool().SaveRetry(w))
	case err == nil && sum.skip: // what it would not keep stays as it is
		became = "declined"
	case err == nil:
		_, err = r.ingester.Summarise(ctx, w.ID, w.Hash, ingest.Summary{Title: sum.title, Body: sum.body, Model: r.model.Name()})
		if errors.Is(err, ingest.ErrChanged) || errors.Is(err, fs.ErrNotExist) {
			became, err = "summary too late: the note changed in the meantime", nil
		}
	}
	rec := store.Record{Kind: store.Captured, Session: w.Job.Session, Project: w.Job.Project, Text: became}
	if err != nil {
		rec.Text, rec.Error = "", fmt.Sprintf("summary, try %d of %d: %v", w.Tries, len(backoff), err)
	}
	_ = r.store.Events().Log(rec)
	if err == nil || last {
		_ = r.store.Spool().DropRetry(w.ID)
	}
	return err == nil && became == "summarised", err
}

// untouched reports whether a note is still what the heuristic made of its
// session: live, not edited, and not distilled, after which nobody reads it at
// the start of a session.
func (r *Recorder) untouched(w store.Retry) bool {
	ref, err := r.store.Find(w.ID)
	if err != nil {
		return false
	}
	n, _, _, err := r.store.Read(ref.Path)
	return err == nil && ingest.SummaryHash(n.Title, n.Body) == w.Hash && n.Provenance.Model == "" &&
		n.Status == "" && n.Live(r.store.Now()) && !n.HasTag("reflected")
}
