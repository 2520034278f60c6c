package app

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// A Waiting says what kind of thing waits for a person.
type Waiting string

// An InboxItem is something that waits for a person, with the choices there are.
type InboxItem struct {
	Kind    Waiting    `json:"kind"`
	ID      note.ID    `json:"id"` // of the draft, the note or the conflict
	Title   string     `json:"title"`
	Project string     `json:"project"`
	Why     string     `json:"why"`
	Choices []Decision `json:"choices"`

	Note     *note.Note    `json:"-"` // of a draft or a note
	Conflict *ConflictView `json:"-"`
	File     *WithheldView `json:"-"`
}

// UnreadNotes lists the notes that a model or a session wrote and nobody has looked at, those in
// quarantine apart.
func UnreadNotes(ctx context.Context, r *Rooms) (quarantined, others []*note.Note, err error) {
	made := append(slices.Clone(note.MadeSources), note.Unconfirmed)
	rows, err := r.Index.Select(ctx, index.Filter{Dead: true, WithoutTag: note.ReviewedTag, Sources: made}, 0)
	if err != nil {
		return nil, nil, err
	}
	dead, err := r.Index.Select(ctx, index.Filter{Dead: true, OnlyDead: true, WithoutTag: note.ReviewedTag}, 0)
	if err != nil {
		return nil, nil, err
	}
	dead = slices.DeleteFunc(dead, func(row index.Row) bool {
		return row.Source == note.Unconfirmed || slices.Contains(note.MadeSources, row.Source)
	})
	for _, row := range append(rows, dead...) {
		if row.Ended() {
			continue
		}
		c := r.Index.Content(ctx, row)
		if c.Err != nil {
			continue
		}
		switch state, why := c.Note.State(note.Known{By: row.SupersededBy}); {
		case why == note.Quarantined:
			quarantined = append(quarantined, c.Note)
		case state == note.Standing && why != "":
			others = append(others, c.Note)
		}
	}
	return quarantined, others, nil
}

// Refused counts what was not taken in because it reads like orders to an agent.
type Refused struct {
	Sentences  int `json:"sentences"` // of sessions, which were not learnt lately
	Sessions   int `json:"sessions"`
	Quarantine int `json:"quarantine"` // notes that wait, and that no session is shown
}

// RefusedIn counts what was refused lately; quarantine is how many notes wait in quarantine.
func RefusedIn(r *Rooms, quarantine int) (f Refused, err error) {
	f.Quarantine = quarantine
	f.Sentences, f.Sessions, err = store.Refusals(r.Store)
	return f, err
}

// What waits.
const (
	WaitingDraft      Waiting = "draft"      // a machine wrote what is a near-duplicate
	WaitingQuarantine Waiting = "quarantine" // it reads like orders to an agent
	WaitingUnread     Waiting = "unread"     // a machine wrote it, and nobody has read it
	WaitingConflict   Waiting = "conflict"   // a merge could not decide
	WaitingWithheld   Waiting = "withheld"   // a file that does not travel
	WaitingSkill      Waiting = "skill"      // rules say something else than a skill, or more; Review alone lists it
	WaitingShare      Waiting = "share"      // too unsure to be offered to the team
	WaitingExpired    Waiting = "expired"    // its date is past
	WaitingGap        Waiting = "gap"        // a question that no note answers
	WaitingSession    Waiting = "session"    // its messages were answered by no agent
)

// A Decision is what a person can choose.
type Decision string

// The decisions.
const (
	Keep   Decision = "keep"  // it is right; of a conflict: the version in its place stays
	Drop   Decision = "drop"  // it goes; a note is archived
	Take   Decision = "take"  // of a conflict: the version that waits takes its place
	Both   Decision = "both"  // of a conflict: both stay
	EditIt Decision = "edit"  // of a conflict: a text of the user's
	Allow  Decision = "allow" // of a withheld file: it travels as it is now; shown first, done with a second step
	Hold   Decision = "undo"  // of a withheld file: it stays after all, when no sync has taken it

	Reject  Decision = "reject" // of a note or a draft: it is not right, and is not learnt again
	MergeIt Decision = "merge"  // of a draft: a note says it already; that gets its evidence, and the draft goes
	Retire  Decision = "retire" // of a draft: it is right, and the note that it contradicts goes
)

// Text says it in one line, "" when there is nothing to say.
func (f Refused) Text() string {
	var parts []string
	if f.Sentences > 0 {
		parts = append(parts, fmt.Sprintf("%s of %s not learnt lately", Plural(f.Sentences, "sentence"), Plural(f.Sessions, "session")))
	}
	if f.Quarantine > 0 {
		parts = append(parts, Plural(f.Quarantine, "note")+" in quarantine")
	}
	return strings.Join(parts, ", ")
}
