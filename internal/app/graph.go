package app

import (
	"context"
	"errors"

	"anamnesis/internal/index"
	"anamnesis/internal/ingest"
)

// RepairGraph mends the files of entities: in the background, when it consolidates, only what
// loses nothing.
func RepairGraph(ctx context.Context, r *Rooms, all bool) error {
	err := ingest.RepairGraph(ctx, r.Ingester, all)
	if behind := new(ingest.StaleError); errors.As(err, &behind) {
		return StaleIndex(r, err)
	}
	return err
}

// MendGraph mends all of it, and the index when it has something else.
func MendGraph(ctx context.Context, r *Rooms) error {
	if err := RepairGraph(ctx, r, true); err != nil {
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
