package app

import (
	"context"
	"errors"

	"anamnesis/internal/index"
	"anamnesis/internal/ingest"
)

// repairGraph mends the files of entities: in the background, when it consolidates, only what
// loses nothing.
func (r *Rooms) repairGraph(ctx context.Context, all bool) error {
	_, err := ingest.RepairGraph(ctx, r.Ingester, all)
	if behind := new(ingest.StaleError); errors.As(err, &behind) {
		return r.staleIndex(err)
	}
	return err
}

// mendGraph mends all of it, and the index when it has something else.
func (r *Rooms) mendGraph(ctx context.Context) error {
	if err := r.repairGraph(ctx, true); err != nil {
		return err
	}
	if _, err := r.Index.Sync(ctx, index.SyncOptions{}); err != nil {
		return err
	}
	_, ids, err := r.Index.GraphDrift(ctx, r.Store.Walk())
	if err == nil && len(ids) > 0 {
		_, err = r.Index.Sync(ctx, index.SyncOptions{All: true})
	}
	return err
}
