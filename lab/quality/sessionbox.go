package quality

import (
	"context"
	"fmt"
	"os"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/app"
	"anamnesis/internal/app/hooks"
	"anamnesis/internal/capture"
	"anamnesis/internal/note"
)

// PlaySessions plays the labelled sessions of a folder in a throw-away store that keeps them word for
// word, and asks their questions.
func PlaySessions(ctx context.Context, h app.Host, folder string, misses bool) (rep *SessionsReport, err error) {
	all, err := ReadLabelled(os.DirFS(folder))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", folder, err)
	}
	step, end := progress(&h, "playing sessions")
	rep, err = Sessions(ctx, all, sessionBox(&h), step)
	end()
	if rep != nil && !misses {
		rep.Misses, rep.Titles = nil, nil
	}
	return rep, err
}

// sessionBox opens throw-away stores that keep sessions and learn nothing of them.
func sessionBox(h *app.Host) func(context.Context, string) (*SessionBox, error) {
	return func(ctx context.Context, root string) (*SessionBox, error) {
		box := h.At(root)
		c := box.Config
		c.Capture.Learn, c.Sessions.Keep, c.Recall.GapLog = false, true, false
		r, err := app.Open(ctx, box, 0)
		if err != nil {
			return nil, err
		}
		const first, shownBody = 3, 400
		return &SessionBox{
			Close: r.Close,
			Capture: func(ctx context.Context, path, session, project string) (*note.Note, error) {
				got, err := r.Recorder.Capture(ctx, capture.Request{
					Harness: agent.Default(), Transcript: path, Session: session, Project: project, Source: hooks.SessionEnd,
				})
				return got.Outcome.Note, err
			},
			Index: func(ctx context.Context) error { return r.Kept.Sync(ctx, nil) },
			Kept: func() (int64, error) {
				u, err := r.Kept.Usage()
				return u.Bytes, err
			},
			Fix: func(ctx context.Context, text, project string) (all []SessionFix, err error) {
				a, err := hooks.Fix(ctx, r, app.Question{Selection: app.Selection{Project: project}}, text, first)
				for i := range a.Found {
					if id := a.Found[i].ID; a.Found[i].Solved {
						e, serr := app.ShowExchange(ctx, r, id, 1)
						if serr != nil {
							return nil, serr
						}
						var n int
						_, _ = fmt.Sscanf(id[len(e.Session.Key):], ".%d", &n)
						all = append(all, SessionFix{Session: e.Session.Session, Exchange: n})
					}
				}
				if app.Answers(err) {
					err = nil
				}
				return all, err
			},
			Search: func(ctx context.Context, text, project string) (f SessionFound, err error) {
				began := time.Now()
				q := app.Question{Selection: app.Selection{Project: project}, AllBranches: true}
				a, err := app.Search(ctx, r, app.SearchOptions{Question: q, Text: text, K: first, Sessions: first, Look: true})
				f.Took = time.Since(began)
				if !app.Answers(err) {
					return f, err
				}
				for i, h := range a.Result.Hits {
					f.Printed = append(f.Printed, a.Hits[i].Title+"\n"+note.CutRunes(h.Note.Body[h.Start:h.End], shownBody))
					f.Whole = append(f.Whole, a.Hits[i].Title+"\n"+a.Hits[i].Body)
				}
				for i := range a.Sessions {
					s := &a.Sessions[i]
					f.Printed = append(f.Printed, fmt.Sprint(s.Title, "\n", s.Ask, "\n", s.Lines, "\n", s.Reply))
					e, err := app.ShowExchange(ctx, r, s.ID, 0)
					if err != nil {
						return f, err
					}
					for j := range e.Exchanges {
						if e.Exchanges[j].ID == s.ID {
							f.Whole = append(f.Whole, OfExchange(e.Exchanges[j].Text))
						}
					}
				}
				return f, nil
			},
		}, nil
	}
}
