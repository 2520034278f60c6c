package curate

import (
	"context"
	"time"

	"anamnesis/internal/app"
	"anamnesis/internal/note"
)

// ExpireAnswer lists the notes whose time is over.
type ExpireAnswer struct {
	Applied  bool          `json:"applied"`
	Notes    []ExpiredNote `json:"notes"`
	Archived int           `json:"archived"`
	app.Ended
}

// An ExpiredNote is a note whose forget_after has passed.
type ExpiredNote struct {
	ID          note.ID `json:"id"`
	Title       string  `json:"title"`
	Project     string  `json:"project"`
	ForgetAfter string  `json:"forget_after"`
}

// Expire archives notes whose forget_after has passed, or lists them.
func Expire(ctx context.Context, r *app.Rooms, o app.MaintainOptions) (a ExpireAnswer, err error) {
	a.Applied, a.Notes = o.Apply, []ExpiredNote{}
	all, err := app.PlainReflector(r).Expired(ctx)
	for _, e := range all {
		a.Notes = append(a.Notes, ExpiredNote{e.ID, e.Title, e.Project, e.At.UTC().Format(time.RFC3339)})
	}
	if err == nil && o.Apply {
		a.Archived, a.Ended, err = app.CarryOut(ctx, r, o.NoSync, "expire", func(ctx context.Context) (int, error) {
			done, err := app.PlainReflector(r).Expire(ctx)
			return len(done), app.StaleIndex(r, err)
		})
	}
	return a, err
}
