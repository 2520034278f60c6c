package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/replica"
)

// Inbox lists what waits for a person: conflicts, notes in quarantine, notes that
// nobody has read, notes too unsure for the team, drafts, and files that do not
// travel; all kinds, or some.
func Inbox(ctx context.Context, r *Rooms, kinds ...Waiting) (items []InboxItem, err error) {
	want := func(k Waiting) bool { return len(kinds) == 0 || slices.Contains(kinds, k) }
	if want(WaitingConflict) {
		all, err := Conflicts(r.Store)
		if err != nil {
			return nil, err
		}
		for _, c := range all.Conflicts {
			items = append(items, InboxItem{
				Kind: WaitingConflict, ID: c.ID, Title: c.Title, Why: c.Sentence(), Choices: []Decision{Keep, Take, Both, EditIt}, Conflict: &c,
			})
		}
	}
	if want(WaitingQuarantine) || want(WaitingUnread) {
		quarantined, unread, err := unread(ctx, r)
		if err != nil {
			return nil, err
		}
		if want(WaitingQuarantine) {
			items = append(items, noteItems(WaitingQuarantine, "it reads like orders to an agent", quarantined)...)
		}
		if want(WaitingUnread) {
			items = append(items, noteItems(WaitingUnread, "a machine wrote it", unread)...)
		}
	}
	if want(WaitingShare) {
		unsure, err := r.unshared(ctx, items)
		if err != nil {
			return nil, err
		}
		items = append(items, noteItems(WaitingShare, "its confidence is low, so that the team is not offered it", unsure)...)
	}
	if want(WaitingDraft) {
		for _, it := range noteItems(WaitingDraft, "nearly a duplicate of a note", r.Store.Spool().Held()) {
			switch state, why := it.Note.State(note.Known{Draft: true}); {
			case state != note.Proposed: // decided
				continue
			case why == note.Contradiction:
				it.Why = "it contradicts a note that you wrote or reviewed"
				it.Choices = []Decision{Keep, EditIt, Reject, Retire}
			case why == note.Unread:
				it.Why = "nominated in a session; no reader has decided"
			default:
				it.Why = cmp.Or(it.Note.StatusReason, it.Why)
			}
			items = append(items, it)
		}
	}
	if want(WaitingWithheld) {
		for _, f := range Withheld(r) {
			if f.Released {
				continue
			}
			items = append(items, InboxItem{
				Kind: WaitingWithheld, ID: note.ID(f.Name()), Title: cmp.Or(f.Title, f.Path), Why: f.Why, Choices: []Decision{Allow},
				File: &f,
			})
		}
	}
	return items, nil
}

func noteItems(kind Waiting, why string, notes []*note.Note) (items []InboxItem) {
	for _, n := range notes {
		items = append(items, InboxItem{Kind: kind, ID: n.ID, Title: n.Title, Project: n.Project, Why: why, Choices: []Decision{
			Keep,
			Drop,
		}, Note: n})
	}
	return items
}

// HeldAnswer lists the drafts that wait because they are near-duplicates, and the files that do
// not travel.
type HeldAnswer struct {
	Held     []NoteHead     `json:"held"`
	Withheld []WithheldView `json:"withheld"`

	Bodies []string `json:"-"`
	Remote string   `json:"-"` // without a password
}

// Held lists the drafts and the files that wait. It needs no index.
func Held(ctx context.Context, r *Rooms) (a HeldAnswer, err error) {
	a.Withheld, a.Remote = Withheld(r), replica.HidePassword(r.Config.Sync.Remote)
	items, err := Inbox(ctx, r, WaitingDraft)
	for _, it := range items {
		a.Held, a.Bodies = append(a.Held, HeadOf(it.Note)), append(a.Bodies, it.Note.Body)
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
func KeepDraft(ctx context.Context, r *Rooms, name string) (Written, error) {
	id, err := note.ParseID(name)
	if err != nil {
		return Written{}, usage("%w", err)
	}
	if err := r.MayRedact(); err != nil {
		return Written{}, err
	}
	out, err := r.Ingester.Keep(ctx, id)
	if err != nil {
		return Written{}, draftError(err)
	}
	return written(r, "held", out)
}

// DroppedDraft is a draft that was dropped.
type DroppedDraft struct {
	Dropped NoteHead `json:"dropped"`
}

// DropDraft forgets a draft that waits. It needs no index.
func DropDraft(ctx context.Context, r *Rooms, name string) (d DroppedDraft, err error) {
	id, err := note.ParseID(name)
	if err != nil {
		return d, usage("%w", err)
	}
	n, err := r.Store.Spool().HeldDraft(id)
	if err != nil {
		return d, draftError(err)
	}
	return DroppedDraft{HeadOf(n)}, ingest.DropDraft(ctx, r.Store, id)
}
