package curate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"anamnesis/internal/app"
	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/replica"
)

// Inbox lists what waits for a person: conflicts, notes in quarantine, notes that
// nobody has read, notes too unsure for the team, drafts, and files that do not
// travel; all kinds, or some.
func Inbox(ctx context.Context, r *app.Rooms, kinds ...app.Waiting) (items []app.InboxItem, err error) {
	want := func(k app.Waiting) bool { return len(kinds) == 0 || slices.Contains(kinds, k) }
	if want(app.WaitingConflict) {
		all, err := app.Conflicts(r.Store)
		if err != nil {
			return nil, err
		}
		for _, c := range all.Conflicts {
			items = append(items, app.InboxItem{
				Kind: app.WaitingConflict, ID: c.ID, Title: c.Title, Why: c.Sentence(),
				Choices: []app.Decision{app.Keep, app.Take, app.Both, app.EditIt}, Conflict: &c,
			})
		}
	}
	if want(app.WaitingQuarantine) || want(app.WaitingUnread) {
		quarantined, unread, err := app.UnreadNotes(ctx, r)
		if err != nil {
			return nil, err
		}
		if want(app.WaitingQuarantine) {
			items = append(items, noteItems(app.WaitingQuarantine, "it reads like orders to an agent", quarantined)...)
		}
		if want(app.WaitingUnread) {
			items = append(items, noteItems(app.WaitingUnread, "", unread)...)
		}
	}
	if want(app.WaitingShare) {
		unsure, err := app.Unshared(ctx, r, items)
		if err != nil {
			return nil, err
		}
		items = append(items, noteItems(app.WaitingShare, "its confidence is low, so that the team is not offered it", unsure)...)
	}
	if want(app.WaitingDraft) {
		for _, it := range noteItems(app.WaitingDraft, "nearly a duplicate of a note", r.Store.Spool().Held()) {
			switch state, why := it.Note.State(note.Known{Draft: true}); {
			case state != note.Proposed: // decided
				continue
			case why == note.Contradiction:
				it.Why = "it contradicts a note that you wrote or reviewed"
				it.Choices = []app.Decision{app.Keep, app.EditIt, app.Reject, app.Retire}
			case why == note.Unread:
				it.Why = "nominated in a session; no reader has decided"
			default:
				it.Why = cmp.Or(it.Note.StatusReason, it.Why)
			}
			if isNote(r, it.Note.ID) {
				it.ID = changePrefix + it.Note.ID
			}
			items = append(items, it)
		}
	}
	if want(app.WaitingWithheld) {
		for _, f := range app.Withheld(r) {
			if !f.Waits() {
				continue
			}
			items = append(items, app.InboxItem{
				Kind: app.WaitingWithheld, ID: note.ID(f.Name()), Title: cmp.Or(f.Title, f.Path), Why: f.Why, Choices: []app.Decision{app.Allow},
				File: &f,
			})
		}
	}
	return items, nil
}

// changePrefix is put before the id of a draft that would change a note: the id alone means the note.
const changePrefix = "change-"

// isNote reports whether there is a note of an id.
func isNote(r *app.Rooms, id note.ID) bool {
	_, err := r.Store.Find(id)
	return err == nil
}

// unreadWhy says why a note that is in force is to be reviewed. mine says that only the user knows
// whether they wrote it.
func unreadWhy(n *note.Note) (why string, mine bool) {
	const keep = "; keep says that it is your word"
	switch {
	case note.Changed(n) && !note.Claims(n):
		return "an earlier version of the program has it as reviewed, and nothing says in which words" + keep, true
	case note.Changed(n):
		return "it was changed outside this program, or came from elsewhere" + keep, true
	case n.Provenance.Source == note.Program:
		return "a command without a terminal wrote it" + keep, true
	case n.Provenance.Source == note.Guest:
		return "a machine without a store wrote it" + keep, true
	}
	return "a machine wrote it", false
}

func noteItems(kind app.Waiting, why string, notes []*note.Note) (items []app.InboxItem) {
	for _, n := range notes {
		unread, _ := unreadWhy(n)
		items = append(items, app.InboxItem{
			Kind: kind, ID: n.ID, Title: n.Title, Project: n.Project, Why: cmp.Or(why, unread),
			Choices: []app.Decision{app.Keep, app.Drop}, Note: n,
		})
	}
	return items
}

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
	items, err := Inbox(ctx, r, app.WaitingDraft)
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
