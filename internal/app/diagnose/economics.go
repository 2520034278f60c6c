package diagnose

import (
	"context"
	"time"

	"anamnesis/internal/app"
	"anamnesis/internal/index"
	"anamnesis/internal/inject"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// EconomicsAnswer compares what agents were shown since a time with what reading the
// sources would have cost them.
type EconomicsAnswer struct {
	Since string `json:"since"`
	inject.Economics

	From time.Time `json:"-"`
}

// Economics makes the comparison from the event log. A session counts as it was last
// captured, whenever that was.
func Economics(ctx context.Context, r *app.Rooms, since string) (a EconomicsAnswer, err error) {
	if a.From, err = app.Moment("--since", since, r.Store.Now()); err != nil {
		return a, err
	}
	a.Since = a.From.UTC().Format(time.RFC3339)
	var ledger inject.Ledger
	if err := app.LoggedRecords(r, time.Time{}, func(rec store.Record, at time.Time) { ledger.Take(rec, !at.Before(a.From)) }); err != nil {
		return a, err
	}
	rows, err := r.Index.Select(ctx, index.Filter{Dead: true}, 0)
	if err != nil {
		return a, err
	}
	sessions := make(map[note.ID]string, len(rows))
	for i := range rows {
		sessions[rows[i].ID] = rows[i].Session
	}
	a.Economics = ledger.Sum(func(id note.ID) string { return sessions[id] })
	return a, nil
}
