package app

import (
	"context"
	"fmt"

	"anamnesis/internal/index"
	"anamnesis/internal/store"
)

// ReindexAnswer is what rebuilding the index did.
type ReindexAnswer struct {
	Indexed  int           `json:"indexed"`
	Removed  int           `json:"removed"`
	Problems []ProblemView `json:"problems"`
}

// ReindexAll reads every note again and brings the index into step.
func ReindexAll(ctx context.Context, r *Rooms) (a ReindexAnswer, err error) {
	if r.Store.ReadOnly() {
		return a, fmt.Errorf("reindex: %s: %w", r.Store.Root(), store.Unwritable(r.Store))
	}
	if r.Notice != "" {
		r.Notify("%s", r.Notice)
	}
	bar := r.Progress("indexing notes")
	rep, err := r.Index.Sync(ctx, index.SyncOptions{All: true, Progress: bar.Step})
	bar.Done()
	if err != nil {
		return a, err
	}
	if err := r.Index.Fold(ctx); err != nil {
		return a, err
	}
	if rep.Healed && r.Notice == "" && r.IndexTrouble() == "" {
		r.Notify("the index was damaged and has been rebuilt")
	}
	a = ReindexAnswer{rep.Files, rep.Removed, ViewProblems(r, rep.Problems)}
	for _, pr := range rep.Problems {
		if !pr.Sidecar {
			a.Indexed--
		}
	}
	return a, nil
}

// A ProblemView is a file that is no note, or of which something is left out.
type ProblemView struct {
	Path    string `json:"path"`
	Reason  string `json:"reason"`
	Sidecar bool   `json:"sidecar"`
}

// ViewProblems returns problems with whole paths.
func ViewProblems(r *Rooms, all []index.Problem) (list []ProblemView) {
	for _, pr := range all {
		list = append(list, ProblemView{r.Store.Path(pr.Path), pr.Reason, pr.Sidecar})
	}
	return list
}
