package curate

import (
	"context"

	"anamnesis/internal/agent"
	"anamnesis/internal/app"
	"anamnesis/internal/eval"
	"anamnesis/internal/reflection"
	"anamnesis/internal/store"
)

// workbench is the user's own store with all that works on it.
func workbench(r *app.Rooms) *eval.Workbench {
	return &eval.Workbench{
		Store: r.Store, Index: r.Index, Engine: r.Engine, Injector: r.Injector, Ingester: r.Ingester,
		Start: agent.InjectStart, End: agent.InjectEnd, Close: r.Close,
	}
}

// lab tries things on copies of the store. What a model is asked there counts
// in the budget of the store itself.
func lab(r *app.Rooms, purpose string) eval.Lab {
	return eval.Lab{
		Live: r.Store,
		Setup: func(ctx context.Context, root string, disk store.Disk) (*eval.Workbench, error) {
			h := r.Host.At(root)
			h.Disk, h.Config.Others.Native = disk, false
			box, err := app.Open(ctx, h, 0)
			if err != nil {
				return nil, err
			}
			return workbench(box), nil
		},
		Reflector: func(w *eval.Workbench) *reflection.Reflector {
			g, _ := app.NewGenerator(r, purpose)
			return reflection.New(w.Store, w.Index, w.Ingester, r.Redactor, g, r.Config.Reflection)
		},
	}
}

// A stageBar shows the progress of work that has several stages.
type stageBar struct {
	r    *app.Rooms
	what string
	bar  app.Progress
}

func stages(r *app.Rooms) *stageBar { return &stageBar{r: r} }

func (s *stageBar) step(what string, done, total int) {
	if s.bar == nil || what != s.what {
		s.done()
		s.what, s.bar = what, s.r.Progress(what)
	}
	s.bar.Step(done, total)
}

func (s *stageBar) done() {
	if s.bar != nil {
		s.bar.Done()
	}
}
