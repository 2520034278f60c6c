package hooks

import (
	"context"

	"anamnesis/internal/app"
	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/store/project"
)

// LeaveHandoff leaves a note for the next session on a project: the draft's
// title, body, project and source count. It waits for some days.
func LeaveHandoff(ctx context.Context, r *app.Rooms, d app.Draft, days int) (app.Written, error) {
	if days < 1 || days > ingest.MaxHandoffDays {
		return app.Written{}, app.Usagef("handoff leave: --days %d: it waits for 1 to %d days", days, ingest.MaxHandoffDays)
	}
	by := d.By(r)
	if err := r.MayRedact(); err != nil && by != ingest.Person {
		return app.Written{}, err
	}
	key := app.PlaceProject(r.Store, d.Project).Key
	if key == note.Global {
		return app.Written{}, app.Usagef("handoff leave: it is for one project; name it with --project KEY")
	}
	out, err := r.Ingester.LeaveHandoff(ctx, ingest.Handoff{
		Project: key, Title: d.Title, Body: d.Body, By: by, Here: app.PlaceProject(r.Store, "").Key, Days: days,
	})
	if err != nil {
		return app.Written{}, err
	}
	return app.NewWritten(r, "handoff leave", out)
}

// HandoffsAnswer lists what waits for the next session on a project.
type HandoffsAnswer struct {
	Project  string         `json:"project"`
	Handoffs []app.NoteHead `json:"handoffs"`
}

// WaitingHandoffs returns what waits for the next session on a project, given by
// all its keys, newest first. One that cannot be read is reported, and left out.
// Reading consumes nothing.
func WaitingHandoffs(ctx context.Context, r *app.Rooms, keys []string) (all []*note.Note, err error) {
	rows, err := r.Ingester.Handoffs(ctx, keys)
	for _, c := range r.Index.Contents(ctx, rows) {
		if c.Err != nil {
			r.Notify("left out: %v", c.Err)
			continue
		}
		all = append(all, c.Note)
	}
	return all, err
}

// Handoffs lists what waits for the next session on a project ("" for the one of
// the current folder). One that cannot be read is reported, and left out.
func Handoffs(ctx context.Context, r *app.Rooms, key string) (a HandoffsAnswer, err error) {
	id := app.PlaceProject(r.Store, key)
	a.Project = id.Key
	all, err := WaitingHandoffs(ctx, r, project.Names(r.Store, id))
	for _, n := range all {
		a.Handoffs = append(a.Handoffs, app.HeadOf(n))
	}
	return a, err
}

// HandoffDone says that a handoff was taken over.
type HandoffDone struct {
	ID      note.ID `json:"id"`
	Changed bool    `json:"changed"` // false: it was done already

	Title string `json:"-"`
}

// AcknowledgeHandoff says that the handoff that name names was taken over.
func AcknowledgeHandoff(ctx context.Context, r *app.Rooms, name string) (a HandoffDone, err error) {
	row, err := app.Resolve(ctx, r, name)
	if err != nil {
		return a, err
	}
	if row.Kind != note.Handoff {
		return a, app.Usagef("handoff done %s: it is no handoff; `anamnesis handoff` lists them", row.ID)
	}
	out, err := r.Ingester.AcknowledgeHandoff(ctx, row.ID, "")
	return HandoffDone{row.ID, out.Result == ingest.Updated, row.Title}, err
}
