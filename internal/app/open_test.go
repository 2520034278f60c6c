package app_test

import (
	"context"
	"fmt"
	"testing"

	"anamnesis/internal/app"
	"anamnesis/internal/app/apptest"
	"anamnesis/internal/index"
)

// An index that is lost while somebody asks is filled, and the question asked again.
func TestAgain(t *testing.T) {
	r := apptest.Open(t)
	if _, err := app.Add(t.Context(), r, app.Draft{Type: "semantic", Title: "Use tabs", Body: "In Go files."}); err != nil {
		t.Fatal(err)
	}
	calls := 0
	list := func(ctx context.Context, r *app.Rooms) (int, error) {
		if calls++; calls == 1 {
			return 0, fmt.Errorf("list: %w", lose(ctx, r))
		}
		rows, err := r.Index.Select(ctx, index.Filter{}, 0)
		return len(rows), err
	}
	if n, err := app.Again(t.Context(), r, list); n != 1 || err != nil || calls != 2 {
		t.Errorf("%d notes, %v, after %d calls", n, err, calls)
	}
	calls = 0
	always := func(ctx context.Context, r *app.Rooms) (int, error) { calls++; return 0, lose(ctx, r) }
	if _, err := app.Again(t.Context(), r, always); err == nil || calls != 2 {
		t.Errorf("%v, after %d calls", err, calls)
	}
}

// lose empties the index, as the index does that finds its file damaged.
func lose(ctx context.Context, r *app.Rooms) error {
	if err := r.Index.Reset(ctx); err != nil {
		return err
	}
	return index.ErrLost
}
