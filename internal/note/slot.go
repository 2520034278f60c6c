package note

import (
	"slices"
	"strconv"
	"strings"
)

// A SlotSpec describes a slot that is known by its name: a short text that every
// session is shown at its start. A slot is a note of kind Slot whose title is its name.
type SlotSpec struct {
	Name      string
	Doc       string
	Limit     int  // characters
	Global    bool // it is kept for all projects, unless a project has its own
	Automatic bool // this machine writes it from its sessions; it never leaves it
}

// Slots lists the known slots in the order in which they are shown. Others come after
// the curated ones, by name.
var Slots = []SlotSpec{
	{Name: "persona", Doc: "Who you are, and how you like to work.", Limit: 1000, Global: true},
	{Name: "user_preferences", Doc: "What you prefer, in all projects.", Limit: 2000, Global: true},
	{Name: "tool_guidelines", Doc: "How tools are to be used.", Limit: 1500, Global: true},
	{Name: "project_context", Doc: "What the project is about.", Limit: 3000},
	{Name: "guidance", Doc: "What to keep to in this project.", Limit: 1500},
	{Name: "self_notes", Doc: "What an agent notes for its next session.", Limit: 1500},
	{Name: "pending_items", Doc: "Open items of the last sessions.", Limit: 2000, Automatic: true},
	{Name: "session_patterns", Doc: "Commands that fail again and again.", Limit: 1500, Automatic: true},
	{Name: "files_in_work", Doc: "Files that the last sessions edited.", Limit: 1500, Automatic: true},
}

// defaultSlotLimit is the size, in characters, of a slot that nobody gave another one.
const defaultSlotLimit = 1500

// Tags of a slot.
const (
	SlotPinned = "pinned" // only its owner changes it
	slotLimit  = "limit:"
)

// ValidSlotName reports whether a slot may have this name: a lower-case letter, then at
// most 63 lower-case letters, digits and underscores.
func ValidSlotName(name string) bool {
	odd := func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '_' }
	return name != "" && len(name) <= 64 && name[0] >= 'a' && name[0] <= 'z' && !strings.ContainsFunc(name, odd)
}

// SlotOf returns what is known of a slot by its name.
func SlotOf(name string) SlotSpec {
	if i := slices.IndexFunc(Slots, func(s SlotSpec) bool { return s.Name == name }); i >= 0 {
		return Slots[i]
	}
	return SlotSpec{Name: name, Limit: defaultSlotLimit}
}

// LimitOfSlot is the size, in characters, that a slot may have.
func LimitOfSlot(n *Note) int {
	for _, t := range n.Tags {
		if v, ok := strings.CutPrefix(t, slotLimit); ok {
			if limit, err := strconv.Atoi(v); err == nil && limit > 0 {
				return limit
			}
		}
	}
	return SlotOf(n.Title).Limit
}

// LimitSlot gives a slot another size.
func LimitSlot(n *Note, limit int) {
	n.Tags = slices.DeleteFunc(n.Tags, func(t string) bool { return strings.HasPrefix(t, slotLimit) })
	n.AddTags(slotLimit + strconv.Itoa(limit))
}

// SlotOrder compares the names of two slots by the order in which they are shown.
func SlotOrder(a, b string) int {
	place := func(name string) int {
		i := slices.IndexFunc(Slots, func(s SlotSpec) bool { return s.Name == name })
		switch {
		case i < 0:
			return len(Slots)
		case Slots[i].Automatic:
			return len(Slots) + 1 + i
		}
		return i
	}
	if d := place(a) - place(b); d != 0 {
		return d
	}
	return strings.Compare(a, b)
}
