// Package eval answers whether the user's memory is any good. It measures in two
// places, through the same rooms that production uses:
//
//   - the user's own store, with questions of the user (cases.go, run.go);
//   - a throw-away copy of it, where reflection and merges are tried before they
//     are trusted (copy.go, experiment.go, mergegate.go).
//
// What it writes is the set of cases, below eval/ of the store. It never writes a
// note of the store it is run from.
//
// Failure policy: the set of cases is the user's: a line that is none is named,
// passed over and kept. A bad answer of a model ends the
// building of cases, with what was made before it kept and nothing made up. A
// project that fails in an experiment is named and stops no other.
package eval

import (
	"context"
	"fmt"

	"anamnesis/internal/index"
	"anamnesis/internal/ingest"
	"anamnesis/internal/inject"
	"anamnesis/internal/recall"
	"anamnesis/internal/store"
)

// A Workbench is a store, the user's or a copy of it, with all that works on it.
type Workbench struct {
	Store    *store.Store
	Index    *index.Index
	Engine   *recall.Engine
	Injector *inject.Injector
	Ingester *ingest.Ingester
	Start    string // the marks around what a session is shown
	End      string
	Close    func()
}

// Progress hears how far a part of the work is. It may be nil.
type Progress func(what string, done, total int)

func (p Progress) step(what string, done, total int) {
	if p != nil {
		p(what, done, total)
	}
}

// sync brings the index of a workbench into step with its files, vectors too.
func (w *Workbench) sync(ctx context.Context, p Progress) error {
	step := func(done, total int) { p.step("indexing notes", done, total) }
	if _, err := w.Index.Sync(ctx, index.SyncOptions{Progress: step}); err != nil {
		return fmt.Errorf("index the notes: %w", err)
	}
	_, err := w.Index.EmbedMissing(ctx, 0, step) // a model behind HTTP gives vectors afterwards
	return err
}
