// Package curate holds the use cases in which somebody decides about notes: the inbox and the
// review, near-duplicates and merging, observations and conventions, patches of skills, distilling
// by a model, expiry, and the measuring (eval) that says whether a decision did harm.
//
// Failure policy: that of package app.
package curate

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"anamnesis/internal/app"
	"anamnesis/internal/app/history"
	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// ReviewAnswer lists what machines wrote and nobody has read, and what waits because it
// contradicts or nearly repeats a note.
type ReviewAnswer struct {
	Notes   []ReviewItem       `json:"notes"`
	Refused app.Refused        `json:"refused"`
	Others  []app.WaitingCount `json:"others"` // what other commands decide on; of ReviewAll alone
}

// othersWaiting counts what waits for a person besides the notes and drafts of Review.
func othersWaiting(ctx context.Context, r *app.Rooms) ([]app.WaitingCount, error) {
	w, err := app.CountWaiting(ctx, r, app.WaitingConflict, app.WaitingWithheld, app.WaitingExpired, app.WaitingGap, app.WaitingSession)
	return w.List(), err
}

// A ReviewItem is a note or a draft that waits for review, with what one needs to decide.
type ReviewItem struct {
	app.NoteHead
	Body       string          `json:"body"`
	Quarantine bool            `json:"quarantine"`
	Kind       app.Waiting     `json:"kind"`
	Why        string          `json:"why"` // it waits
	Choices    []app.Decision  `json:"choices"`
	Evidence   []history.Quote `json:"evidence"`
	Sessions   int             `json:"sessions"` // that support it
	Other      *ReviewOther    `json:"other,omitempty"`
	File       string          `json:"file,omitempty"` // of a skill: what would be changed
	Diff       string          `json:"diff,omitempty"` // of a skill: how
}

// Changes reports whether it is a change of the note Other.
func (it *ReviewItem) Changes() bool { return it.Other != nil && it.ID == app.ChangePrefix+it.Other.ID }

// Repeats reports whether it nearly says what the note Other says.
func (it *ReviewItem) Repeats() bool {
	return it.Other != nil && slices.Contains(it.Choices, app.MergeIt)
}

// A ReviewOther is the note that a draft contradicts, changes, or nearly repeats.
type ReviewOther struct {
	app.NoteHead
	Body     string          `json:"body"`
	Evidence []history.Quote `json:"evidence"`
}

// Review lists what waits for review: drafts that contradict a note first, then
// quarantine, then what nobody has read, then what is too unsure for the team, then patches of
// skills.
func Review(ctx context.Context, r *app.Rooms) (a ReviewAnswer, err error) {
	items, err := app.Inbox(ctx, r, app.WaitingDraft, app.WaitingQuarantine, app.WaitingUnread, app.WaitingShare)
	slices.SortStableFunc(items, func(a, b app.InboxItem) int { return reviewOrder(a.Kind) - reviewOrder(b.Kind) })
	quarantine := 0
	for _, it := range items {
		head := app.HeadOf(it.Note)
		head.ID = it.ID
		item := ReviewItem{
			NoteHead: head, Body: it.Note.Body, Quarantine: it.Note.Quarantine, Kind: it.Kind, Why: it.Why, Choices: it.Choices,
			Evidence: quotesOf(it.Note), Sessions: it.Note.Sessions(),
		}
		if it.Kind != app.WaitingDraft || it.Note.ConflictOf == "" {
			item.Choices = []app.Decision{app.Keep, app.EditIt, app.Reject}
		}
		if _, why := it.Note.State(note.Known{}); why == note.Contradiction && it.Kind == app.WaitingUnread {
			item.Why = "it contradicts a note that you wrote or reviewed; both are in force"
			item.Other, item.Choices = Against(r, it.Note), []app.Decision{app.Keep, app.EditIt, app.Reject, app.Retire}
		}
		if it.Kind == app.WaitingDraft {
			if item.Other = Against(r, it.Note); item.Other == nil {
				item.Other = other(r, it.Note.ID) // a change of a note that there is
			}
			if twin, ok := ingest.InboxOf(r.Ingester).Twin(ctx, it.Note); ok && item.Other == nil {
				item.Other = other(r, twin)
				item.Choices = []app.Decision{app.Keep, app.EditIt, app.Reject, app.MergeIt}
			}
		}
		a.Notes = append(a.Notes, item)
		if it.Kind == app.WaitingQuarantine {
			quarantine++
		}
	}
	if err == nil {
		a.Refused, err = app.RefusedIn(r, quarantine)
	}
	if err == nil {
		var skills []ReviewItem
		skills, err = skillItems(r)
		a.Notes = append(a.Notes, skills...)
	}
	return a, err
}

