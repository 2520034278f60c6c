package connect

import (
	"slices"
	"strings"

	"anamnesis/internal/agent"
)

// An Ability is something that memory does with an agent, and how far that goes.
type Ability struct {
	Name  string       `json:"name"`
	State AbilityState `json:"state"`
	Why   string       `json:"why,omitempty"` // what restricts it
}

// An AbilityState says how far an ability goes.
type AbilityState string

// The states of an ability.
const (
	Works     AbilityState = "works"
	Partial   AbilityState = "partial"
	NoChannel AbilityState = "no channel"

	SwitchedOff AbilityState = "off" // on this machine
)

// The names of abilities, in the order in which they are shown.
const (
	AtStart    = "shown at session start"
	AtPrompt   = "shown at prompts"
	AtTools    = "shown at tools"
	AtSubagent = "sub-agents shown"
	Denies     = "policy denies tools"
	Remembers  = "sessions become notes"
	Imports    = "past sessions imported"
	Remembered = "own memory imported"
	Asks       = "asks by MCP"
	Ruled      = "rules in its own file"
	Generates  = "used as a model"
)

// byHooks lists the abilities that an agent has by running our hooks.
var byHooks = []string{AtStart, AtPrompt, AtTools, AtSubagent, Denies, Remembers}

// why lists what the tables of an agent do not say: the restrictions of its abilities.
var why = []struct {
	agent, ability string
	state          AbilityState
	text           string
}{
	{codexName, AtStart, Works, "after its hooks were approved once"},
	{codexName, AtPrompt, Works, "after its hooks were approved once"},
	{codexName, Denies, Works, "after its hooks were approved once"},
	{geminiName, AtTools, Partial, "after the tool ran, not before"},
	{geminiName, AtSubagent, Works, "in the text of the task"},
	{opencodeName, AtTools, Partial, "with the result of the tool"},
	{opencodeName, AtSubagent, Works, "in the text of the task"},
	{cursorName, AtStart, Partial, "Cursor does not wait for the answer"},
	{cursorName, AtPrompt, NoChannel, "its prompt hook takes no text; rules ask it to search"},
	{cursorName, AtTools, Partial, "after the tool ran, not before"},
	{qwenName, AtStart, Partial, "with the first prompt"},
	{qwenName, AtTools, Partial, "after the tool ran, not before"},
	{qwenName, Remembers, Partial, "a headless run ends without an event; the background run finds its session"},
	{hermesName, AtStart, Partial, "with the first prompt"},
	{hermesName, AtTools, NoChannel, "its tool hooks take a refusal, and no text"},
}

// driven reports whether the released client of the agent is driven by the tests of this
// program; the others are tested by files in the exact shape of theirs.
func (c *Client) driven() bool { return c.Release.Version != "" }

// Abilities lists what memory does with the agent. It is worked out from what the agent's
// tables do: an answer that is empty is an answer that cannot be given.
func (c *Client) Abilities() []Ability {
	says := func(kind agent.EventKind, tool string) bool {
		if c.Hooks == nil {
			return false
		}
		for _, hook := range c.hooked(kind) {
			e := agent.Event{Name: hook, ToolName: tool, ToolInput: []byte(`{"prompt":"x"}`), Prompt: "x"}
			if len(c.Hooks.Reply(e, "x")) > 0 {
				return true
			}
		}
		return false
	}
	tasks := c.InTask && says(agent.PreToolUse, "Agent")
	denies := false
	if c.Hooks != nil {
		for _, hook := range c.hooked(agent.PreToolUse) {
			denies = denies || len(c.Hooks.Verdict(agent.Event{Name: hook, ToolName: "Bash"}, false, "x")) > 0
		}
	}
	all := []Ability{
		{Name: AtStart, State: stateOf(says(agent.SessionStart, ""))},
		{Name: AtPrompt, State: stateOf(says(agent.UserPrompt, ""))},
		{Name: AtTools, State: stateOf(says(agent.PreToolUse, "Bash") || says(agent.PostToolUse, "Bash"))},
		{Name: AtSubagent, State: stateOf(says(agent.SubagentStart, "") || tasks)},
		{Name: Denies, State: stateOf(denies)},
		{Name: Remembers, State: stateOf(len(c.hooked(agent.SessionEnd)) > 0 && c.Sessions != nil)},
		{Name: Imports, State: stateOf(c.Sessions != nil)},
		{Name: Remembered, State: stateOf(c.Memory != nil)},
		{Name: Asks, State: stateOf(c.Servers != nil || c.Registers != nil)},
		{Name: Ruled, State: stateOf(c.Rules != nil)},
		{Name: Generates, State: stateOf(c.Generates)},
	}
	for i := range all {
		for _, w := range why {
			if w.agent == c.Name && w.ability == all[i].Name {
				all[i].State, all[i].Why = w.state, w.text
			}
		}
		if all[i].Name == Ruled && c.Rules == nil && c.Hooks != nil {
			all[i].Why = "its hooks tell it"
		}
	}
	return all
}

func stateOf(can bool) AbilityState {
	if can {
		return Works
	}
	return NoChannel
}

// hooked lists the events of a kind at which a plain installation has a hook.
func (c *Client) hooked(kind agent.EventKind) (events []string) {
	if c.Settings == nil || c.Hooks == nil {
		return nil
	}
	for _, hook := range c.Settings.PlainHooks("x") {
		if k, _ := c.Hooks.Kind(hook.Event); k == kind {
			events = append(events, hook.Event)
		}
	}
	return events
}

// RulesText is the block of rules that stands in the file of an agent.
func RulesText() string { return rulesText + agent.FileEnd + "\n" }

// Summary says in a line what memory does with an agent, with what restricts it, and what it does not.
func Summary(all []Ability) string {
	var parts, works, missing []string
	for i, a := range all {
		switch {
		case a.Name == Generates, a.Name == Remembered, a.Name == Ruled && a.State == NoChannel: // none is missed
		case a.State == NoChannel:
			missing = append(missing, a.Name)
		case a.Why == "":
			works = append(works, a.Name)
		case slices.IndexFunc(all, func(b Ability) bool { return b.Why == a.Why }) == i:
			var same []string
			for _, b := range all {
				if b.Why == a.Why && b.State != NoChannel {
					same = append(same, b.Name)
				}
			}
			parts = append(parts, strings.Join(same, ", ")+" ("+a.Why+")")
		}
	}
	if len(missing) == 0 {
		works = []string{"all of it"}
	} else {
		parts = append(parts, "not "+strings.Join(missing, ", not "))
	}
	if len(works) > 0 {
		parts = slices.Insert(parts, 0, strings.Join(works, ", "))
	}
	return strings.Join(parts, "; ")
}
