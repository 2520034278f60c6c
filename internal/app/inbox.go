package app

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"anamnesis/internal/note"
	"anamnesis/internal/recall"
	"anamnesis/internal/reflection"
	"anamnesis/internal/unread"
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
				Kind: WaitingConflict, ID: c.ID, Title: c.Title, Why: c.Sentence(),
				Choices: []Decision{Keep, Take, Both, EditIt}, Conflict: &c,
			})
		}
	}
	if want(WaitingQuarantine) || want(WaitingUnread) {
		quarantined, unread, err := UnreadNotes(ctx, r)
		if err != nil {
			return nil, err
		}
		if want(WaitingQuarantine) {
			items = append(items, noteItems(WaitingQuarantine, "it reads like orders to an agent", quarantined)...)
		}
		if want(WaitingUnread) {
			items = append(items, noteItems(WaitingUnread, "", unread)...)
		}
	}
	if want(WaitingShare) {
		unsure, err := Unshared(ctx, r, items)
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
			if IsNote(r, it.Note.ID) {
				it.ID = ChangePrefix + it.Note.ID
			}
			items = append(items, it)
		}
	}
	if want(WaitingWithheld) {
		for _, f := range Withheld(r) {
			if !f.Waits() {
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

// ChangePrefix is put before the id of a draft that would change a note: the id alone means the note.
const ChangePrefix = "change-"

// IsNote reports whether there is a note of an id.
func IsNote(r *Rooms, id note.ID) bool {
	_, err := r.Store.Find(id)
	return err == nil
}

// UnreadWhy says why a note that is in force is to be reviewed. mine says that only the user knows
// whether they wrote it.
func UnreadWhy(n *note.Note) (why string, mine bool) {
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

func noteItems(kind Waiting, why string, notes []*note.Note) (items []InboxItem) {
	for _, n := range notes {
		unread, _ := UnreadWhy(n)
		items = append(items, InboxItem{
			Kind: kind, ID: n.ID, Title: n.Title, Project: n.Project, Why: cmp.Or(why, unread),
			Choices: []Decision{Keep, Drop}, Note: n,
		})
	}
	return items
}

// Waits are how many things wait for a person, by kind. Whatever says such a number has it from CountWaiting.
type Waits map[Waiting]int

// decided are the kinds of things of which each waits for a decision, in the order in which they are said.
var decided = []Waiting{
	WaitingDraft, WaitingQuarantine, WaitingUnread, WaitingShare, WaitingSkill, WaitingConflict, WaitingWithheld,
}

// listed are those of the kinds that Inbox lists.
func listed(kinds []Waiting) []Waiting {
	return slices.DeleteFunc(slices.Clone(kinds), func(k Waiting) bool {
		return !slices.Contains(decided, k) || k == WaitingSkill
	})
}

// CountWaiting counts what waits of some kinds; of those that wait for a decision when none is named.
func CountWaiting(ctx context.Context, r *Rooms, kinds ...Waiting) (w Waits, err error) {
	if len(kinds) == 0 {
		kinds = decided
	}
	w = make(Waits, len(kinds))
	for _, k := range kinds {
		switch k {
		case WaitingConflict: // as Conflicts lists them, and without what one needs to decide
			w[k] = r.Store.Conflicts().Count()
		case WaitingSkill:
			all, err := reflection.WaitingPatches(r.Store)
			if err != nil {
				return w, err
			}
			w[k] = len(all)
		case WaitingExpired:
			all, err := PlainReflector(r).Expired(ctx)
			if err != nil {
				return w, err
			}
			w[k] = len(all)
		case WaitingGap:
			gaps, err := OpenGaps(ctx, r)
			if err != nil {
				return w, err
			}
			w[k] = len(gaps)
		case WaitingSession:
			c, err := unread.Of(r.Store).Count()
			if err != nil {
				return w, err
			}
			w[k] = c.Waiting
		default:
			w[k] = 0
		}
	}
	list := slices.DeleteFunc(listed(kinds), func(k Waiting) bool { return k == WaitingConflict })
	if len(list) == 0 {
		return w, nil
	}
	items, err := Inbox(ctx, r, list...)
	for _, it := range items {
		w[it.Kind]++
	}
	return w, err
}

// Sum is how many things of some kinds wait; how many decisions when none is named.
func (w Waits) Sum(kinds ...Waiting) (n int) {
	if len(kinds) == 0 {
		kinds = decided
	}
	for _, k := range kinds {
		n += w[k]
	}
	return n
}

// Reviewed are the kinds that `anamnesis review` itself lists and decides on.
func Reviewed() []Waiting { return slices.Clone(decided[:slices.Index(decided, WaitingSkill)+1]) }

// A WaitingCount is how many things of a kind wait, and the command that decides on them.
type WaitingCount struct {
	Count   int    `json:"count"`
	What    string `json:"what"`
	Command string `json:"command"`
}

// said is how each kind is said, and the command that lists it.
var said = []struct {
	kind                Waiting
	noun, rest, command string
}{
	{WaitingDraft, "draft", "", "review"},
	{WaitingQuarantine, "note", " in quarantine", "review"},
	{WaitingUnread, "note", " that you have not confirmed", "review"},
	{WaitingShare, "note", " too unsure for the team", "review"},
	{WaitingSkill, "change", " of skills", "review"},
	{WaitingConflict, "conflict", " between machines", "review conflicts"},
	{WaitingWithheld, "file", " kept off the remote", "review held"},
	{WaitingExpired, "expired note", "", "review expired"},
	{WaitingGap, "question", " that no note answers", "review gaps --global"},
	{WaitingSession, "session", " whose messages no agent answered", "sessions unread"},
}

// List says what waits, kind by kind, and leaves out what nothing waits of.
func (w Waits) List() []WaitingCount {
	all := []WaitingCount{}
	for _, s := range said {
		if n := w[s.kind]; n > 0 {
			all = append(all, WaitingCount{n, Plural(n, s.noun) + s.rest, "anamnesis " + s.command})
		}
	}
	return all
}

// GapSessions is how many sessions have to ask a question before it counts as open.
const GapSessions = 2

// OpenGaps are the questions of all projects that no note answers. Each is asked again.
func OpenGaps(ctx context.Context, r *Rooms) ([]recall.Gap, error) {
	everywhere := Question{Global: true, AllBranches: true, Lambda: Unset, Listed: true}
	q, _, err := everywhere.NewQuery(ctx, r, "")
	if err != nil {
		return nil, err
	}
	gaps, err := r.Engine.Gaps(ctx, recall.GapOptions{MinSessions: GapSessions, Ask: q})
	if err != nil {
		return nil, fmt.Errorf("open questions: %w", err)
	}
	return gaps, nil
}

// PlainReflector is a Reflector that asks no model.
func PlainReflector(r *Rooms) *reflection.Reflector {
	return reflection.New(r.Store, r.Index, r.Ingester, r.Redactor, nil, r.Config.Reflection)
}
