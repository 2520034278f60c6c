package reflection

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"anamnesis/internal/note"
)

// What can be done with a group of notes that say the same.
const (
	Keep       = "keep"       // one of them stands for the others
	Synthesize = "synthesize" // a new note stands for all of them
)

// A Group is notes that say the same, and what a model proposes to do.
type Group struct {
	Action     string
	Keeper     note.ID   // of Keep
	New        Distilled // of Synthesize
	Superseded []note.ID // sorted
}

// String names the group as people see it.
func (g Group) String() string {
	if g.Action == Keep {
		return "keep " + string(g.Keeper)
	}
	return "synthesize '" + g.New.Title + "'"
}

// Key is what a person confirms a group by: eight characters that follow from its
// notes and from the text that would stand for them, so that a group with other
// notes or another text is not confirmed by it.
func (g Group) Key() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q %q %q", g.Action, g.Keeper, g.Superseded, g.New.Type, g.New.Title, g.New.Body))
	return hex.EncodeToString(sum[:4])
}

// An answeredGroup is a group as a model writes it down.
type answeredGroup struct {
	Action     string    `json:"action"`
	Keeper     note.ID   `json:"keeper_id"`
	Superseded []note.ID `json:"superseded_ids"`
	Distilled
}

// group is what it says of its action; the fields of the other one mean nothing.
func (a *answeredGroup) group() Group {
	slices.Sort(a.Superseded)
	if a.Action == Keep {
		return Group{Action: Keep, Keeper: a.Keeper, Superseded: a.Superseded}
	}
	return Group{Action: a.Action, New: a.Distilled, Superseded: a.Superseded}
}

// checkGroups says what is wrong with the answer to a merge. known are the ids that were sent;
// all others are refused, as is an id that stands in two places. It is all or nothing.
func checkGroups(all []answeredGroup, known []note.ID) (wrong []string) {
	used := make(map[note.ID]bool)
	for i := range all {
		a := &all[i]
		why, ids := a.check(), a.Superseded
		if a.Action == Keep {
			ids = append(slices.Clip(ids), a.Keeper)
		}
		for _, id := range ids {
			switch {
			case why != "":
			case !slices.Contains(known, id):
				why = fmt.Sprintf("merge group names the unknown id %.140q", id)
			case used[id]:
				why = fmt.Sprintf("merge group names %s twice", id)
			}
			used[id] = true
		}
		if why != "" {
			wrong = append(wrong, why)
		}
	}
	return wrong
}

// check looks at one group without looking at which ids there are.
func (a *answeredGroup) check() string {
	switch {
	case a.Action != Keep && a.Action != Synthesize:
		return fmt.Sprintf("invalid merge action: '%.40s'", a.Action)
	case len(a.Superseded) == 0:
		return "merge group without superseded_ids"
	case a.Action == Synthesize && len(a.Superseded) < 2:
		return "merge group of one note: there is nothing to synthesize"
	case a.Action == Synthesize:
		return a.Distilled.check()
	case a.Keeper == "":
		return "merge group without keeper_id"
	case slices.Contains(a.Superseded, a.Keeper):
		return fmt.Sprintf("merge group: %s would supersede itself", a.Keeper)
	}
	return ""
}
