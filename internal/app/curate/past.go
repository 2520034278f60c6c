package curate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/app"
	"anamnesis/internal/connect"
	"anamnesis/internal/imports"
	"anamnesis/internal/store"
)

// Bounds of taking past sessions in: how many one background run takes, how long it may
// take for that, how long a session must have rested, and when it looks again: soon, if it
// left some, else the next day.
const (
	pastMost  = 20
	pastTime  = 30 * time.Second
	pastRest  = time.Hour
	pastSoon  = 10 * time.Minute
	pastLater = 24 * time.Hour
)

// pastFile says when past sessions are looked for again. Without it that is at once, and
// what was taken in is known by its notes and by the ledger of imports.
const pastFile = "past.json"

type pastState struct {
	V    int       `json:"v"`
	Next time.Time `json:"next"`
}

// TakePast takes in past sessions of the agents that are connected and whose sessions do not
// stay, the oldest first. It tells nobody: `anamnesis log` has what it did.
func TakePast(ctx context.Context, r *app.Rooms) (taken int, err error) {
	if !r.Config.Others.Past || r.Store.ReadOnly() {
		return 0, nil
	}
	var names []string
	connected := connect.Connected(r.Store)
	for _, a := range agent.All {
		if a.Transient && slices.Contains(connected, a.Name) {
			names = append(names, a.Name)
		}
	}
	now := r.Store.Now()
	if len(names) == 0 || now.Before(nextPast(r, now)) {
		return 0, nil
	}
	ctx, cancel := context.WithTimeout(ctx, pastTime)
	defer cancel()
	im, more := app.NewImporter(r, ""), true
	plan, err := im.Transcripts(ctx, imports.TranscriptOptions{Agents: names, Until: now.Add(-pastRest)})
	if err == nil {
		more = plan.Oldest(pastMost)
		if len(plan.Items) > 0 {
			running, _ := app.BeginRun(ctx, r, "import")
			var rep *imports.Report
			if rep, err = im.Apply(running, plan, nil); rep != nil {
				taken = len(rep.Created)
			}
		}
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, store.ErrLocked) { // the next run goes on
		more, err = true, nil
	}
	if err != nil {
		err = fmt.Errorf("take in past sessions: %w", err)
	}
	next := pastState{1, now.Add(pastLater)}
	if more && err == nil {
		next.Next = now.Add(pastSoon)
	}
	data, jerr := json.Marshal(next)
	if jerr == nil {
		jerr = r.Store.Replace(pastFile, append(data, '\n'))
	}
	return taken, errors.Join(err, jerr)
}

// nextPast returns when past sessions are looked for again.
func nextPast(r *app.Rooms, now time.Time) time.Time {
	var s pastState
	data, err := r.Store.ReadFile(pastFile, 4096)
	if err != nil || json.Unmarshal(data, &s) != nil || s.Next.After(now.Add(pastLater)) { // a clock was set back
		return now
	}
	return s.Next
}