// ReviewAll is Review with the counts of what other commands decide on. It asks each open question again.
func ReviewAll(ctx context.Context, r *app.Rooms) (a ReviewAnswer, err error) {
	if a, err = Review(ctx, r); err == nil {
		a.Others, err = othersWaiting(ctx, r)
	}
	return a, err
}

// Against returns the note that a draft contradicts, nil when it contradicts none, or that
// one is gone.
func Against(r *app.Rooms, draft *note.Note) *ReviewOther {
	if draft.ConflictOf == "" {
		return nil
	}
	return other(r, draft.ConflictOf)
}

// other is the note that a draft is compared with, nil when it is gone.
func other(r *app.Rooms, id note.ID) *ReviewOther {
	n, _, err := store.Get(r.Store, id)
	if err != nil {
		return nil
	}
	return &ReviewOther{app.HeadOf(n), n.Body, quotesOf(n)}
}

func reviewOrder(k app.Waiting) int {
	return slices.Index([]app.Waiting{app.WaitingDraft, app.WaitingQuarantine, app.WaitingUnread, app.WaitingShare}, k)
}

func quotesOf(n *note.Note) []history.Quote {
	quotes := []history.Quote{}
	for _, e := range n.Evidence {
		quotes = append(quotes, history.Quote{Session: e.Session, Quote: e.Quote})
	}
	return quotes
}

// ReviewKept names the notes that were said to be right.
type ReviewKept struct {
	Kept []note.ID `json:"kept"`

	Titles []string `json:"-"`
}

// KeepReviewed says that notes and drafts are right.
func KeepReviewed(ctx context.Context, r *app.Rooms, names []string) (a ReviewKept, err error) {
	ctx = app.Deciding(ctx, r, string(app.Keep))
	for _, name := range names {
		d, err := DecideReview(ctx, r, name, app.Keep, app.Edit{})
		if err != nil {
			return a, err
		}
		a.Kept, a.Titles = append(a.Kept, d.ID), append(a.Titles, d.Title)
	}
	return a, nil
}

// Mine names the notes that only the user can confirm: a command without a terminal or a machine
// without a store wrote them, or another program changed them.
func Mine(ctx context.Context, r *app.Rooms) (names []string, err error) {
	_, unread, err := app.UnreadNotes(ctx, r)
	for _, n := range unread {
		if _, mine := app.UnreadWhy(n); mine {
			names = append(names, string(n.ID))
		}
	}
	return names, err
}

// ReviewDecided is a decision and the note that it was about.
type ReviewDecided struct {
	app.NoteHead
	Decision app.Decision `json:"decision"`
	Retired  note.ID      `json:"retired,omitempty"` // the note that went
	File     string       `json:"file,omitempty"`    // of a skill
	Left     int          `json:"left"`              // that wait

	Rival note.ID `json:"rival,omitempty"` // the user's note that the edited one would contradict: nothing is written before the user decides
	Why   string  `json:"why,omitempty"`
}

