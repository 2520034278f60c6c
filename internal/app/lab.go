package app

import (
	"cmp"
	"context"

	"anamnesis/internal/agent"
	"anamnesis/internal/eval"
	"anamnesis/internal/reflection"
	"anamnesis/internal/store"
)

// workbench is the user's own store with all that works on it.
func (r *Rooms) workbench() *eval.Workbench {
	return &eval.Workbench{
		Store: r.Store, Index: r.Index, Engine: r.Engine, Injector: r.Injector, Ingester: r.Ingester,
		Start: agent.InjectStart, End: agent.InjectEnd, Close: r.Close,
	}
}

// lab tries things on copies of the store. What a model is asked there counts
// in the budget of the store itself.
func (r *Rooms) lab(purpose string) eval.Lab {
	return eval.Lab{
		Live: r.Store,
		Setup: func(ctx context.Context, root string, disk store.Disk) (*eval.Workbench, error) {
			h := r.host.At(root)
			h.Disk, h.Config.Others.Native = disk, false
			box, err := Open(ctx, h, 0)
			if err != nil {
				return nil, err
			}
			return box.workbench(), nil
		},
		Reflector: func(w *eval.Workbench) *reflection.Reflector {
			g, _ := r.Generator(purpose)
			return reflection.New(w.Store, w.Index, w.Ingester, r.Redactor, g, r.Config.Reflection)
		},
	}
}

// At is the host of a throw-away store in another folder, with the settings and the
// models of this one.
func (h *Host) At(root string) Host {
	box, c := *h, *h.Config
	box.modelsOf = cmp.Or(h.modelsOf, c.Home)
	c.Home, c.UserHome, box.Config = root, root, &c
	return box
}

// A stageBar shows the progress of work that has several stages.
type stageBar struct {
	r    *Rooms
	what string
	bar  Progress
}

func (r *Rooms) stages() *stageBar { return &stageBar{r: r} }

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
