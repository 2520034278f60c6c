package curate

import (
	"context"
	"errors"
	"unicode/utf8"

	"anamnesis/internal/app"
	"anamnesis/internal/imports"
	"anamnesis/internal/recall"
	"anamnesis/internal/store/queue"
)

// LearnPastOptions say which past sessions a model reads.
type LearnPastOptions struct {
	app.MaintainOptions
	imports.TranscriptOptions
	ClaudeHome string // "" for the configured one
	MaxCalls   int    // requests at most; 0 means no bound
}

// A LearnPastAnswer is what a model read of past sessions, or would read.
type LearnPastAnswer struct {
	Applied  bool     `json:"applied"`
	Model    string   `json:"model"`
	Unset    string   `json:"unset,omitempty"` // why there is no model
	Sessions int      `json:"sessions"`        // on this machine
	Calls    int      `json:"calls"`           // requests: sessions that are worth one, within the bound
	Tokens   int      `json:"tokens"`          // of these requests, an estimate; answers are short
	Read     int      `json:"read"`
	Pending  int      `json:"pending"` // whose answer is not there yet
	Learnt   int      `json:"learnt"`  // rules created or confirmed
	Held     int      `json:"held"`    // rules that wait for a person
	Dropped  int      `json:"dropped"` // items of answers that were not kept; the event log says why
	Left     int      `json:"left"`    // sessions that wait for a later run
	Problems []string `json:"problems"`
	app.Ended
}

// promptTokens is the instruction of a reading, in tokens.
const promptTokens = 900

// LearnPast lets the model read past sessions, newest first. Without Apply it estimates what
// that costs. A run that is stopped is gone on with by the next, or by a background run.
func LearnPast(ctx context.Context, r *app.Rooms, o LearnPastOptions) (a LearnPastAnswer, err error) {
	a.Applied, a.Problems = o.Apply, []string{}
	model, err := app.NewGenerator(r, "read")
	if err != nil && o.Apply {
		return a, err
	}
	if model != nil {
		a.Model = model.Name()
	} else if err != nil {
		a.Unset = err.Error()
	}
	o.Known = true
	plan, err := app.NewImporter(r, o.ClaudeHome).Transcripts(ctx, o.TranscriptOptions)
	if err != nil {
		return a, err
	}
	bar := r.Progress("reading sessions")
	defer bar.Done()
	sessions := plan.Sessions()
	a.Sessions = len(sessions)
	for i, q := range sessions {
		if ctx.Err() != nil || o.MaxCalls > 0 && a.Calls >= o.MaxCalls {
			break
		}
		bar.Step(i, len(sessions))
		readings, err := r.Recorder.Readings(ctx, q)
		if err != nil {
			a.Problems = append(a.Problems, err.Error())
			continue
		}
		for _, p := range readings {
			a.Calls++
			a.Tokens += promptTokens + utf8.RuneCountInString(p.Slice)/recall.CharsPerToken
			if o.Apply {
				if err := r.Recorder.EnqueueReading(p); err != nil {
					return a, err
				}
			}
		}
	}
	waiting, _, err := queue.Of(r.Store).Look(queue.Read)
	if a.Left = len(waiting); err != nil || !o.Apply || a.Left == 0 { // some may wait since an earlier run
		return a, errors.Join(err, ctx.Err())
	}
	most := a.Left
	if o.MaxCalls > 0 {
		most = min(most, o.MaxCalls)
	}
	running, c := app.BeginRun(ctx, r, "learn")
	reader := app.NewReader(r, model, app.ModelBudget(r, "read"))
	read, err := reader.Run(running, most, func(done, left int) { bar.Step(done, done+left) })
	a.Read, a.Learnt, a.Pending, a.Held, a.Dropped, a.Left = read.Sessions, len(read.Learnt), read.Pending, read.Held, read.Dropped, read.Left
	a.Ended.Undo = c.Undo()
	if err = errors.Join(err, read.Err); err != nil {
		return a, &app.Error{Kind: app.Explain(err).Code, Err: err, Answered: true}
	}
	s, err := c.Finish(ctx, o.NoSync)
	a.Ended.Sync = &s
	return a, err
}