// DecideReview decides on a note or a draft: Keep (of a sentence as it was typed with the line to show as its
// title), EditIt (with what changes), Reject, and Retire for a draft that contradicts a note. A rejected learning is kept, archived:
// the session that taught it may be read again, and must not bring it back.
func DecideReview(ctx context.Context, r *app.Rooms, name string, d app.Decision, change app.Edit) (a ReviewDecided, err error) {
	if !slices.Contains([]app.Decision{app.Keep, app.EditIt, app.Reject, app.Retire, app.MergeIt}, d) {
		return a, app.Usagef("%q is none of keep, edit, reject, merge and retire", d)
	}
	if strings.HasPrefix(name, patchPrefix) {
		return decideSkill(ctx, r, name, d)
	}
	ctx = app.Deciding(ctx, r, string(d))
	id, draft, err := reviewed(ctx, r, name)
	if err != nil {
		return a, err
	}
	a.Decision = d
	if d == app.EditIt && change.Rival == ingest.AskFirst {
		if err := a.askRival(ctx, r, id, draft, change); err != nil {
			return a, err
		}
	}
	if d == app.MergeIt {
		return mergeDraft(ctx, r, id, draft)
	}
	if draft != nil && d == app.Reject { // it stays decided, so that reading the session again does not bring it back
		a.NoteHead = app.HeadOf(draft)
		if err := ingest.InboxOf(r.Ingester).Settle(ctx, id); err != nil {
			return a, draftError(err)
		}
		left, err := Review(ctx, r)
		a.Left = len(left.Notes)
		return a, err
	}
	if draft != nil {
		if d == app.Retire && draft.ConflictOf == "" {
			return a, app.Usagef("the draft %s contradicts no note; keep, edit or reject it", id)
		}
		if d == app.Retire {
			a.Retired = draft.ConflictOf
		}
		if _, err := ingest.InboxOf(r.Ingester).Release(ctx, id, d == app.Retire); err != nil {
			return a, draftError(err)
		}
	} else if d == app.Retire {
		if a.Retired, err = retireOther(ctx, r, id); err != nil {
			return a, err
		}
	}
	if d == app.EditIt && !change.Empty() {
		e, err := app.ReadEditable(ctx, r, string(id))
		if err != nil {
			return a, err
		}
		edited, err := e.With(change)
		if err == nil {
			e.Rival = change.Rival
			if e.Rival == ingest.AskFirst { // there is none
				e.Rival = ingest.KeepRival
			}
			_, err = app.ApplyEdit(ctx, r, e, edited)
		}
		if err != nil {
			return a, err
		}
	}
	if d == app.Reject {
		_, err = r.Ingester.Archive(ctx, []note.ID{id}, "reviewed, not right")
	} else {
		_, err = r.Ingester.Review(ctx, id)
	}
	if err = app.StaleIndex(r, err); err != nil {
		return a, err
	}
	n, _, err := store.Get(r.Store, id)
	if err != nil {
		return a, err
	}
	a.NoteHead = app.HeadOf(n)
	left, err := Review(ctx, r)
	a.Left = len(left.Notes)
	return a, err
}

// askRival looks for a note of the user that an edited note or draft would contradict; the error is of kind Conflict.
func (a *ReviewDecided) askRival(ctx context.Context, r *app.Rooms, id note.ID, draft *note.Note, change app.Edit) error {
	n := draft
	if n == nil {
		e, err := app.ReadEditable(ctx, r, string(id))
		if err != nil {
			return err
		}
		n = e.Note
	}
	if change.Empty() {
		return nil
	}
	n = n.Clone()
	err := change.Apply(n)
	if err == nil {
		a.Rival, a.Why, err = ingest.Contradicted(ctx, r.Ingester, n)
	}
	if err == nil && a.Rival != "" {
		a.NoteHead = app.HeadOf(n)
		err = app.Errorf(app.Conflict, "review: nothing is changed: %s; --replace replaces that note, --keep-both keeps both", a.Why)
	}
	return err
}

// retireOther lets a note that contradicts another one take its place.
func retireOther(ctx context.Context, r *app.Rooms, id note.ID) (note.ID, error) {
	n, _, err := store.Get(r.Store, id)
	if err != nil {
		return "", err
	}
	if n.ConflictOf == "" {
		return "", app.Usagef("the note %s does not conflict with any note; keep, edit or reject it", id)
	}
	_, err = r.Ingester.Supersede(ctx, n.ConflictOf, id, false)
	return n.ConflictOf, app.StaleIndex(r, err)
}

// mergeDraft gives the note that a draft nearly repeats the evidence of the draft.
func mergeDraft(ctx context.Context, r *app.Rooms, id note.ID, draft *note.Note) (a ReviewDecided, err error) {
	if draft == nil {
		return a, app.Usagef("%s is a note, and only a draft is merged; `anamnesis review duplicates` removes notes that say the same", id)
	}
	n, err := ingest.InboxOf(r.Ingester).MergeDraft(ctx, id)
	if err != nil {
		return a, draftError(err)
	}
	left, err := Review(ctx, r)
	return ReviewDecided{NoteHead: app.HeadOf(n), Decision: app.MergeIt, Left: len(left.Notes)}, err
}

// reviewed finds what a name means: a draft by its whole id, else a note.
func reviewed(ctx context.Context, r *app.Rooms, name string) (note.ID, *note.Note, error) {
	named, change := strings.CutPrefix(name, app.ChangePrefix)
	if id, err := note.ParseID(named); err == nil {
		switch draft, err := r.Store.Spool().HeldDraft(id); {
		case err == nil && !change && app.IsNote(r, id): // the note is meant, and not what somebody would make of it
		case err == nil:
			return id, draft, nil
		case change:
			return "", nil, draftError(err)
		case !errors.Is(err, fs.ErrNotExist):
			return "", nil, err
		}
	}
	rows, err := app.FindNamed(ctx, r, []string{name}, "")
	if err != nil {
		return "", nil, err
	}
	return rows[0].ID, nil, nil
}
