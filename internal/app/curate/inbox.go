package curate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"anamnesis/internal/app"
	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/replica"
)

// HeldAnswer lists the drafts that wait because they are near-duplicates, and the files that do
// not travel.
type HeldAnswer struct {
	Held     []app.NoteHead     `json:"held"`
	Withheld []app.WithheldView `json:"withheld"`

	Bodies []string `json:"-"`
	Remote string   `json:"-"` // without a password
}

// Held lists the drafts and the files that wait. It needs no index.
func Held(ctx context.Context, r *app.Rooms) (a HeldAnswer, err error) {
	a.Withheld, a.Remote = app.Withheld(r), replica.HidePassword(r.Config.Sync.Remote)
	items, err := app.Inbox(ctx, r, app.WaitingDraft)
	for _, it := range items {
		a.Held, a.Bodies = append(a.Held, app.HeadOf(it.Note)), append(a.Bodies, it.Note.Body)
	}
	return a, err
}

// draftError says how to find a draft.
func draftError(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w; `anamnesis review held` lists them", err)
	}
	return err
}

// KeepDraft writes a draft that waits.
func KeepDraft(ctx context.Context, r *app.Rooms, name string) (app.Written, error) {
	id, err := note.ParseID(name)
	if err != nil {
		return app.Written{}, app.Usagef("%w", err)
	}
	if err := r.MayRedact(); err != nil {
		return app.Written{}, err
	}
	out, err := ingest.InboxOf(r.Ingester).Release(app.Deciding(ctx, r, string(app.Keep)), id, false)
	if err != nil {
		return app.Written{}, draftError(err)
	}
	return app.NewWritten(r, "held", out)
}

// DroppedDraft is a draft that was dropped.
type DroppedDraft struct {
	Dropped app.NoteHead `json:"dropped"`
}

// DropDraft forgets a draft that waits. It needs no index.
func DropDraft(ctx context.Context, r *app.Rooms, name string) (d DroppedDraft, err error) {
	id, err := note.ParseID(name)
	if err != nil {
		return d, app.Usagef("%w", err)
	}
	n, err := r.Store.Spool().HeldDraft(id)
	if err != nil {
		return d, draftError(err)
	}
	return DroppedDraft{app.HeadOf(n)}, ingest.DropDraft(app.Deciding(ctx, r, string(app.Drop)), r.Store, id)
}
