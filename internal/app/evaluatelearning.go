package app

import (
	"context"
	"fmt"
	"io/fs"
	"os"

	"anamnesis/internal/agent"
	"anamnesis/internal/capture"
	"anamnesis/internal/eval"
	"anamnesis/internal/index"
	"anamnesis/internal/note"
)

// LearningAnswer is how scripts of sessions were learnt from, each part of them by itself.
type LearningAnswer struct {
	Results []*eval.LearningReport `json:"results"`
}

// LearningOptions say what is played.
type LearningOptions struct {
	Folder string   // of scripts; "" for the built-in ones
	Halves []string // of the built-in ones
	Misses bool     // what went wrong is part of the answer
	Learnt bool     // so are the notes
}

// EvalLearning plays scripts of sessions in throw-away stores.
func EvalLearning(ctx context.Context, h Host, o LearningOptions) (a LearningAnswer, err error) {
	folders := map[string]fs.FS{}
	names := o.Halves
	if o.Folder != "" {
		names, folders[o.Folder] = []string{o.Folder}, os.DirFS(o.Folder)
	}
	for _, name := range names {
		folder := folders[name]
		if folder == nil {
			if folder, err = eval.BuiltInLessons(name); err != nil {
				return a, err
			}
		}
		sets, err := eval.ReadLessonSets(folder)
		if err != nil {
			return a, fmt.Errorf("read %s: %w", name, err)
		}
		bar := h.progress("playing sessions")
		rep, err := eval.Learning{Name: name, Sets: sets, Progress: bar.Step}.Run(ctx, h.learningBox)
		bar.Done()
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

// learningBox opens a throw-away store that captures sessions without a model.
func (h *Host) learningBox(ctx context.Context, root string) (*eval.LearningBox, error) {
	r, box, err := h.openBox(ctx, root)
	if err != nil {
		return nil, err
	}
	return &eval.LearningBox{
		PromptBox: box,
		Capture: func(ctx context.Context, path, session, project string) error {
			_, err := r.Recorder.Capture(ctx, capture.Request{
				Harness: agent.Default(), Transcript: path, Session: session, Project: project, Source: SessionEnd,
			})
			return err
		},
		Start: func(ctx context.Context, session, project string) ([]note.ID, error) {
			e := agent.Event{Harness: agent.Default().Name, SessionID: session, Dir: root}
			b, _, err := SessionStart(ctx, r, e, StartOptions{Project: project, K: -1})
			if err == nil {
				err = ToldAtStart(r, e, b)
			}
			shown := make([]note.ID, len(b.Told))
			for i, t := range b.Told {
				shown[i] = t.Note
			}
			return shown, err
		},
		Live: func(ctx context.Context) (map[note.ID]bool, error) {
			rows, err := r.Index.Select(ctx, index.Filter{Now: r.Store.Now()}, 0)
			live := make(map[note.ID]bool, len(rows))
			for _, row := range rows {
				live[row.ID] = !row.Dead
			}
			return live, err
		},
	}, nil
}
