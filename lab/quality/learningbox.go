package quality

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"anamnesis/internal/agent"
	"anamnesis/internal/app"
	"anamnesis/internal/app/hooks"
	"anamnesis/internal/capture"
	"anamnesis/internal/llm"
	"anamnesis/internal/note"
)

// LearningAnswer is how scripts of sessions were learnt from, each part of them separately.
type LearningAnswer struct {
	Results []*LearningReport `json:"results"`
}

// LearningOptions say what is played.
type LearningOptions struct {
	Folder string   // of scripts; "" for the built-in ones
	Halves []string // of the built-in ones
	Misses bool     // what went wrong is part of the answer
	Learnt bool     // so are the notes
}

// PlayLessons plays scripts of sessions in throw-away stores.
func PlayLessons(ctx context.Context, h app.Host, o LearningOptions) (a LearningAnswer, err error) {
	names := o.Halves
	if o.Folder != "" {
		names = []string{o.Folder}
	}
	for _, name := range names {
		sessions, err := labelled(name, o.Folder != "")
		if err != nil {
			return a, fmt.Errorf("read %s: %w", name, err)
		}
		step, end := progress(&h, "playing sessions")
		rep, err := Learning{Name: name, Sessions: sessions, Progress: step}.Run(ctx, learningBox(&h))
		end()
		if err != nil {
			return a, err
		}
		if !o.Misses {
			rep.Misses = nil
		}
		if !o.Learnt {
			rep.Learnt = nil
		}
		a.Results = append(a.Results, rep)
	}
	return a, nil
}

// labelled reads a built-in half of scripts, or a folder: of labelled sessions or of scripts.
func labelled(name string, given bool) (all []LabelledSession, err error) {
	folder, err := BuiltInLessons(name)
	if given {
		folder = os.DirFS(name)
		if all, err = ReadLabelled(folder); !errors.Is(err, fs.ErrNotExist) {
			return all, err
		}
	}
	if err != nil && !given {
		return nil, err
	}
	sets, err := ReadLessonSets(folder)
	for i := range sets {
		all = append(all, sets[i].Labelled()...)
	}
	return all, err
}

// learningBox opens throw-away stores that capture sessions for a reader, or for none.
func learningBox(h *app.Host) LearningOpener {
	return func(ctx context.Context, root string, reader llm.Generator) (*LearningBox, error) {
		r, box, err := openBox(ctx, h, root)
		if err != nil {
			return nil, err
		}
		if reader != nil {
			r.Recorder = r.Recorder.WithModel(reader)
		}
		return &LearningBox{
			PromptBox: box,
			Capture: func(ctx context.Context, path, session, project string) error {
				_, err := r.Recorder.Capture(ctx, capture.Request{
					Harness: agent.Default(), Transcript: path, Session: session, Project: project, Source: hooks.SessionEnd,
				})
				return err
			},
			Read: func(ctx context.Context) error {
				if reader == nil {
					return nil
				}
				read, err := app.NewReader(r, reader, nil).Run(ctx, 0, nil)
				return errors.Join(err, read.Err)
			},
			Start: func(ctx context.Context, session, project string) ([]note.ID, error) {
				e := agent.Event{Harness: agent.Default().Name, SessionID: session, Dir: root}
				b, _, err := hooks.SessionStart(ctx, r, e, hooks.StartOptions{Project: project})
				shown := make([]note.ID, len(b.Injections))
				for i, t := range b.Injections {
					shown[i] = t.Note
				}
				return shown, err
			},
		}, nil
	}
}
