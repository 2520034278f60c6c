package app

import (
	"context"

	"anamnesis/internal/config"
	"anamnesis/internal/store/lifecycle"
)

// RunPrograms runs the program that the user set for what happened to notes since the
// last time, and returns how often it ran. One process does it at a time; another one that
// is at work does this one's too.
func RunPrograms(ctx context.Context, r *Rooms) (ran int, err error) {
	if r.Config.Lifecycle.Program == "" {
		return 0, nil
	}
	unlock, ok, err := r.Store.TryLock("notify")
	if err != nil || !ok {
		return 0, err
	}
	defer unlock()
	return lifecycle.Run(ctx, r.Store, r.Config.Lifecycle, config.Environ())
}

// programsWait reports whether a background run has to be started, because this process
// has changed notes and the user wants to hear of it.
func programsWait(r *Rooms) bool {
	return !r.Drains && r.Store != nil && r.Config.Lifecycle.Program != "" && r.Store.Events().Wrote()
}
