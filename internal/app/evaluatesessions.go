package app

import (
	"context"
	"fmt"
	"os"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/capture"
	"anamnesis/internal/eval"
	"anamnesis/internal/note"
)

// EvalSessions plays the labelled sessions of a folder in a throw-away store that keeps them word for
// word, and asks their questions.
func EvalSessions(ctx context.Context, h Host, folder string, misses bool) (rep *eval.SessionsReport, err error) {
	all, err := eval.ReadLabelled(os.DirFS(folder))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", folder, err)
	}
	bar := h.progress("playing sessions")
	rep, err = eval.Sessions(ctx, all, h.sessionBox, bar.Step)
	bar.Done()
	if rep != nil && !misses {
		rep.Misses, rep.Titles = nil, nil
	}
	return rep, err
}

// sessionBox opens a throw-away store that keeps sessions and learns nothing of them.
func (h *Host) sessionBox(ctx context.Context, root string) (*eval.SessionBox, error) {
	box, c := *h, *h.Config
	c.Capture.Learn, c.Sessions.Keep, c.Recall.GapLog = false, true, false
	box.Config = &c
	r, _, err := box.openBox(ctx, root)
	if err != nil {
		return nil, err
	}
	const first = 3
	return &eval.SessionBox{
		Close: r.Close,
		Capture: func(ctx context.Context, path, session, project string) (*note.Note, error) {
			got, err := r.Recorder.Capture(ctx, capture.Request{
				Harness: agent.Default(), Transcript: path, Session: session, Project: project, Source: SessionEnd,
			})
			return got.Outcome.Note, err
		},
		Index: func(ctx context.Context) error { return r.Kept.Sync(ctx, nil) },
		Kept: func() (int64, error) {
			u, err := r.Kept.Usage()
			return u.Bytes, err
		},
		Fix: func(ctx context.Context, text, project string) (all []eval.SessionFix, err error) {
			a, err := Fix(ctx, r, Question{Selection: Selection{Project: project}}, text, first)
			for i := range a.Found {
				if id := a.Found[i].ID; a.Found[i].Solved {
					e, serr := ShowExchange(ctx, r, id, 1)
					if serr != nil {
						return nil, serr
					}
					var n int
					_, _ = fmt.Sscanf(id[len(e.Session.Key):], ".%d", &n)
					all = append(all, eval.SessionFix{Session: e.Session.Session, Exchange: n})
				}
			}
			if Answers(err) {
				err = nil
			}
			return all, err
		},
		Search: func(ctx context.Context, text, project string) (f eval.SessionFound, err error) {
			began := time.Now()
			q := Question{Selection: Selection{Project: project}, AllBranches: true}
			a, err := Search(ctx, r, SearchOptions{Question: q, Text: text, K: first, Sessions: first, Look: true})
			f.Took = time.Since(began)
			if !Answers(err) {
				return f, err
			}
			for i, h := range a.Result.Hits {
				f.Printed = append(f.Printed, a.Hits[i].Title+"\n"+note.CutRunes(h.Note.Body[h.Start:h.End], shownReply))
				f.Whole = append(f.Whole, a.Hits[i].Title+"\n"+a.Hits[i].Body)
			}
			for i := range a.Sessions {
				s := &a.Sessions[i]
				f.Printed = append(f.Printed, fmt.Sprint(s.Title, "\n", s.Ask, "\n", s.Lines, "\n", s.Reply))
				e, err := ShowExchange(ctx, r, s.ID, 0)
				if err != nil {
					return f, err
				}
				for j := range e.Exchanges {
					if e.Exchanges[j].ID == s.ID {
						f.Whole = append(f.Whole, eval.OfExchange(e.Exchanges[j].Text))
					}
				}
			}
			return f, nil
		},
	}, nil
}
