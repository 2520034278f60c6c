package note

import (
	"slices"
	"time"
)

// A State says where a statement stands in its life. One that was forgotten has none: no file
// has it, and only a tombstone recognises it.
type State string

// The states.
const (
	Proposed State = "proposed" // somebody has to decide: a draft, or a note in quarantine
	Standing State = "standing" // sessions are shown it
	Replaced State = "replaced" // another note took its place
	Archived State = "archived" // it was taken out of recall, or its ground was taken back
	Expired  State = "expired"  // its time is over
)

// A Reason says what a person is asked about a statement.
type Reason string

// The reasons. A note of a machine stands while it is unread.
const (
	Unread        Reason = "unread"         // a machine wrote it, and the user has not reviewed it
	NearDuplicate Reason = "near-duplicate" // of a draft: a note says nearly the same
	Contradiction Reason = "contradiction"  // it contradicts what a person wrote or reviewed
	Quarantined   Reason = "quarantine"     // it reads like orders to an agent
	Unvouched     Reason = "unvouched"      // it says that a person wrote it, and was changed outside this program
)

// What is written in the key status. Other words end nothing.
const (
	statusArchived = "archived"
	statusReverted = "reverted"
)

var ended = map[string]State{
	"superseded": Replaced, statusReverted: Archived, "rejected": Archived, statusArchived: Archived, "expired": Expired,
}

// Ends reports whether a value of the key status takes a note out of recall.
func Ends(status string) bool { return ended[status] != "" }

// MadeSources are the sources of notes that a machine words, and that a person is asked to read.
var MadeSources = []string{Reflection, Merge, User, Learning, Program, Guest}

// Known is what a file does not say about its note.
type Known struct {
	Now   time.Time // zero: no time is over
	By    ID        // the note that takes its place, "" for none; the index knows
	Draft bool      // it waits among the drafts
}

// State returns where n stands, and what a person is asked about it, "" for nothing. It is the
// one place that interprets the keys of this: status, forget_after, quarantine, conflict_of, and
// the tags of who has read it.
func (n *Note) State(k Known) (State, Reason) {
	end, over := n.ForgetAfter.Time()
	switch {
	case k.By != "":
		return Replaced, ""
	case Ends(n.Status):
		return ended[n.Status], ""
	case k.Draft && n.Decided():
		return Archived, ""
	case k.Draft && n.ConflictOf != "":
		return Proposed, Contradiction
	case k.Draft:
		return Proposed, NearDuplicate
	case over && !k.Now.Before(end):
		return Expired, ""
	case n.Quarantine:
		return Proposed, Quarantined
	case Changed(n):
		return Standing, Unvouched
	case n.IsReviewed() || !slices.Contains(MadeSources, n.Provenance.Source):
		return Standing, ""
	case n.ConflictOf != "":
		return Standing, Contradiction
	}
	return Standing, Unread
}

// Live reports whether nothing in n itself takes it out of recall at the time now. Whether
// another note supersedes it, and whether a tombstone recognises it, only the store can tell.
func (n *Note) Live(now time.Time) bool {
	s, _ := n.State(Known{Now: now})
	return s == Standing
}

// Decided reports whether it was laid down what becomes of n, in whatever word.
func (n *Note) Decided() bool { return n.Status != "" }

// IsArchived reports whether n was archived, which can be taken back (Reopen).
func (n *Note) IsArchived() bool { return n.Status == statusArchived }

// Archive takes n out of recall; why may be empty.
func (n *Note) Archive(why string) { n.Status, n.StatusReason = statusArchived, why }

// Revert takes n out of recall because the commit that it is about was taken back.
func (n *Note) Revert(why string) { n.Status, n.StatusReason = statusReverted, why }

// Reopen takes back what was decided about n.
func (n *Note) Reopen() { n.Status, n.StatusReason = "", "" }
