// Package quality measures how good the memory is on data sets, in throw-away stores that
// are opened as the program opens a store: whether notes are found (retrieval.go,
// ablate.go, score.go), what sessions are shown (prompts.go), what they teach
// (learning.go), and what is kept of them (sessions.go).
//
// Failure policy: a data set that cannot be read whole is not scored at all; the error
// names the file and the line.
package quality

import (
	"context"
	"slices"

	"anamnesis/internal/app"
	"anamnesis/internal/config"
	"anamnesis/internal/index"
	"anamnesis/internal/recall"
	"anamnesis/internal/store"
)

// A Sandbox is a throw-away store with everything that reads it.
type Sandbox struct {
	Store  *store.Store
	Index  *index.Index
	Engine *recall.Engine
	Close  func()
}

// An Opener makes a sandbox in an empty folder, with settings changed.
type Opener func(ctx context.Context, root string, set []string) (*Sandbox, error)

// sandbox opens throw-away stores with the models of the store of a host.
func sandbox(h *app.Host) Opener {
	return func(ctx context.Context, root string, set []string) (*Sandbox, error) {
		box := h.At(root)
		if len(set) > 0 {
			box.Config.Recall = config.Load(h.Environ(slices.Concat(h.Flags, set))).Recall
		}
		r, err := app.Open(ctx, box, 0)
		if err != nil {
			return nil, err
		}
		return sandboxOf(r), nil
	}
}

func sandboxOf(r *app.Rooms) *Sandbox {
	return &Sandbox{Store: r.Store, Index: r.Index, Engine: r.Engine, Close: r.Close}
}

// progress shows how far a work is, where the host can.
func progress(h *app.Host, what string) (step func(done, total int), end func()) {
	if h.Progress == nil {
		return func(int, int) {}, func() {}
	}
	bar := h.Progress(what)
	return bar.Step, bar.Done
}

// notify tells people a line beside the answer.
func notify(h *app.Host, line string) {
	if h.Notify != nil {
		h.Notify(line)
	}
}
