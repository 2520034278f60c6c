package config

import (
	"fmt"
	"slices"
	"strings"
)

// An UnreadUse says to which agents the unread turns of a project's sessions are shown.
type UnreadUse string

// The uses.
const (
	UnreadSame UnreadUse = "same" // to the agent in whose session they were typed
	UnreadAny  UnreadUse = "any"  // to whichever agent starts next
	UnreadOff  UnreadUse = "off"  // to none
)

// Unread holds the settings of unread turns.
type Unread struct {
	For      string // an UnreadUse
	Projects string // exceptions: "KEY=USE", separated by commas
}

// UnreadKey is the key of Unread.For.
const UnreadKey = "unread.for"

// In returns the use in a project, by any of its names.
func (u *Unread) In(names []string) UnreadUse {
	for entry := range strings.SplitSeq(u.Projects, ",") {
		if name, use, ok := strings.Cut(strings.TrimSpace(entry), "="); ok && slices.Contains(names, strings.TrimSpace(name)) {
			return UnreadUse(strings.TrimSpace(use))
		}
	}
	return UnreadUse(u.For)
}

func (c *Config) unreadSettings() []Setting {
	uses := []string{string(UnreadSame), string(UnreadAny), string(UnreadOff)}
	projects := text("ANAMNESIS_UNREAD_PROJECTS", "unread.projects", &c.Unread.Projects, "",
		"Projects with another choice than `unread.for`, separated by commas: `github.com/you/app=off`.",
		"You, if the words that you type in one project must not be shown to another agent.")
	set := projects.set
	projects.set = func(v string) error {
		for entry := range strings.SplitSeq(v, ",") {
			if entry = strings.TrimSpace(entry); entry == "" {
				continue
			}
			if name, use, ok := strings.Cut(entry, "="); !ok || strings.TrimSpace(name) == "" || !slices.Contains(uses, strings.TrimSpace(use)) {
				return fmt.Errorf("%q is not PROJECT=same, PROJECT=any or PROJECT=off", entry)
			}
		}
		return set(v)
	}
	return []Setting{
		choice("ANAMNESIS_UNREAD", UnreadKey, &c.Unread.For,
			"Show your unread messages of the last session to the next agent that starts in the project: `same` to the agent "+
				"to which you typed them, `any` to every agent, `off` to none. `init` sets `any` and says so.",
			"You, if your words must stay with the agent, and the vendor, to which you typed them.", uses...),
		projects,
	}
}
