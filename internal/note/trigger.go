package note

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Trigger is the act that a rule is about, as an element of the key "when": the kind, a
// colon, and a pattern.
//
//	cmd:npm install     a command whose words begin with these; * is any rest of a word
//	path:api/**/*.proto a file below the project, by a glob
//	error:ECONNREFUSED  a text in the output of a failed command
type Trigger struct {
	Kind    TriggerKind
	Pattern string
}

// A TriggerKind says what a trigger is compared with.
type TriggerKind string

// The kinds of triggers.
const (
	OnCommand TriggerKind = "cmd"
	OnPath    TriggerKind = "path"
	OnError   TriggerKind = "error"
)

// Bounds of triggers.
const (
	MaxTriggers = 16  // of a note
	MaxTrigger  = 200 // characters of one
)

// ParseTrigger reads one element of "when".
func ParseTrigger(s string) (Trigger, error) {
	kind, pattern, ok := strings.Cut(strings.TrimSpace(s), ":")
	t := Trigger{TriggerKind(strings.ToLower(strings.TrimSpace(kind))), strings.Join(strings.Fields(pattern), " ")}
	switch {
	case !ok || t.Kind != OnCommand && t.Kind != OnPath && t.Kind != OnError:
		return Trigger{}, fmt.Errorf("trigger %q: write cmd:PROGRAM WORDS, path:GLOB or error:TEXT", CutRunes(s, 60))
	case utf8.RuneCountInString(s) > MaxTrigger:
		return Trigger{}, fmt.Errorf("trigger %q is longer than %d characters", CutRunes(s, 60), MaxTrigger)
	case strings.ContainsFunc(t.Pattern, unicode.IsControl):
		return Trigger{}, errors.New("a trigger is one line without control characters")
	case !strings.ContainsFunc(t.Pattern, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }):
		return Trigger{}, fmt.Errorf("trigger %q fits everything: name a program, a file or an error", CutRunes(s, 60))
	}
	return t, nil
}

// String returns the trigger as it stands in "when".
func (t Trigger) String() string { return string(t.Kind) + ":" + t.Pattern }

// ParseTriggers reads triggers and returns their canonical forms, each once. The first that
// is invalid is the error.
func ParseTriggers(list []string) (all []string, err error) {
	seen := make(map[string]bool)
	for _, s := range list {
		t, err := ParseTrigger(s)
		if err != nil {
			return nil, err
		}
		if form := t.String(); !seen[form] {
			seen[form] = true
			all = append(all, form)
		}
	}
	if len(all) > MaxTriggers {
		return nil, fmt.Errorf("%d triggers, at most %d", len(all), MaxTriggers)
	}
	return all, nil
}

// TriggersOf returns lines as the triggers of a note, in their usual form: the first MaxTriggers of those that are triggers.
func TriggersOf(lines []string) (all []string) {
	for _, l := range lines {
		if t, err := ParseTrigger(l); err == nil && len(all) < MaxTriggers {
			all = append(all, t.String())
		}
	}
	return all
}

// Triggers returns the triggers of a note. Elements that are none, which another program or
// a person may have written, are left out.
func (n *Note) Triggers() (all []Trigger) {
	for _, s := range n.When {
		if t, err := ParseTrigger(s); err == nil {
			all = append(all, t)
		}
	}
	return all
}
