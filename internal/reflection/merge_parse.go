package reflection

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
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

// ParseGroups reads the answer to a merge. known are the ids that were sent;
// all others are refused, as is an id that stands in two places. It is all or
// nothing.
func ParseGroups(text string, known []note.ID) ([]Group, error) {
	list, err := array(text)
	if err != nil {
		return nil, fmt.Errorf("merge: %w", err)
	}
	used := make(map[note.ID]bool)
	take := func(id note.ID) error {
		if !slices.Contains(known, id) {
			return fmt.Errorf("merge group names the unknown id %.140q", id)
		}
		if used[id] {
			return fmt.Errorf("merge group names %s twice", id)
		}
		used[id] = true
		return nil
	}
	var groups []Group
	for _, item := range list {
		o, ok := item.(map[string]any)
		if !ok {
			return nil, errors.New("merge group is not an object")
		}
		g, err := group(o)
		if err != nil {
			return nil, err
		}
		for _, id := range g.Superseded {
			if id == g.Keeper && g.Action == Keep {
				return nil, fmt.Errorf("merge group: %s would supersede itself", id)
			}
			if err := take(id); err != nil {
				return nil, err
			}
		}
		if g.Action == Keep {
			if err := take(g.Keeper); err != nil {
				return nil, err
			}
		}
		slices.Sort(g.Superseded)
		groups = append(groups, g)
	}
	return groups, nil
}

// group reads one group without looking at which ids there are.
func group(o map[string]any) (Group, error) {
	action, _ := o["action"].(string)
	g := Group{Action: action}
	list, _ := o["superseded_ids"].([]any)
	for _, v := range list {
		id, ok := v.(string)
		if !ok {
			return g, errors.New("merge group: superseded_ids holds something else than ids")
		}
		g.Superseded = append(g.Superseded, note.ID(id))
	}
	if len(g.Superseded) == 0 && (action == Keep || action == Synthesize) {
		return g, errors.New("merge group without superseded_ids")
	}
	switch action {
	case Keep:
		keeper, _ := o["keeper_id"].(string)
		if keeper == "" {
			return g, errors.New("merge group without keeper_id")
		}
		g.Keeper = note.ID(keeper)
		return g, nil
	case Synthesize:
		if len(g.Superseded) < 2 {
			return g, errors.New("merge group of one note: there is nothing to synthesize")
		}
		var err error
		if g.New, err = distilled(o); err != nil {
			return g, fmt.Errorf("merge group: %w", err)
		}
		return g, nil
	}
	return g, fmt.Errorf("invalid merge action: '%.40s'", action)
}
